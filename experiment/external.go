package experiment

import (
	"fmt"
	"slices"
	"time"
)

// DefaultExternalWithin is how long a load generator of others may take beside its
// warm-up and its window.
const DefaultExternalWithin = 10 * time.Minute

// FormatExtract is the LoadResult.Format of an output that no reader knows, out of which
// values were taken.
const FormatExtract = "extract"

// ExternalSpec declares a load generator of others: a service that drives the load by
// itself and ends, and how its result is read. Exactly one of Reader and Extract is set.
type ExternalSpec struct {
	Service ServiceSpec `json:"service"`           // GeneratorName
	Reader  string      `json:"reader,omitempty"`  // one of OutputReaders
	Extract []Step      `json:"extract,omitempty"` // they take values, and ask nothing
	Within  Template    `json:"within,omitzero"`   // from its launch to its end, at most; empty: DefaultExternalWithin beside warm-up and window
}

// External is the load generator of others of one cell.
type External struct {
	Service Service
	Reader  string
	Extract []Step
	Within  time.Duration
}

// Takes reports whether the metric is taken from the result, which may hold any where a
// reader knows it.
func (x *ExternalSpec) Takes(metric string) bool {
	return len(x.Extract) == 0 || slices.ContainsFunc(x.Extract, func(s Step) bool { return slices.Contains(s.Takes(), metric) })
}

// OutputReaders are the names of the tools whose output is read, sorted.
func OutputReaders() []string {
	return []string{
		"bombardier", "fortio", "h2load", "hey", "jmeter", "k6", "ngrinder", "pgbench", "redis-benchmark", "vegeta", "wrk", "wrk2",
	}
}

// OwnGenerator reports whether ceteris' own generator drives the load of some cell.
func (m *Matrix) OwnGenerator() bool {
	own := func(l LoadSpec) bool { return !l.None && l.External == nil }
	return own(m.Load) || slices.ContainsFunc(m.Variants, func(v Variant) bool { return own(v.Load) })
}

// generator gives the service that drives the load, if it is one of others.
func (l *LoadSpec) generator() *ServiceSpec {
	if l.External == nil {
		return nil
	}
	return &l.External.Service
}

// launched finds a service of the subject, or the generator.
func (m *Matrix) launched(name string) *ServiceSpec {
	if g := m.Load.generator(); g != nil && name == GeneratorName {
		return g
	}
	return m.service(name)
}

func (r *resolver) external(l LoadSpec) Load {
	x := l.External
	out := Load{
		Service: l.Service, Port: l.Port,
		Warmup:  value(r, l.Warmup.For, "load.warmup", ParseDuration),
		Measure: optional(r, l.Measure.For, "load.measure", atLeast(minMeasure)),
	}
	within := out.Warmup + out.Measure + DefaultExternalWithin
	if !x.Within.IsZero() && !r.unset(x.Within) {
		within = value(r, x.Within, "load.within", atLeast(minMeasure))
		if least := out.Warmup + out.Measure; within < least && within > 0 {
			r.fault(x.Within, "load.within", fmt.Errorf("%v is shorter than warm-up and window together, %v", within, least))
		}
	}
	out.External = &External{Service: r.service(x.Service, "load"), Reader: x.Reader, Extract: x.Extract, Within: within}
	return out
}

// checkExternal checks a load generator of others like a service, and that its result is
// read in one way.
func (m *Matrix) checkExternal(f *faults) {
	l, x := m.Load, m.Load.External
	if l.Service != "" && m.checkPort(f, l.At, "load.to", l.Service, l.Port) {
		m.checkTarget(f)
	}
	m.checkSource(f, &x.Service, "load")
	x.Service.checkPaths(f, "load")
	x.Service.Container.check(f, x.Service.At, "load.container")
	switch {
	case x.Reader == "" && len(x.Extract) == 0:
		f.lack("load", l.At, "load.reader", `as in reader: k6, or extract: {regex: '(?P<throughput>[0-9.]+)/s'}`, "missing: nothing says how the result is read")
	case x.Reader != "" && len(x.Extract) > 0:
		f.add(l.At, "load.extract", "", "stands beside reader: a result is read in one way")
	case x.Reader != "" && !slices.Contains(OutputReaders(), x.Reader):
		f.add(l.At, "load.reader", didYouMean(x.Reader, OutputReaders()), "no reader is called %q", x.Reader)
	}
	taken := map[string]bool{}
	for i := range x.Extract {
		m.checkTaking(f, &x.Extract[i], extractPath(x, i), taken)
	}
}

// checkTaking checks what one way of reading takes from the result.
func (m *Matrix) checkTaking(f *faults, s *Step, path string, taken map[string]bool) {
	checkExtracts(f, placedStep{Step: s, path: path, why: forCollect})
	names := s.Takes()
	if len(names) == 0 && !f.at(path+".regex") {
		f.lack(path, s.At, path, `as in json: {throughput: .rate}`, "takes no value")
	}
	for _, name := range names {
		metric, known := requestMetric(name)
		switch {
		case taken[name] && known: // of others, checkMetrics says it
			f.add(s.At, path, "", "%s is taken twice", name)
		case known && s.Unit != "" && s.Unit != metric.Unit:
			f.add(s.At, path+".unit", "", "%s is in %s", name, metric.Unit)
		case known && s.Better != NoDirection:
			f.add(s.At, path+".better", "", "which way %s is better is known", name)
		}
		taken[name] = true
	}
}

// requestMetric describes a metric that every load has.
func requestMetric(name string) (Metric, bool) {
	m, known := MetricByName(name)
	return m, known && name != MetricCeiling && valueName.MatchString(name)
}

// extractPath names one way of reading: a single one stands there by itself.
func extractPath(x *ExternalSpec, i int) string {
	if len(x.Extract) == 1 {
		return "load.extract"
	}
	return fmt.Sprintf("load.extract[%d]", i)
}

// extracted lists the values that are taken from the result: those that are metrics of
// every load, and those that the matrix brings.
func (l *LoadSpec) extracted() (known []string, own []taken) {
	if l.External == nil {
		return nil, nil
	}
	for i, s := range l.External.Extract {
		for _, name := range s.Takes() {
			if _, is := requestMetric(name); is {
				known = append(known, name)
				continue
			}
			own = append(own, taken{name, s.Unit, s.Better, extractPath(l.External, i), s.At, 1})
		}
	}
	return known, own
}
