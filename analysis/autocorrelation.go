package analysis

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
)

// Autocorrelation is how values in order of time go with their neighbours.
type Autocorrelation struct {
	R1        float64 // at lag 1; its mean is -1/n if the values are independent
	PositiveP float64 // chance of one at least as large, one-sided
	NegativeP float64 // chance of one at least as small, one-sided
}

// P is two-sided: twice the smaller of both, at most 1.
func (a Autocorrelation) P() float64 { return min(1, 2*min(a.PositiveP, a.NegativeP)) }

// Lag1 gives the autocorrelation at lag 1 with a permutation test: all orders up to 8
// values, else 9999 drawn from rng. ErrTooFew below 3 values, ErrZeroVariance.
func Lag1(y []float64, rng *rand.Rand) (Autocorrelation, error) {
	if err := checkFinite(y); err != nil {
		return Autocorrelation{}, err
	}
	if len(y) < 3 {
		return Autocorrelation{}, ErrTooFew
	}
	mean, sd := stat.MeanStdDev(y, nil)
	if sd <= negligible*largest(y) {
		return Autocorrelation{}, ErrZeroVariance
	}
	off := make([]float64, len(y)) // in standard deviations, so that no square is too large
	var squares float64
	for i, v := range y {
		off[i] = (v - mean) / sd
		squares += off[i] * off[i]
	}
	r1 := func(x []float64) float64 {
		var sum float64
		for i, v := range x[1:] {
			sum += v * x[i]
		}
		return sum / squares
	}
	a := Autocorrelation{R1: r1(off)}
	if math.IsNaN(a.R1) || math.IsInf(a.R1, 0) {
		return Autocorrelation{}, ErrNotFinite
	}
	a.PositiveP, a.NegativeP = permutationP(off, r1, rng)
	return a, nil
}
