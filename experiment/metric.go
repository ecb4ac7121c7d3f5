package experiment

import (
	"slices"
	"strings"
)

// Unit is a base unit.
type Unit string

// The base units.
const (
	UnitPerSecond Unit = "1/s"
	UnitSeconds   Unit = "s"
	UnitBytes     Unit = "B"
	UnitBytesRate Unit = "B/s"
	UnitCores     Unit = "cores"
	UnitRatio     Unit = "ratio" // a share from 0 to 1
	UnitCount     Unit = "count"
)

// Direction says which way a metric is better.
type Direction string

// The directions. Without one, a difference is "higher" or "lower".
const (
	HigherIsBetter Direction = "higher"
	LowerIsBetter  Direction = "lower"
	NoDirection    Direction = ""
)

// Scale is the scale on which cells are compared.
type Scale string

// The scales: ratios (of logs) for positive metrics, differences for shares and counts
// whose good value is zero, and for what may be negative. A share that is compared by
// its difference matters from 0.1 percentage point on; what else is compared so has no
// smallest difference that matters, so nothing is called equivalent or material.
const (
	ScaleRatio      Scale = "ratio"
	ScaleDifference Scale = "difference"
)

// Metric describes a metric by name.
type Metric struct {
	Name   string
	Unit   Unit
	Better Direction
	Scale  Scale
	// MayBeZero marks a metric with the ratio scale that is positive where something
	// happens, and of which zero is no failure. In a sweep with a counting run where it is
	// zero or negative it has the difference scale, in all cells alike; a cell in which no
	// request succeeds does not decide that. Of a metric that is not marked, as throughput,
	// such a value has no logarithm and is not tested.
	MayBeZero bool
	OnLogs    bool    // the interval of a cell is made on logs (latency quantiles)
	Q         float64 // the quantile, 0 if it is none; a run needs 10/(1-Q) requests for it
	Help      string
}

// requestMetrics are the metrics of the requests that are no quantile.
func requestMetrics() []Metric {
	return []Metric{
		{Name: "throughput", Unit: UnitPerSecond, Better: HigherIsBetter, Help: "successful responses completed inside the window, by its length"},
		{Name: "connects", Unit: UnitPerSecond, Scale: ScaleDifference, Help: "connections opened inside the window, by its length"},
		{Name: "bytes_sent", Unit: UnitBytesRate, MayBeZero: true, Help: "bytes of requests sent inside the window, by its length"},
		{Name: "bytes_received", Unit: UnitBytesRate, MayBeZero: true, Help: "bytes of responses received inside the window, by its length"},
		{Name: "response_bytes", Unit: UnitBytes, Scale: ScaleDifference, Help: "bytes of a successful response, head and body (over HTTP/2 the body alone), mean over those of the window"},
		{Name: "offered", Unit: UnitPerSecond, MayBeZero: true, Help: "intended starts inside the window, by its length"},
		{Name: "sent", Unit: UnitPerSecond, MayBeZero: true, Help: "requests sent inside the window, by its length"},
		{Name: "dropped", Unit: UnitRatio, Better: LowerIsBetter, Scale: ScaleDifference, Help: "arrivals not sent because of the in-flight limit, by those offered"},
		{Name: "error_rate", Unit: UnitRatio, Better: LowerIsBetter, Scale: ScaleDifference, Help: "failed requests, by those done in the window"},
		{Name: "unfinished", Unit: UnitCount, Better: LowerIsBetter, Scale: ScaleDifference, Help: "requests still open when drain ended"},
		{Name: "in_flight", Unit: UnitCount, MayBeZero: true, Help: "requests under way, mean over the window"},
		{Name: "latency_count", Unit: UnitCount, MayBeZero: true, Help: "response times behind the latency quantiles"},
		{Name: "requests_done", Unit: UnitCount, MayBeZero: true, Help: "requests done in the window, successes and failures"},
	}
}

// The generator gives no other of the lateness than this quantile.
const (
	latenessPrefix   = "lateness_"
	latenessQuantile = "p99"
)

// quantilePrefixes are the distributions of which quantiles are named, and what
// they are.
func quantilePrefixes() map[string]string {
	return map[string]string{
		"latency_":        "response time of successes from the intended start",
		"failed_latency_": "response time of failures from the intended start",
		"service_time_":   "response time from the real send",
		latenessPrefix:    "real send minus intended start: the generator's own fault, or the wait for one of too few connections",
	}
}

// serviceMetrics are the metrics of a service, without its name.
func serviceMetrics() []Metric {
	return []Metric{
		{Name: "cpu", Unit: UnitCores, Better: LowerIsBetter, MayBeZero: true, Help: "processor time used in the window, by its length"},
		{Name: "throttled", Unit: UnitRatio, Better: LowerIsBetter, Scale: ScaleDifference, Help: "time in which the CPU limit held it back, by the window's length"},
		{Name: "memory", Unit: UnitBytes, Better: LowerIsBetter, MayBeZero: true, Help: "memory use at the window's end"},
		{Name: "memory_peak", Unit: UnitBytes, Better: LowerIsBetter, MayBeZero: true, Help: "largest memory use from launch to the window's end"},
		{Name: "net_received", Unit: UnitBytesRate, MayBeZero: true, Help: "bytes received, by the window's length"},
		{Name: "net_sent", Unit: UnitBytesRate, MayBeZero: true, Help: "bytes sent, by the window's length"},
		{Name: "log_bytes", Unit: UnitBytes, Better: LowerIsBetter, Scale: ScaleDifference, Help: "bytes logged in the window, by request done"},
		{Name: "log_lines", Unit: UnitCount, Better: LowerIsBetter, Scale: ScaleDifference, Help: "lines logged in the window, by request done"},
		{Name: "ready_seconds", Unit: UnitSeconds, Better: LowerIsBetter, OnLogs: true, Help: "from launch to ready"},
		{Name: "duration", Unit: UnitSeconds, Better: LowerIsBetter, OnLogs: true, Help: "of a job, from launch to end"},
		{Name: "exit", Unit: UnitCount, Scale: ScaleDifference, Help: "exit code"},
		{Name: "oom_kills", Unit: UnitCount, Better: LowerIsBetter, Scale: ScaleDifference, Help: "processes killed for lack of memory, from launch to the window's end"},
		{Name: "restarts", Unit: UnitCount, Better: LowerIsBetter, Scale: ScaleDifference, Help: "times started again, from launch to the window's end"},
		{Name: "steal", Unit: UnitRatio, Better: LowerIsBetter, Scale: ScaleDifference, Help: "processor time that the hypervisor took, by that of all cores"},
		{Name: "busy", Unit: UnitCores, Scale: ScaleDifference, Help: "processor time used by all processes of the host"},
		{Name: "other", Unit: UnitCores, Better: LowerIsBetter, Scale: ScaleDifference, Help: "processor time used by processes that are not part of the run"},
	}
}

// MetricByName describes a metric, alone or of one phase or request (MetricName).
// Unknown names have no direction and no unit, the ratio scale unless they are zero
// somewhere, and known is false.
func MetricByName(name string) (m Metric, known bool) {
	n := SplitMetricName(name)
	m, known = baseMetric(n.Base)
	if strings.Contains(n.Base, ".") && n.Request != "" {
		m, known = Metric{}, false // services do not know requests apart
	}
	m.Name = name
	m.MayBeZero = m.MayBeZero || !known
	return filled(m), known
}

func baseMetric(name string) (Metric, bool) {
	if name == MetricCeiling {
		return Metric{Unit: UnitPerSecond, Better: HigherIsBetter, Help: "achieved where more is offered than can be sustained, mean over the rungs of a ladder that are not"}, true
	}
	if service, base, ok := strings.Cut(name, "."); ok && service != "" {
		i := slices.IndexFunc(serviceMetrics(), func(s Metric) bool { return s.Name == base })
		if i < 0 {
			return Metric{}, false
		}
		return serviceMetrics()[i], true
	}
	for _, r := range requestMetrics() {
		if r.Name == name {
			return r, true
		}
	}
	for prefix, help := range quantilePrefixes() {
		rest, ok := strings.CutPrefix(name, prefix)
		q, known := quantileByName(rest)
		switch {
		case !ok || !known:
		case q.Name != maximum:
			return Metric{Unit: UnitSeconds, Better: LowerIsBetter, MayBeZero: prefix == latenessPrefix, OnLogs: true, Q: q.Q, Help: help}, true
		case prefix != latenessPrefix:
			return Metric{Unit: UnitSeconds, Better: LowerIsBetter, OnLogs: true, Help: "largest " + help}, true
		}
	}
	return Metric{}, false
}

func filled(m Metric) Metric {
	if m.Scale == "" {
		m.Scale = ScaleRatio
	}
	return m
}
