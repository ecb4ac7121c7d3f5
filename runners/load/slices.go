package load

import (
	"math"
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// slice is what happened in one slice.
type slice struct {
	offered, sent, done, failed, dropped int64

	level     int64           // change of the number in flight
	moment    time.Duration   // each change times its moment, counted from the slice's begin
	latencies []time.Duration // of successes
}

// timeline is a row of slices. The first ones leave it when they are closed; an
// event which comes later than that counts in the first slice that is open, so
// that none is lost and none counts twice.
type timeline struct {
	grid
	start time.Duration // of the load
	drops bool          // an open load is part of it
	first int           // index of open[0]
	open  []slice
	level int64           // in flight at the begin of open[0]
	areas []time.Duration // requests in flight, integrated over each window
	spare [][]time.Duration
}

func newTimeline(l experiment.Load, windows int) timeline {
	t := timeline{grid: newGrid(l), start: -lead(l), drops: anyOpen(l), areas: make([]time.Duration, windows)}
	t.first = t.index(t.start)
	return t
}

// anyOpen reports whether the load has arrivals.
func anyOpen(l experiment.Load) bool {
	return l.Open != nil || len(l.Streams) > 0 || slices.ContainsFunc(l.Phases, func(p experiment.LoadPhase) bool { return p.Open != nil })
}

// beginOf gives the moment at which slice i begins.
func (t *timeline) beginOf(i int) time.Duration {
	at, _ := t.begin(i)
	return at
}

// at gives the slice of a moment.
func (t *timeline) at(moment time.Duration) *slice {
	i := max(t.index(moment)-t.first, 0)
	for len(t.open) <= i {
		t.open = append(t.open, slice{})
	}
	return &t.open[i]
}

// shift changes the number in flight at a moment.
func (t *timeline) shift(moment time.Duration, by int64) {
	s := t.at(moment)
	s.level += by
	s.moment += time.Duration(by) * max(moment-t.beginOf(max(t.index(moment), t.first)), 0)
}

// landed enters the latency of a success.
func (t *timeline) landed(s *slice, latency time.Duration) {
	if s.latencies == nil && len(t.spare) > 0 {
		last := len(t.spare) - 1
		s.latencies, t.spare = t.spare[last], t.spare[:last]
	}
	s.latencies = append(s.latencies, latency)
}

// closed is a slice that has ended.
type closed struct {
	slice
	begin, end time.Duration
	inFlight   float64
}

// close takes out the slices which ended by the given moment; with final, which
// is the end of drain, also the one that it cuts.
func (t *timeline) close(by time.Duration, final bool) []closed {
	var out []closed
	for t.beginOf(t.first+1) <= by || final && t.beginOf(t.first) < by {
		out = append(out, t.closeFirst(min(t.beginOf(t.first+1), by)))
	}
	if final { // what happened at the very end, or was recorded after it
		for len(t.open) > 0 {
			out = append(out, t.closeFirst(t.beginOf(t.first)))
		}
	}
	return out
}

func (t *timeline) closeFirst(end time.Duration) closed {
	if len(t.open) == 0 {
		t.open = append(t.open, slice{})
	}
	begin, window := t.begin(t.first)
	s, length := t.open[0], end-begin
	area := time.Duration(t.level)*length + time.Duration(s.level)*length - s.moment
	if window >= 0 {
		t.areas[window] += area
	}
	c := closed{slice: s, begin: begin, end: end, inFlight: float64(t.level)}
	if length > 0 {
		c.inFlight = float64(area) / float64(length-max(t.start-begin, 0))
	}
	t.level += s.level
	t.first++
	t.open = t.open[:copy(t.open, t.open[1:])]
	return c
}

// points gives the series of a closed slice.
func (t *timeline) points(c closed) []experiment.SeriesPoint {
	var out []experiment.SeriesPoint
	at := wholeMS(c.begin)
	add := func(metric string, value float64) {
		out = append(out, experiment.SeriesPoint{Metric: metric, AtMS: at, Value: value})
	}
	add("offered", float64(c.offered))
	add("sent", float64(c.sent))
	add("done", float64(c.done))
	add("failed", float64(c.failed))
	if t.drops {
		add("dropped", float64(c.dropped))
	}
	add("in_flight", c.inFlight)
	if n := len(c.latencies); n > 0 {
		slices.Sort(c.latencies)
		add("latency_p50", rank(c.latencies, 0.5).Seconds())
		add("latency_p99", rank(c.latencies, 0.99).Seconds())
		add("latency_max", c.latencies[n-1].Seconds())
	}
	return out
}

// rank gives the smallest value which the share q of all does not exceed (the
// nearest-rank quantile of sorted values).
func rank(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)]
}
