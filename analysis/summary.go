package analysis

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate is a value with its t interval, in the unit of the data, or a ratio.
type Estimate struct {
	Value     float64
	SE        float64 // standard error; of the logarithm for ratios and geometric means
	DF        float64 // degrees of freedom
	Low, High float64
	T, P      float64 // against a value of 0, for ratios of 1; two-sided; NaN if the values do not vary

	// ZeroVariance marks an interval without width: a counter may have
	// saturated, and no precision is claimed.
	ZeroVariance bool
}

// tQuantile is the p-quantile of Student's t.
func tQuantile(p, df float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
}

// tTwoSided is the chance of a Student's t at least as far from 0. It is formed
// from the lower tail, so that small values keep their digits.
func tTwoSided(t, df float64) float64 {
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.CDF(-math.Abs(t))
}

// twoSided gives the upper quantile level of a two-sided interval.
func twoSided(confidence float64) float64 { return 1 - (1-confidence)/2 }

// tEstimate completes an estimate from its value, standard error and degrees of
// freedom. A standard deviation of at most negligible times scale is none.
func tEstimate(value, se, df, sd, scale, confidence float64) Estimate {
	e := Estimate{Value: value, SE: se, DF: df}
	if sd <= negligible*scale {
		e.Low, e.High, e.ZeroVariance = value, value, true
		e.SE, e.T, e.P = 0, math.NaN(), math.NaN()
		return e
	}
	half := tQuantile(twoSided(confidence), df) * se
	e.Low, e.High = value-half, value+half
	e.T = value / se
	e.P = tTwoSided(e.T, df)
	return e
}

// exponential takes an estimate from logs to ratios. T, P, SE and DF stay those
// of the logarithm.
func (e Estimate) exponential() Estimate {
	e.Value, e.Low, e.High = math.Exp(e.Value), math.Exp(e.Low), math.Exp(e.High)
	return e
}

// Mean gives the arithmetic mean with its t interval. One value gives the mean
// and ErrTooFew. With two the interval is defined but useless (t = 12.7); results
// give none below three.
func Mean(x []float64, confidence float64) (Estimate, error) {
	if err := checkConfidence(confidence); err != nil {
		return Estimate{}, err
	}
	if err := checkFinite(x); err != nil {
		return Estimate{}, err
	}
	return meanOf(x, largest(x), confidence)
}

// GeometricMean gives the geometric mean with the t interval made on logs.
func GeometricMean(x []float64, confidence float64) (Estimate, error) {
	if err := checkConfidence(confidence); err != nil {
		return Estimate{}, err
	}
	if err := checkPositive(x); err != nil {
		return Estimate{}, err
	}
	l := logs(x)
	e, err := meanOf(l, logScale(l), confidence)
	return e.exponential(), err
}

func meanOf(x []float64, scale, confidence float64) (Estimate, error) {
	mean, variance := stat.MeanVariance(x, nil)
	n := float64(len(x))
	if len(x) < 2 {
		nan := math.NaN()
		return Estimate{Value: mean, SE: nan, Low: nan, High: nan, T: nan, P: nan}, ErrTooFew
	}
	sd := math.Sqrt(variance)
	return tEstimate(mean, sd/math.Sqrt(n), n-1, sd, scale, confidence), nil
}

// logScale is the scale against which the spread of logarithms counts as none.
func logScale(l []float64) float64 { return max(1, math.Abs(stat.Mean(l, nil))) }
