package load

import (
	"math"

	"github.com/ceteris/ceteris/experiment"
)

const (
	steadyLeast = 50 // slices
	steadyLast  = 10 // slices that must not have left the level
	steadyBand  = 0.05
)

// Steady reports whether a warm-up has come to a steady rate. rates are those of its
// slices, from the end of the ramp on; fewer than 50 are never enough. It is steady if
// experiment.MSER5 cuts off less than half of it, and if the mean of the last 10 slices
// lies within 5% of the level of what was not cut off: a step at the very end is lost in
// the rule's sum. A warm-up in which nothing succeeded is not steady.
func Steady(rates []float64) bool {
	rates = rates[len(rates)%experiment.MSERBatch:] // whole batches, up to the newest
	if len(rates) < steadyLeast {
		return false
	}
	_, level, steady := experiment.MSER5(rates)
	return steady && level > 0 && math.Abs(mean(rates[len(rates)-steadyLast:])-level) <= steadyBand*level
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
