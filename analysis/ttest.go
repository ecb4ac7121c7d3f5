package analysis

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Welch compares the means of two independent samples: treatment minus baseline,
// with the degrees of freedom of Satterthwaite (Welch 1947). Two equal constants
// give p = 1; two different ones ErrZeroVariance beside the difference.
func Welch(baseline, treatment []float64, confidence float64) (Estimate, error) {
	if err := checkTwo(checkFinite, baseline, treatment, confidence); err != nil {
		return Estimate{}, err
	}
	return welch(baseline, treatment, largest(baseline, treatment), confidence)
}

// RatioWelch is Welch on logs: the ratio of geometric means, treatment against
// baseline.
func RatioWelch(baseline, treatment []float64, confidence float64) (Estimate, error) {
	if err := checkTwo(checkPositive, baseline, treatment, confidence); err != nil {
		return Estimate{}, err
	}
	a, b := logs(baseline), logs(treatment)
	e, err := welch(a, b, max(logScale(a), logScale(b)), confidence)
	return e.exponential(), err
}

// Paired compares means by round: the mean of treatment minus baseline, which are
// in the same order. It flags differences that do not vary and gives them no p.
func Paired(baseline, treatment []float64, confidence float64) (Estimate, error) {
	if err := checkPairs(checkFinite, baseline, treatment, confidence); err != nil {
		return Estimate{}, err
	}
	return meanOf(minus(treatment, baseline), largest(baseline, treatment), confidence)
}

// RatioPaired is Paired on logs: the geometric mean of the rounds' ratios,
// treatment against baseline.
func RatioPaired(baseline, treatment []float64, confidence float64) (Estimate, error) {
	if err := checkPairs(checkPositive, baseline, treatment, confidence); err != nil {
		return Estimate{}, err
	}
	d := minus(logs(treatment), logs(baseline))
	e, err := meanOf(d, logScale(d), confidence)
	return e.exponential(), err
}

func checkTwo(check func(...[]float64) error, a, b []float64, confidence float64) error {
	if err := checkConfidence(confidence); err != nil {
		return err
	}
	if err := check(a, b); err != nil {
		return err
	}
	if len(a) < 2 || len(b) < 2 {
		return ErrTooFew
	}
	return nil
}

func checkPairs(check func(...[]float64) error, a, b []float64, confidence float64) error {
	if err := checkConfidence(confidence); err != nil {
		return err
	}
	if len(a) != len(b) {
		return ErrLengthMismatch
	}
	return check(a, b)
}

func welch(a, b []float64, scale, confidence float64) (Estimate, error) {
	ma, va := stat.MeanVariance(a, nil)
	mb, vb := stat.MeanVariance(b, nil)
	va, vb = va/float64(len(a)), vb/float64(len(b))
	se := math.Sqrt(va + vb)
	df := satterthwaite(va, vb, len(a), len(b))
	e := tEstimate(mb-ma, se, df, se, scale, confidence)
	if !e.ZeroVariance {
		return e, nil
	}
	if math.Abs(e.Value) > negligible*scale {
		return e, ErrZeroVariance
	}
	e.P = 1
	return e, nil
}

// satterthwaite gives the degrees of freedom of a sum of two independent variance
// estimates (Satterthwaite 1946). It does not depend on their unit.
func satterthwaite(va, vb float64, na, nb int) float64 {
	share := va / (va + vb)
	return 1 / (share*share/float64(na-1) + (1-share)*(1-share)/float64(nb-1))
}
