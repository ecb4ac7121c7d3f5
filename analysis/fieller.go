package analysis

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// RatioOfMeans is a ratio of arithmetic means with Fieller's interval. It serves
// signed metrics, which have no logarithm.
type RatioOfMeans struct {
	Value     float64
	DF        float64
	G         float64 // squared relative half-width of the baseline's mean; unbounded from 1 on
	Low, High float64
}

// FiellerWelch gives the ratio of the means of independent samples, treatment
// against baseline, with Satterthwaite's degrees of freedom at the estimate
// (Tamhane and Logan 2004). ErrUnboundedRatio stands beside the ratio when the
// baseline's mean cannot be told from zero.
func FiellerWelch(baseline, treatment []float64, confidence float64) (RatioOfMeans, error) {
	if err := checkTwo(checkFinite, baseline, treatment, confidence); err != nil {
		return RatioOfMeans{}, err
	}
	a, va := stat.MeanVariance(baseline, nil)
	b, vb := stat.MeanVariance(treatment, nil)
	va, vb = va/float64(len(baseline)), vb/float64(len(treatment))
	r := b / a
	df := satterthwaite(r*r*va, vb, len(baseline), len(treatment))
	return fieller(a, b, va, vb, 0, df, confidence)
}

// FiellerPaired is FiellerWelch for values in the same rounds, with the
// covariance of the pairs.
func FiellerPaired(baseline, treatment []float64, confidence float64) (RatioOfMeans, error) {
	if err := checkPairs(checkFinite, baseline, treatment, confidence); err != nil {
		return RatioOfMeans{}, err
	}
	if len(baseline) < 2 {
		return RatioOfMeans{}, ErrTooFew
	}
	n := float64(len(baseline))
	a, va := stat.MeanVariance(baseline, nil)
	b, vb := stat.MeanVariance(treatment, nil)
	cov := stat.Covariance(baseline, treatment, nil)
	return fieller(a, b, va/n, vb/n, cov/n, n-1, confidence)
}

// fieller solves (b - r a)^2 = t^2 (vb - 2 r cov + r^2 va) for r (Fieller 1954).
func fieller(a, b, va, vb, cov, df, confidence float64) (RatioOfMeans, error) {
	out := RatioOfMeans{Value: b / a, DF: df}
	if a == 0 || va+vb == 0 {
		if a == 0 {
			return out, ErrUnboundedRatio
		}
		out.Low, out.High = out.Value, out.Value
		return out, nil
	}
	t := tQuantile(twoSided(confidence), df)
	out.G = t * t * va / (a * a)
	if out.G >= 1 {
		return out, ErrUnboundedRatio
	}
	p := a*a - t*t*va
	q := a*b - t*t*cov
	half := math.Sqrt(max(0, q*q-p*(b*b-t*t*vb)))
	out.Low, out.High = (q-half)/p, (q+half)/p
	return out, nil
}
