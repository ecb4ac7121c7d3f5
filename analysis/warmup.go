package analysis

import "math"

// mserBatch is the number of slices a batch: MSER-5.
const mserBatch = 5

// minWarmupSlices is the least number of slices for a judgement: 20 batches.
const minWarmupSlices = 100

// Warmup says how many of the first slices of a series belong to its warm-up, by
// MSER-5 (White, "An effective truncation heuristic for bias reduction in simulation
// output", 1997): of the means of batches of five slices those are cut off that leave
// the rest with the least standard error. steady is false for fewer than 100 slices,
// and where the best cut is the last one allowed, half of the series: then it did not
// become steady. The cut is a multiple of five slices.
func Warmup(slices []float64) (cut int, steady bool) {
	if len(slices) < minWarmupSlices {
		return 0, false
	}
	batches := make([]float64, len(slices)/mserBatch)
	for i := range batches {
		for _, v := range slices[i*mserBatch : (i+1)*mserBatch] {
			batches[i] += v / mserBatch
		}
	}
	best, least := 0, math.Inf(1)
	limit := len(batches) / 2
	for d := 0; d <= limit; d++ {
		if e := truncated(batches[d:]); e < least {
			best, least = d, e
		}
	}
	return best * mserBatch, best < limit
}

// truncated is the marginal standard error of what is left, squared.
func truncated(rest []float64) float64 {
	n := float64(len(rest))
	mean, sum := 0.0, 0.0
	for _, v := range rest {
		mean += v / n
	}
	for _, v := range rest {
		sum += (v - mean) * (v - mean)
	}
	return sum / (n * n)
}
