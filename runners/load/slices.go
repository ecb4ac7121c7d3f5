package load

import (
	"math"
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// grid divides time into slices. Slice 0 begins with the window, slice count-1
// ends with it; slices before and after have the same width.
type grid struct {
	window time.Duration
	width  time.Duration
	count  int // of slices in the window
}

func newGrid(l experiment.Load) grid {
	w := l.SliceWidth()
	return grid{window: l.Measure, width: w, count: int(l.Measure / w)}
}

// index gives the slice in which a moment lies.
func (g grid) index(at time.Duration) int {
	switch {
	case at < 0:
		return -int((-at + g.width - 1) / g.width)
	case at < g.window:
		return min(int(at/g.width), g.count-1) // the last takes what the division left over
	default:
		return g.count + int((at-g.window)/g.width)
	}
}

// begin gives the moment at which slice i begins.
func (g grid) begin(i int) time.Duration {
	if i < g.count {
		return time.Duration(i) * g.width
	}
	return g.window + time.Duration(i-g.count)*g.width
}

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
	start    time.Duration // of the ramp
	openLoad bool
	first    int // index of open[0]
	open     []slice
	level    int64         // in flight at the begin of open[0]
	area     time.Duration // requests in flight, integrated over the window
	spare    [][]time.Duration
}

func newTimeline(l experiment.Load) timeline {
	t := timeline{grid: newGrid(l), start: -(l.Ramp + l.Warmup), openLoad: l.Open != nil}
	t.first = t.index(t.start)
	return t
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
	s.moment += time.Duration(by) * max(moment-t.begin(max(t.index(moment), t.first)), 0)
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
	atMS     int64
	inFlight float64
}

// close takes out the slices which ended by the given moment; with final, which
// is the end of drain, also the one that it cuts.
func (t *timeline) close(by time.Duration, final bool) []closed {
	var out []closed
	for t.begin(t.first+1) <= by || final && t.begin(t.first) < by {
		out = append(out, t.closeFirst(min(t.begin(t.first+1), by)))
	}
	if final { // what happened at the very end, or was recorded after it
		for len(t.open) > 0 {
			out = append(out, t.closeFirst(t.begin(t.first)))
		}
	}
	return out
}

func (t *timeline) closeFirst(end time.Duration) closed {
	if len(t.open) == 0 {
		t.open = append(t.open, slice{})
	}
	begin, s := t.begin(t.first), t.open[0]
	length := end - begin
	area := time.Duration(t.level)*length + time.Duration(s.level)*length - s.moment
	if begin >= 0 && begin < t.window {
		t.area += area
	}
	c := closed{slice: s, atMS: begin.Milliseconds(), inFlight: float64(t.level)}
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
	add := func(metric string, value float64) {
		out = append(out, experiment.SeriesPoint{Metric: metric, AtMS: c.atMS, Value: value})
	}
	add("offered", float64(c.offered))
	add("sent", float64(c.sent))
	add("done", float64(c.done))
	add("failed", float64(c.failed))
	if t.openLoad {
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
