package reader

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// sliced is rows by slice of the window (experiment.Load.SliceWidth).
type sliced struct {
	begin, end time.Time
	width      time.Duration
	list       []slice
}

// slice is what happened in one slice, each at its own moment.
type slice struct {
	sent, done, failed int64
	times              []time.Duration // of successes that ended in it
}

func newSlices(begin, end time.Time) *sliced {
	window := end.Sub(begin)
	width := experiment.Load{Measure: window}.SliceWidth()
	return &sliced{begin: begin, end: end, width: width, list: make([]slice, max(int(window/width), 1))}
}

// at gives the slice of a moment; nil outside the window. The last one takes what the
// division leaves over.
func (s *sliced) at(moment time.Time) *slice {
	if moment.Before(s.begin) || !moment.Before(s.end) {
		return nil
	}
	return &s.list[min(int(moment.Sub(s.begin)/s.width), len(s.list)-1)]
}

func (s *sliced) add(one row, done time.Time) {
	if one.dropped {
		return
	}
	if b := s.at(one.begin.Add(one.late)); b != nil {
		b.sent++
	}
	e := s.at(done)
	if e == nil {
		return
	}
	e.done++
	if one.failure != "" {
		e.failed++
		return
	}
	e.times = append(e.times, one.took-one.late)
}

// points gives the series, named as those of the built-in generator. The times in it
// are service times.
func (s *sliced) points() []experiment.SeriesPoint {
	var out []experiment.SeriesPoint
	for i, one := range s.list {
		at := (time.Duration(i) * s.width).Milliseconds()
		add := func(metric string, value float64) {
			out = append(out, experiment.SeriesPoint{Metric: metric, AtMS: at, Value: value})
		}
		add("sent", float64(one.sent))
		add("done", float64(one.done))
		add("failed", float64(one.failed))
		if len(one.times) > 0 {
			slices.Sort(one.times)
			add("service_time_p50", nearestRank(one.times, 0.5).Seconds())
			add("service_time_p99", nearestRank(one.times, 0.99).Seconds())
			add("service_time_max", nearestRank(one.times, 1).Seconds())
		}
	}
	slices.SortStableFunc(out, func(a, b experiment.SeriesPoint) int { return cmp.Compare(a.Metric, b.Metric) })
	return out
}

// nearestRank gives the smallest value which the share q of all does not exceed.
func nearestRank(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)]
}
