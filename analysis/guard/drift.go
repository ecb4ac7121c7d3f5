package guard

import (
	"math"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Batches over which the slope is taken, and what they are made of. Between 10 and 30
// are enough (Schmeiser, Batch size effects in the analysis of simulation output,
// Operations Research 30, 1982); few and long ones depend least on one another.
const (
	driftBatches = 10
	driftSlices  = 5      // of a batch, at least
	driftT       = 3.3554 // of Student's t with 8 degrees of freedom, two-sided 1%
)

// drift looks at the slices of a run's throughput.
func drift() Guard {
	return Guard{
		Code:      "drift",
		Severity:  experiment.SeverityWarn,
		Threshold: 0.05,
		Unit:      experiment.UnitRatio,
		Help: "Throughput rose or fell by more than this share from the begin of the measured window to its end, and by more than its noise explains " +
			"(the slope over 10 batch means of its slices, at 1%). The window then holds what still warms up, fills, leaks or is throttled, and another length of it would have " +
			"told another mean. The slices are no replicates: they follow one another in one process on one host, so they say how steady a run was and nothing of how well it repeats. " +
			"The sample stays one value a run. Warm up longer, or find out what grows.",
		run: judgeDrift,
	}
}

func judgeDrift(o experiment.Outcome, limit float64) []experiment.Finding {
	l := o.Plan.Load
	if len(l.Streams) > 0 {
		return nil // the load itself rises on its way
	}
	if len(l.Phases) == 0 {
		return driftIn(o, "throughput", 0, windowOf(o, ""), limit)
	}
	var all []experiment.Finding
	for _, p := range l.Phases {
		for _, part := range o.Result.Parts {
			if p.Name == part.Name && p.Measure && p.Ramp == 0 {
				all = append(all, driftIn(o, p.Name+":throughput", part.Begin, part.Window, limit)...)
			}
		}
	}
	return all
}

// driftIn looks at a part of the measured time.
func driftIn(o experiment.Outcome, metric string, begin, window time.Duration, limit float64) []experiment.Finding {
	done := successes(o.Series, begin, window)
	size := len(done) / driftBatches
	if size < driftSlices {
		return nil
	}
	perSecond := float64(len(done)) / window.Seconds()
	var mean, slope, squares, residue float64
	batches := make([]float64, driftBatches)
	for i := range batches {
		for _, n := range done[i*size : (i+1)*size] {
			batches[i] += n * perSecond / float64(size)
		}
		mean += batches[i] / driftBatches
	}
	at := func(i int) float64 { return float64(i) - (driftBatches-1)/2. }
	for i, b := range batches {
		slope += at(i) * b
		squares += at(i) * at(i)
	}
	slope /= squares
	for i, b := range batches {
		off := b - mean - slope*at(i)
		residue += off * off
	}
	change := math.Abs(slope) * driftBatches / mean
	noise := math.Sqrt(residue / (driftBatches - 2) / squares)
	if !(change > limit) || math.Abs(slope) <= driftT*noise || math.IsInf(change, 0) {
		return nil
	}
	half := slope * driftBatches / 2
	went := "rose"
	if slope < 0 {
		went = "fell"
	}
	return []experiment.Finding{measured(experiment.SeverityWarn, metric, change, "throughput %s by %s over the window, from about %s/s to %s/s (limit %s)",
		went, share(change), number(mean-half), number(mean+half), share(limit))}
}

// successes gives how many requests succeeded in each slice that begins in a part of the
// measured time.
func successes(series []experiment.SeriesPoint, begin, window time.Duration) []float64 {
	var done []float64
	place := map[int64]int{}
	from, to := begin.Milliseconds(), (begin + window).Milliseconds()
	for _, p := range series {
		if p.Service != "" || p.AtMS < from || p.AtMS >= to {
			continue
		}
		i, known := place[p.AtMS]
		switch {
		case p.Metric == "done":
			place[p.AtMS] = len(done)
			done = append(done, p.Value)
		case p.Metric == "failed" && known:
			done[i] -= p.Value
		}
	}
	return done
}
