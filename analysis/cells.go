package analysis

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/ceteris/ceteris/experiment"
)

// sample collects the values of a metric from the counting runs of a cell.
func (c *cellRuns) sample(m experiment.Metric, paired bool, errorRate float64) Sample {
	s := Sample{Cell: c.cell.Key, Unfit: c.unfit}
	if paired {
		s.Rounds = []int{}
	}
	for _, r := range c.counting {
		v, ok := r.values[m.Name]
		if !ok {
			continue
		}
		s.Values = append(s.Values, v)
		if paired {
			s.Rounds = append(s.Rounds, r.round)
		}
		if m.Q == 0 {
			continue
		}
		if requests, known := r.requestsBehind(m.Name); known && requests < fewestRequests(m.Q) {
			s.Unfit = "too few requests"
		}
	}
	if describesSuccesses(m.Name) && c.errorRate(m.Name) > errorRate {
		s.Unfit = "errors"
	}
	return s
}

// fewestRequests is how many requests a run needs for a quantile to be used,
// 10/(1-q), less a trace for rounding.
func fewestRequests(q float64) float64 { return 10/(1-q) - 1e-6 }

// requestsBehind gives the number of response times behind a quantile, if the run
// tells it.
func (r countingRun) requestsBehind(metric string) (float64, bool) {
	name := experiment.SplitMetricName(metric)
	prefix := name.Base[:strings.LastIndexByte(name.Base, '_')+1]
	if n, ok := r.values[name.Of(prefix+"count")]; ok {
		return n, true
	}
	if prefix == "failed_latency_" {
		done, ok1 := r.values[name.Of("requests_done")]
		share, ok2 := r.values[name.Of("error_rate")]
		return done * share, ok1 && ok2
	}
	n, ok := r.values[name.Of("latency_count")]
	return n, ok
}

// describesSuccesses reports whether a metric is a response time of successes,
// which is that of the survivors where many requests fail.
func describesSuccesses(metric string) bool {
	base := experiment.SplitMetricName(metric).Base
	return base != "latency_count" && (strings.HasPrefix(base, "latency_") || strings.HasPrefix(base, "service_time_"))
}

// errorRate is the mean over the counting runs that tell it: of the same phase and
// request as the metric, or of all.
func (c *cellRuns) errorRate(metric string) float64 {
	own := experiment.SplitMetricName(metric).Of("error_rate")
	var sum, n float64
	for _, r := range c.counting {
		v, ok := r.values[own]
		if !ok {
			v, ok = r.values["error_rate"]
		}
		if ok {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// interval describes a metric in one cell. Below 3 runs there are values only.
func (w *worker) interval(f *family, c *cellRuns, s Sample, m experiment.Metric) experiment.Interval {
	out := experiment.Interval{
		Cell: s.Cell, Metric: m.Name, Unit: m.Unit, N: len(s.Values),
		Confidence: w.set.Confidence, State: f.stage.state,
	}
	if len(c.counting) > 0 && len(c.failed) > 0 {
		out.Flags = append(out.Flags, experiment.FlagSurvivors)
	}
	if len(s.Values) == 0 {
		return out
	}
	if checkFinite(s.Values) != nil {
		w.noteNotFinite(c, m)
		return out
	}
	out.Values = slices.Clone(s.Values)
	if c.unfit != "" {
		return out // what is left out is no chance
	}
	describe(&out, s.Values)
	mean, method := Mean, experiment.MethodT
	if m.OnLogs {
		mean, method = GeometricMean, experiment.MethodTLog
	}
	e, err := mean(s.Values, w.set.Confidence)
	if err == nil || len(s.Values) == 1 {
		out.Estimate = number(e.Value) // nil when a zero has no logarithm
	}
	if err != nil || len(s.Values) < fewestRounds || s.Unfit != "" {
		return out
	}
	low, high := number(e.Low), number(e.High)
	if low == nil || high == nil {
		return out
	}
	out.Low, out.High, out.Method = low, high, method
	out.Flags = append(out.Flags, cellFlags(s.Values, e)...)
	return out
}

// describe fills median, range and coefficient of variation.
func describe(out *experiment.Interval, x []float64) {
	out.Median = number(median(x))
	out.Min, out.Max = number(slices.Min(x)), number(slices.Max(x))
	if len(x) < 2 {
		return
	}
	if mean, sd := stat.MeanStdDev(x, nil); mean != 0 {
		out.CV = number(sd / math.Abs(mean))
	}
}

// cellFlags looks for what an interval cannot show. Runs are flagged, never
// dropped.
func cellFlags(x []float64, e Estimate) []experiment.Flag {
	var flags []experiment.Flag
	if len(x) < fewRounds {
		flags = append(flags, experiment.FlagFewRounds)
	}
	if e.ZeroVariance {
		return append(flags, experiment.FlagZeroVariance)
	}
	if g, err := WidestGap(x); err == nil && g.Multimodal {
		flags = append(flags, experiment.FlagMultimodal)
	}
	far, err := Outliers(x, outlierMADs)
	switch {
	case err != nil || len(far) == 0:
	case mad(x) == 0: // most values are one number: quantised or capped
		flags = append(flags, experiment.FlagZeroVariance)
	default:
		flags = append(flags, experiment.FlagOutlier)
	}
	return flags
}
