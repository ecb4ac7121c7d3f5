package analysis

import "github.com/ceteris/ceteris/experiment"

// minWarmupSlices is the least number of slices for a judgement: 20 batches.
const minWarmupSlices = 100

// Warmup says how many of the first slices of a series belong to its warm-up (see
// experiment.MSER5). steady is false for fewer than 100 slices, and where it did not
// become steady within half of the series.
func Warmup(series []float64) (cut int, steady bool) {
	if len(series) < minWarmupSlices {
		return 0, false
	}
	cut, _, steady = experiment.MSER5(series)
	return cut, steady
}
