package load

import (
	"math"
	"slices"
)

const (
	steadyBatch = 5  // slices a batch
	steadyLeast = 10 // batches
	steadyLast  = 10 // slices that must not have left the level
	steadyBand  = 0.05
)

// Steady reports whether a warm-up has come to a steady rate. rates are those of its
// slices, from the end of the ramp on; fewer than 50 are never enough.
//
// The rule is MSER-5 (White, An effective truncation heuristic for bias reduction in
// simulation output, Simulation 69, 1997; batches of 5 after Spratt, 1998): of n batch
// means Y, leave out the first d for which
//
//	sum over i > d of (Y(i) - mean of Y(d+1..n))² / (n - d)²
//
// is least. The warm-up is steady if d is below n/2, the half beyond which the rule is
// not to be trusted, and if the mean of the last 10 slices lies within 5% of the mean of
// what was not left out: a step at the very end is lost in the sum. A warm-up in which
// nothing succeeded is not steady.
func Steady(rates []float64) bool {
	n := len(rates) / steadyBatch
	if n < steadyLeast {
		return false
	}
	rates = rates[len(rates)-n*steadyBatch:] // whole batches, up to the newest
	cut, level := truncation(batchMeans(rates, steadyBatch))
	if 2*cut >= n || level <= 0 {
		return false
	}
	return math.Abs(mean(rates[len(rates)-steadyLast:])-level) <= steadyBand*level
}

// truncation gives the number of values that MSER leaves out, at most half of them
// and rather fewer, and the mean of the others. It goes from the end to the begin and
// keeps mean and squares (Welford's method), so a long warm-up costs little.
func truncation(values []float64) (cut int, level float64) {
	least, m, squares := math.Inf(1), 0.0, 0.0
	for d, v := range slices.Backward(values) {
		n := float64(len(values) - d)
		off := v - m
		m += off / n
		squares += off * (v - m)
		if z := squares / (n * n); 2*d <= len(values) && z <= least {
			least, cut, level = z, d, m
		}
	}
	return cut, level
}

func batchMeans(values []float64, size int) []float64 {
	var out []float64
	for ; len(values) >= size; values = values[size:] {
		out = append(out, mean(values[:size]))
	}
	return out
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
