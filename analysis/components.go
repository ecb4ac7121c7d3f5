package analysis

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Components are the parts of the variance of slices of runs: between runs, and
// between the slices within one run, each about its run's own level.
type Components struct {
	Between float64 // 0 when the estimate falls below
	Within  float64
	ICC     float64 // share of Between in the sum: correlation of two slices of one run

	MeanSquareBetween, MeanSquareWithin float64
	Slices                              float64 // a run, by weight where they are unequal
	Untruncated                         float64 // estimate of Between before it is cut off at 0
}

// ComponentsOf estimates components of variance from the slices of each run, by
// analysis of variance (Searle, Casella and McCulloch 1992, section 3.6); restricted
// maximum likelihood agrees where runs have equally many. It needs 2 runs and one of
// them with 2 slices. Slices that follow one another closely share noise: it then
// counts as between.
func ComponentsOf(runs [][]float64) (Components, error) {
	if len(runs) == 0 {
		return Components{}, ErrNoData
	}
	if err := checkFinite(runs...); err != nil {
		return Components{}, err
	}
	var n, squares, sum float64
	for _, r := range runs {
		n += float64(len(r))
		squares += float64(len(r)) * float64(len(r))
		sum += stat.Mean(r, nil) * float64(len(r))
	}
	k := float64(len(runs))
	if k < 2 || n == k {
		return Components{}, ErrTooFew
	}
	var between, within float64
	for _, r := range runs {
		mean := stat.Mean(r, nil)
		between += float64(len(r)) * (mean - sum/n) * (mean - sum/n)
		for _, v := range r {
			within += (v - mean) * (v - mean)
		}
	}
	c := Components{MeanSquareBetween: between / (k - 1), MeanSquareWithin: within / (n - k), Slices: (n - squares/n) / (k - 1)}
	c.Untruncated = (c.MeanSquareBetween - c.MeanSquareWithin) / c.Slices
	c.Between, c.Within = max(0, c.Untruncated), c.MeanSquareWithin
	if all := c.Between + c.Within; all > 0 {
		c.ICC = c.Between / all
	}
	return c, nil
}

// OfMean gives the variance of a cell's mean over runs of so many slices each, and the
// share of it that only more runs can lower.
func (c Components) OfMean(runs, slices int) (variance, shareBetween float64, err error) {
	if runs < 1 || slices < 1 {
		return 0, 0, ErrBadParameter
	}
	between := c.Between / float64(runs)
	variance = between + c.Within/float64(runs)/float64(slices)
	if variance == 0 {
		return 0, 0, ErrZeroVariance
	}
	return variance, between / variance, nil
}

// SlicesPerRun is how many slices a run should have for the smallest variance of the
// mean at a given cost (Kalibera and Jones 2013, section 9.2), before it is rounded up
// to a whole number. Both costs are above 0 and in one unit, such as s. Without
// variance between runs one run is best however long, and the error is ErrZeroVariance.
func (c Components) SlicesPerRun(costRun, costSlice float64) (float64, error) {
	switch {
	case !(costRun > 0 && costSlice > 0) || math.IsInf(costRun/costSlice, 0):
		return 0, ErrBadParameter
	case c.Between == 0:
		return 0, ErrZeroVariance
	}
	return max(1, math.Sqrt(costRun/costSlice*c.Within/c.Between)), nil
}
