package experiment

import (
	"slices"
	"strings"
)

// ObjectivePrefix marks the comparison of a cell with a service level: the row of the
// objective latency_p95{search} is slo:latency_p95{search}. No phase of a load has
// this name.
const ObjectivePrefix = "slo:"

// MetricCeiling is the metric of a ladder: the rate that is achieved where more is
// offered than can be sustained.
const MetricCeiling = "ceiling"

// MetricName is the name of a metric in its parts: PHASE:BASE{REQUEST}. Base is
// throughput, latency_p99, SERVICE.cpu; Phase and Request may be empty.
type MetricName struct {
	Phase   string // of the load; with ObjectivePrefix it begins the phase
	Base    string
	Request string
}

// SplitMetricName takes a name apart. Every name has parts, known or not.
func SplitMetricName(name string) MetricName {
	var n MetricName
	if head, request, ok := strings.Cut(name, "{"); ok && strings.HasSuffix(request, "}") {
		name, n.Request = head, strings.TrimSuffix(request, "}")
	}
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		n.Phase, name = name[:i], name[i+1:]
	}
	n.Base = name
	return n
}

// String gives the name again.
func (n MetricName) String() string {
	out := n.Base
	if n.Phase != "" {
		out = n.Phase + ":" + out
	}
	if n.Request != "" {
		out += "{" + n.Request + "}"
	}
	return out
}

// Of names another metric of the same phase and request.
func (n MetricName) Of(base string) string {
	n.Base = base
	return n.String()
}

// Row names the comparison of a cell with the objective.
func (o Objective) Row() string { return ObjectivePrefix + o.Metric }

// Metric describes a metric of the sweep: one that its matrix declares (which may be
// zero, unless it declares a scale), or one that every sweep may have, alone or of one
// phase or request. Of others known is false; see MetricByName.
func (s Sweep) Metric(name string) (m Metric, known bool) {
	base := SplitMetricName(name).Base
	for _, n := range []string{name, base} {
		if i := slices.IndexFunc(s.Declared, func(d Metric) bool { return d.Name == n }); i >= 0 {
			m = s.Declared[i]
			m.MayBeZero = m.MayBeZero || m.Scale == ""
			m = filled(m)
			m.Name = name
			return m, true
		}
	}
	return MetricByName(name)
}
