package analysis

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Proportion is a share of failures with two intervals. Both take requests as
// independent, which failures in bursts are not: they are for display, never for
// a comparison.
type Proportion struct {
	Value                 float64
	WilsonLow, WilsonHigh float64 // Wilson (1927)
	ExactLow, ExactHigh   float64 // Clopper and Pearson (1934)
	Upper                 float64 // one-sided exact limit at the same confidence
}

// ProportionOf gives the share of failed requests. ErrNoData without requests.
func ProportionOf(failed, requests int64, confidence float64) (Proportion, error) {
	if err := checkConfidence(confidence); err != nil {
		return Proportion{}, err
	}
	if failed < 0 || requests < 0 || failed > requests {
		return Proportion{}, ErrBadParameter
	}
	if requests == 0 {
		return Proportion{}, ErrNoData
	}
	x, n := float64(failed), float64(requests)
	p := Proportion{Value: x / n, ExactHigh: 1, Upper: 1}
	z := normalQuantile(twoSided(confidence))
	centre := (x + z*z/2) / (n + z*z)
	half := z / (n + z*z) * math.Sqrt(x*(n-x)/n+z*z/4)
	p.WilsonLow, p.WilsonHigh = max(0, centre-half), min(1, centre+half)
	if failed > 0 {
		p.ExactLow = distuv.Beta{Alpha: x, Beta: n - x + 1}.Quantile((1 - confidence) / 2)
	}
	if failed < requests {
		b := distuv.Beta{Alpha: x + 1, Beta: n - x}
		p.ExactHigh, p.Upper = b.Quantile(twoSided(confidence)), b.Quantile(confidence)
	}
	return p, nil
}
