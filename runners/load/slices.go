package load

import (
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// slice is what happened in one slice.
type slice struct {
	offered, sent, done, failed, dropped int64

	level     int64         // change of the number in flight
	moment    time.Duration // each change times its moment, counted from the slice's begin
	latencies *Distribution // of successes; nil: there is none
}

// timeline is a row of slices. The first ones leave it when they are closed; an
// event which comes later than that counts in the first slice that is open, so
// that none is lost and none counts twice.
type timeline struct {
	grid
	start time.Duration // of the load
	first int           // index of open[0]
	open  []slice
	level int64           // in flight at the begin of open[0]
	areas []time.Duration // requests in flight, integrated over each window
	spare []*Distribution // empty ones
}

func newTimeline(l experiment.Load, windows int) timeline {
	t := timeline{grid: newGrid(l), start: -lead(l), areas: make([]time.Duration, windows)}
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
	if s.latencies == nil {
		s.latencies = t.take()
	}
	s.latencies.Add(latency)
}

// take gives an empty distribution, one that was used before if there is any.
func (t *timeline) take() *Distribution {
	last := len(t.spare) - 1
	if last < 0 {
		return &Distribution{}
	}
	d := t.spare[last]
	t.spare = t.spare[:last]
	return d
}

// recycle empties a distribution for the next slice.
func (t *timeline) recycle(d *Distribution) {
	if d != nil {
		d.Reset()
		t.spare = append(t.spare, d)
	}
}

// closed is a slice that has ended, of one shard or of all together.
type closed struct {
	slice
	begin, end time.Duration
	counted    time.Duration // its length inside the load
	area       time.Duration // requests in flight, integrated over it
	before     int64         // in flight at its begin
}

// merge adds what another shard saw of the same slice, and gives the distribution that
// is needed no more; nil if there is none.
func (c *closed) merge(o closed) *Distribution {
	c.offered += o.offered
	c.sent += o.sent
	c.done += o.done
	c.failed += o.failed
	c.dropped += o.dropped
	c.area += o.area
	c.before += o.before
	switch {
	case o.latencies == nil:
		return nil
	case c.latencies == nil:
		c.latencies = o.latencies
		return nil
	default:
		c.latencies.Merge(o.latencies)
		return o.latencies
	}
}

// inFlight is the mean over the slice.
func (c *closed) inFlight() float64 {
	if c.end == c.begin {
		return float64(c.before)
	}
	return float64(c.area) / float64(c.counted)
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
	c := closed{slice: s, begin: begin, end: end, counted: length - max(t.start-begin, 0), area: area, before: t.level}
	t.level += s.level
	t.first++
	t.open = t.open[:copy(t.open, t.open[1:])]
	return c
}

// points gives the series of a closed slice.
func (c *closed) points(drops bool) []experiment.SeriesPoint {
	var out []experiment.SeriesPoint
	at := wholeMS(c.begin)
	add := func(metric string, value float64) {
		out = append(out, experiment.SeriesPoint{Metric: metric, AtMS: at, Value: value})
	}
	add("offered", float64(c.offered))
	add("sent", float64(c.sent))
	add("done", float64(c.done))
	add("failed", float64(c.failed))
	if drops {
		add("dropped", float64(c.dropped))
	}
	add("in_flight", c.inFlight())
	if d := c.latencies; d != nil {
		add("latency_p50", d.Quantile(0.5))
		add("latency_p99", d.Quantile(0.99))
		add("latency_max", d.Quantile(1))
	}
	return out
}
