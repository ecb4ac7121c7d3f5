package experiment

import (
	"math"
	"slices"
)

// MSERBatch is the number of slices a batch in MSER5.
const MSERBatch = 5

// MSER5 says how many of the first slices of a series belong to its warm-up, and what
// the level of the others is, by MSER-5 (White, An effective truncation heuristic for bias
// reduction in simulation output, Simulation 69, 1997; batches of 5 after Spratt, 1998):
// of n batch means Y, leave out the first d for which
//
//	sum over i > d of (Y(i) - mean of Y(d+1..n))² / (n - d)²
//
// is least, d at most n/2 and rather fewer. The cut is a multiple of five slices; slices
// at the end that make no whole batch are not looked at. steady is false where the cut is
// half of the series or more, beyond which the rule is not to be trusted; how many slices
// are enough is for the caller to say.
func MSER5(series []float64) (cut int, level float64, steady bool) {
	batches := make([]float64, len(series)/MSERBatch)
	for i := range batches {
		for _, v := range series[i*MSERBatch : (i+1)*MSERBatch] {
			batches[i] += v / MSERBatch
		}
	}
	// From the end to the begin, with mean and squares kept (Welford's method), so that
	// a long series costs little.
	least, m, squares := math.Inf(1), 0.0, 0.0
	for d, v := range slices.Backward(batches) {
		n := float64(len(batches) - d)
		off := v - m
		m += off / n
		squares += off * (v - m)
		if z := squares / (n * n); 2*d <= len(batches) && z <= least {
			least, cut, level = z, d, m
		}
	}
	return cut * MSERBatch, level, 2*cut < len(batches)
}
