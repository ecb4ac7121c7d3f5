package reader

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// result is what was understood of an output.
type result struct {
	experiment.LoadResult

	why map[string]string // of metrics that are unknown
}

// newResult begins one; the name of the tool holds its version where that is known.
func newResult(tool, format string) *result {
	return &result{LoadResult: experiment.LoadResult{Tool: tool, Format: format}, why: map[string]string{}}
}

// metrics are those that every load has: what of them is not set is unknown.
func metrics() []string {
	out := []string{
		"throughput", "offered", "sent", "dropped", "error_rate", "unfinished", "requests_done", "in_flight",
		"connects", "bytes_sent", "bytes_received", "response_bytes", "lateness_p99",
	}
	for _, prefix := range []string{"latency_", "service_time_", "failed_latency_"} {
		for _, q := range experiment.Quantiles() {
			out = append(out, prefix+q.Name)
		}
	}
	return out
}

// set gives a metric its value, in its base unit. What is no number, or negative, is
// not told.
func (r *result) set(metric string, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
		r.unknown(metric, "the tool gives no number")
		return
	}
	m, _ := experiment.MetricByName(metric)
	r.Observations = append(r.Observations, experiment.Observation{Metric: metric, Phase: experiment.PhaseMeasure, Value: value, Unit: m.Unit})
}

// unknown tells why a metric is not set; without it the reason is that the format does
// not tell it.
func (r *result) unknown(metric, why string) { r.why[metric] = why }

// unknownAll tells why none of the quantiles of a distribution (latency_) that were not
// set are known.
func (r *result) unknownAll(prefix, why string) {
	for _, q := range experiment.Quantiles() {
		r.unknown(prefix+q.Name, why)
	}
}

// forget takes a metric back, of all requests and of each kind, which turned out not to
// be known.
func (r *result) forget(metric, why string) {
	r.Observations = slices.DeleteFunc(r.Observations, func(o experiment.Observation) bool {
		return experiment.SplitMetricName(o.Metric).Base == metric
	})
	r.unknown(metric, why)
}

// note adds what is good to know, warn what can turn a conclusion.
func (r *result) note(format string, a ...any) {
	r.Notes = append(r.Notes, experiment.LoadNote{Severity: experiment.SeverityNote, Text: fmt.Sprintf(format, a...)})
}

func (r *result) warn(format string, a ...any) {
	r.Notes = append(r.Notes, experiment.LoadNote{Severity: experiment.SeverityWarn, Text: fmt.Sprintf(format, a...)})
}

// value gives a metric that was set.
func (r *result) value(metric string) (v float64, set bool) {
	i := slices.IndexFunc(r.Observations, func(o experiment.Observation) bool { return o.Metric == metric })
	if i < 0 {
		return 0, false
	}
	return r.Observations[i].Value, true
}

// has reports whether a metric was set.
func (r *result) has(metric string) bool {
	_, set := r.value(metric)
	return set
}

// finish lists what was not set.
func (r *result) finish() experiment.LoadResult {
	for _, m := range metrics() {
		if r.has(m) {
			continue
		}
		why := r.why[m]
		if why == "" {
			why = "this format does not tell it"
		}
		r.Unknown = append(r.Unknown, experiment.Unknown{Metric: m, Why: why})
	}
	return r.LoadResult
}

// coarse tells of the step in which a tool writes its times, where that hides
// differences: it is a note above 1% of the median, and a warning above 10%.
func (r *result) coarse(step time.Duration, prefix string) {
	median, set := r.value(prefix + "p50")
	if !set {
		return
	}
	tell := r.note
	switch share := step.Seconds() / median; {
	case share <= 0.01:
		return
	case share > 0.1:
		tell = r.warn
	}
	tell("its times are multiples of %s, and %sp50 is %.4g s: smaller differences do not show", step, prefix, median)
}
