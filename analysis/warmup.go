package analysis

import "github.com/ceteris/ceteris/experiment"

const (
	minWarmupSlices = 100                      // for a judgement: 20 batches
	fewestSlices    = 4 * experiment.MSERBatch // for a cut at all
)

// Truncation is where a series becomes steady.
type Truncation struct {
	Cut     int     // slices of its warm-up, a multiple of experiment.MSERBatch
	Batches int     // of the whole series
	Level   float64 // mean of the batches after the cut
	AtLimit bool    // the cut is as late as the rule may put it, at half of the batches
}

// Truncate says how many of the first slices of a series belong to its warm-up (see
// experiment.MSER5). ErrTooFew below 20 slices; at least 100 are needed before AtLimit means
// that it did not become steady.
func Truncate(series []float64) (Truncation, error) {
	if err := checkFinite(series); err != nil {
		return Truncation{}, err
	}
	if len(series) < fewestSlices {
		return Truncation{}, ErrTooFew
	}
	t := Truncation{Batches: len(series) / experiment.MSERBatch}
	t.Cut, t.Level, _ = experiment.MSER5(series)
	t.AtLimit = t.Cut/experiment.MSERBatch == t.Batches/2
	return t, nil
}

// Warmup says how many of the first slices of a series belong to its warm-up. steady is
// false for fewer than 100 slices, for values that are not finite, and where it did not
// become steady within half of the series.
func Warmup(series []float64) (cut int, steady bool) {
	if len(series) < minWarmupSlices {
		return 0, false
	}
	t, err := Truncate(series)
	return t.Cut, err == nil && !t.AtLimit
}
