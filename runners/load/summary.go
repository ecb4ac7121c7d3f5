package load

import (
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// summary reduces what was recorded, once all slices are closed. What has nothing
// to say is left out: no latency without a success, no error rate when nothing
// was done, no dropped under a closed load, no bytes sent and received over HTTP/2.
//
// Where the load declares phases, each measured one tells its metrics as NAME:METRIC.
// Those of all together, without a name in front, are then counts and the generator's
// own lateness; response times of different phases are no distribution of anything.
func (r *recorder) summary() (experiment.LoadResult, error) {
	m := r.merged()
	s := summary{out: experiment.LoadResult{Total: m.total.totals()}, drops: r.drops, bodies: r.bodies}
	var (
		all  tally
		area time.Duration
	)
	for i, w := range m.windows {
		all.counts.add(&w.all.counts)
		all.lateness.Merge(&w.all.lateness)
		area += m.areas[i]
		s.out.Window += w.length()
		if w.name != "" {
			s.out.Parts = append(s.out.Parts, experiment.LoadPart{Name: w.name, Begin: w.begin - m.windows[0].begin, Window: w.length()})
		}
	}
	s.out.Statuses, s.out.Errors = all.byStatus(), all.errors
	all.unfinished = m.total.unfinished
	s.window = s.out.Window
	s.counts(&all.counts)
	s.add("in_flight", float64(area)/float64(s.window), experiment.UnitCount)
	if all.lateness.Count() > 0 {
		s.add("lateness_p99", all.lateness.Quantile(0.99), experiment.UnitSeconds)
	}
	for i, w := range m.windows {
		s.of(w, m.areas[i])
		for kind, name := range r.names {
			s.suffix, s.request = "{"+name+"}", name
			if w.name == "" {
				w.named[kind].unfinished = m.byName[kind].unfinished
			}
			s.counts(&w.named[kind].counts)
			s.quantiles(&w.named[kind])
		}
	}
	for kind, name := range r.names {
		if s.out.Requests == nil {
			s.out.Requests = map[string]experiment.Totals{}
		}
		s.out.Requests[name] = m.byName[kind].totals()
	}
	return s.out, s.fault
}

// merged adds the shards up, in the first one: nobody records any more.
func (r *recorder) merged() *shard {
	m := r.shards[0]
	for _, s := range r.shards[1:] {
		m.total.add(&s.total)
		for i := range m.windows {
			m.windows[i].add(s.windows[i])
			m.areas[i] += s.areas[i]
		}
		for i := range m.byName {
			m.byName[i].add(&s.byName[i])
		}
	}
	return m
}

// summary is a result in the making.
type summary struct {
	out            experiment.LoadResult
	drops, bodies  bool          // as the recorder's
	window         time.Duration // length of what is told of
	prefix, suffix string        // around the names of metrics
	phase          experiment.Phase
	request        string
	fault          error
}

func (s *summary) add(metric string, value float64, unit experiment.Unit) {
	s.out.Observations = append(s.out.Observations, experiment.Observation{
		Metric: s.prefix + metric + s.suffix, Phase: experiment.PhaseMeasure, Value: value, Unit: unit,
	})
}

// of goes to a window, and tells of all its requests what was not told before.
func (s *summary) of(w *window, area time.Duration) {
	s.prefix, s.suffix, s.phase, s.request, s.window = "", "", experiment.PhaseMeasure, "", w.length()
	if w.name != "" {
		s.prefix, s.phase = w.name+":", experiment.Phase(w.name)
		s.counts(&w.all.counts)
		s.add("in_flight", float64(area)/float64(s.window), experiment.UnitCount)
		if w.all.lateness.Count() > 0 {
			s.add("lateness_p99", w.all.lateness.Quantile(0.99), experiment.UnitSeconds)
		}
	}
	s.quantiles(&w.all)
}

func (s *summary) counts(c *counts) {
	seconds := s.window.Seconds()
	done := c.ok + c.failed
	s.add("throughput", float64(c.ok)/seconds, experiment.UnitPerSecond)
	s.add("offered", float64(c.offered)/seconds, experiment.UnitPerSecond)
	s.add("sent", float64(c.sent)/seconds, experiment.UnitPerSecond)
	if s.drops && c.offered > 0 {
		s.add("dropped", float64(c.dropped)/float64(c.offered), experiment.UnitRatio)
	}
	if done > 0 {
		s.add("error_rate", float64(c.failed)/float64(done), experiment.UnitRatio)
	}
	s.add("unfinished", float64(c.unfinished), experiment.UnitCount)
	s.add("requests_done", float64(done), experiment.UnitCount)
	s.add("connects", float64(c.connects)/seconds, experiment.UnitPerSecond)
	if !s.bodies {
		s.add("bytes_sent", float64(c.written)/seconds, experiment.UnitBytesRate)
		s.add("bytes_received", float64(c.received)/seconds, experiment.UnitBytesRate)
	}
	if c.ok > 0 {
		s.add("response_bytes", float64(c.okBytes)/float64(c.ok), experiment.UnitBytes)
	}
}

// quantiles reports the distributions that hold anything: all quantiles and the
// histogram.
func (s *summary) quantiles(t *tally) {
	s.add("latency_count", float64(t.success.Count()), experiment.UnitCount)
	for _, d := range []struct {
		prefix string
		of     *Distribution
		kind   experiment.HistogramKind
	}{
		{"latency_", &t.success, experiment.HistogramSuccess},
		{"failed_latency_", &t.failure, experiment.HistogramFailure},
		{"service_time_", &t.service, experiment.HistogramServiceTime},
	} {
		if d.of.Count() == 0 {
			continue
		}
		for _, q := range experiment.Quantiles() {
			s.add(d.prefix+q.Name, d.of.Quantile(q.Q), experiment.UnitSeconds)
		}
		h, err := d.of.Encode(s.phase, s.request, d.kind)
		if err != nil {
			s.fault = err
			return
		}
		s.out.Histograms = append(s.out.Histograms, h)
	}
}
