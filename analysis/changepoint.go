package analysis

import (
	"math/rand/v2"
)

// fewestForChange is the least number of values among which a change is looked for.
const fewestForChange = 6

// ChangePoint is the place at which the level of values in order of time changes most.
type ChangePoint struct {
	K     int     // largest |2 * sum of the first ranks - their number * (n+1)|
	After int     // number of values before the change; the first place if several are as good
	P     float64 // chance of a K at least as large
}

// Pettitt looks for one change of level (Pettitt 1979) with a permutation test: all
// orders up to 8 values, else 9999 drawn from rng; its formula is poor below 20 values.
// Ties have mid-ranks. ErrTooFew below 6 values.
func Pettitt(y []float64, rng *rand.Rand) (ChangePoint, error) {
	if err := checkFinite(y); err != nil {
		return ChangePoint{}, err
	}
	if len(y) < fewestForChange {
		return ChangePoint{}, ErrTooFew
	}
	ranks, _ := doubledRanks(y)
	c := ChangePoint{}
	c.K, c.After = mostChanged(ranks)
	c.P, _ = permutationP(ranks, func(r []int) float64 { k, _ := mostChanged(r); return float64(k) }, rng)
	return c, nil
}

// mostChanged gives Pettitt's K and its place from doubled ranks.
func mostChanged(ranks []int) (k, after int) {
	u := 0
	for i, r := range ranks[:len(ranks)-1] {
		u += r - (len(ranks) + 1)
		if far := max(u, -u); far > k || i == 0 {
			k, after = far, i+1
		}
	}
	return k, after
}
