package load

import (
	"github.com/ceteris/ceteris/experiment"
)

// summary reduces what was recorded, once all slices are closed. What has nothing
// to say is left out: no latency without a success, no error rate when nothing
// was done, no dropped under a closed load.
func (r *recorder) summary() (experiment.LoadResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := experiment.LoadResult{
		Window: r.window, Total: r.totals(),
		Statuses: r.inWindow.byStatus(), Errors: r.inWindow.byKind(),
	}
	add := func(metric string, value float64, unit experiment.Unit) {
		out.Observations = append(out.Observations, experiment.Observation{Metric: metric, Phase: experiment.PhaseMeasure, Value: value, Unit: unit})
	}
	w, seconds := &r.inWindow, r.window.Seconds()
	done := w.ok + w.failed
	add("throughput", float64(w.ok)/seconds, experiment.UnitPerSecond)
	add("offered", float64(w.offered)/seconds, experiment.UnitPerSecond)
	add("sent", float64(w.sent)/seconds, experiment.UnitPerSecond)
	if r.openLoad && w.offered > 0 {
		add("dropped", float64(w.dropped)/float64(w.offered), experiment.UnitRatio)
	}
	if done > 0 {
		add("error_rate", float64(w.failed)/float64(done), experiment.UnitRatio)
	}
	add("unfinished", float64(r.total.unfinished), experiment.UnitCount)
	add("in_flight", float64(r.timeline.area)/float64(r.window), experiment.UnitCount)
	add("requests_done", float64(done), experiment.UnitCount)
	add("latency_count", float64(r.success.count()), experiment.UnitCount)
	err := r.addQuantiles(&out, add) // before out is copied
	return out, err
}

// addQuantiles reports the distributions that hold anything: all quantiles and
// the histogram, of the lateness its 99th percentile alone.
func (r *recorder) addQuantiles(out *experiment.LoadResult, add func(string, float64, experiment.Unit)) error {
	for _, d := range []struct {
		prefix string
		of     *distribution
		kind   experiment.HistogramKind
	}{
		{"latency_", &r.success, experiment.HistogramSuccess},
		{"failed_latency_", &r.failure, experiment.HistogramFailure},
		{"service_time_", &r.service, experiment.HistogramServiceTime},
	} {
		if d.of.count() == 0 {
			continue
		}
		for _, q := range []struct {
			name string
			q    float64
		}{{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1}} {
			add(d.prefix+q.name, d.of.quantile(q.q), experiment.UnitSeconds)
		}
		h, err := d.of.encode(d.kind)
		if err != nil {
			return err
		}
		out.Histograms = append(out.Histograms, h)
	}
	if r.lateness.count() > 0 {
		add("lateness_p99", r.lateness.quantile(0.99), experiment.UnitSeconds)
	}
	return nil
}
