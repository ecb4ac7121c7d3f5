package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// taken is a metric that a step or a page brings.
type taken struct {
	name   string // SERVICE.NAME, or NAME alone
	unit   Unit
	better Direction
	path   string
	at     Pos
	points int // of its series in a run; of more than two, two
}

// Declared gives the metrics that the matrix itself brings: those of collect, scrape and
// extract, and those derived from others.
func (m *Matrix) Declared() []Metric {
	var out []Metric
	for _, t := range m.brought() {
		out = append(out, Metric{Name: t.name, Unit: t.unit, Better: t.better})
	}
	for _, d := range m.Metrics {
		out = append(out, Metric{Name: d.Name, Unit: d.Unit, Better: d.Better})
	}
	return out
}

// brought lists the metrics that collect, scrape and extract bring.
func (m *Matrix) brought() []taken {
	var out []taken
	for _, s := range m.Subject.Services {
		at := "subject.services." + s.Name
		for i, c := range s.Collect {
			out = append(out, c.brings(s.Name+".", fmt.Sprintf("%s.collect[%d]", at, i))...)
		}
		for i, sc := range s.Scrape {
			for _, one := range sc.Metrics {
				out = append(out, taken{s.Name + "." + one.Name, one.Unit, one.Better, fmt.Sprintf("%s.scrape[%d].metrics.%s", at, i, one.Name), sc.At, 2})
			}
		}
	}
	for i, c := range m.Collect {
		out = append(out, c.brings("", fmt.Sprintf("collect[%d]", i))...)
	}
	_, own := m.Load.extracted()
	return append(out, own...)
}

// brings names the metrics of a step of collect that is written under a service.
func (c Collect) brings(prefix, path string) []taken {
	switch {
	case !c.Image.IsZero():
		prefix = ""
	case c.In != "":
		prefix = c.In + "."
	}
	points := 1
	if len(c.Delta) > 0 || len(c.Moments) > 1 || slices.Contains(c.Moments, MomentDuring) {
		points = 2
	}
	var out []taken
	for _, name := range c.Takes() {
		out = append(out, taken{prefix + name, c.Unit, c.Better, path, c.At, points})
	}
	return out
}

// checkMetrics checks the metrics that the matrix declares, and the one that is
// compared.
func (v view) checkMetrics(f *faults) {
	names := map[string]bool{}
	for _, t := range v.brought() {
		_, base, ofService := strings.Cut(t.name, ".")
		if !ofService {
			base = t.name
		}
		_, known := MetricByName(t.name)
		switch {
		case !valueName.MatchString(base):
			f.add(t.at, t.path, "a letter or _, then letters, digits and _", "%q is no name of a metric", base)
		case known || slices.Contains(requestSeries(), t.name):
			f.add(t.at, t.path, "", "%s is a metric that ceteris takes itself", t.name)
		case names[t.name]:
			f.add(t.at, t.path, "", "there is a metric %s already", t.name)
		}
		names[t.name] = true
	}
	for _, d := range v.Metrics {
		v.checkDerived(f, d, names)
		names[d.Name] = true
	}
	at := Pos{File: v.Origin.File}
	if v.Judge.Metric == "" {
		if v.Load.None {
			f.lack("judge", at, "judge.metric", "as in SERVICE.ready_seconds", "missing: without load there is no throughput")
		} else {
			f.lack("load", at, "judge.metric", "name one of the values that it takes", "missing: load.extract takes no throughput")
		}
		return
	}
	err := v.checkMetric(v.Judge.Metric)
	if hint, ok := errors.AsType[*HintError](err); ok {
		f.lack("load", at, "judge.metric", hint.Hint, "%w", hint.Err)
	} else if err != nil {
		f.lack("load", at, "judge.metric", "", "%w", err)
	}
}

func (v view) checkDerived(f *faults, d Derived, names map[string]bool) {
	path := "metrics." + d.Name
	_, known := MetricByName(d.Name)
	switch {
	case !valueName.MatchString(d.Name):
		f.add(d.At, path, "a letter or _, then letters, digits and _", "%q is no name of a metric", d.Name)
	case known:
		f.add(d.At, path, "", "%s is a metric that ceteris takes itself", d.Name)
	case names[d.Name]:
		f.add(d.At, path, "", "there is a metric %s already", d.Name)
	}
	expr, err := ParseExpr(d.Of)
	if err != nil {
		f.add(d.At, path+".of", "", "%w", err)
		return
	}
	for _, u := range expr.uses() {
		if slices.ContainsFunc(v.Metrics, func(o Derived) bool { return o.Name == u.name }) {
			f.add(d.At, path+".of", "write its expression out", "%s is itself derived", u.name)
			continue
		}
		err := v.checkExprUse(u)
		if hint, ok := errors.AsType[*HintError](err); ok {
			f.lack("subject", d.At, path+".of", hint.Hint, "%w", hint.Err)
		} else if err != nil {
			f.lack("subject", d.At, path+".of", "", "%w", err)
		}
	}
}

// requestSeries are the series of requests.
func requestSeries() []string {
	return []string{"offered", "sent", "done", "failed", "dropped", "in_flight", "latency_p50", "latency_p99", "latency_max"}
}

// hasSeries reports whether the load tells of slices; that of others may, if its output
// tells of each request.
func (l *LoadSpec) hasSeries() bool {
	return !l.None && (l.External == nil || len(l.External.Extract) == 0)
}

// checkExprUse is checkMetric for what an expression wants: where that is a series, there
// must be one, of as many points.
func (m *Matrix) checkExprUse(u exprUse) error {
	if u.points == 0 {
		return m.checkMetric(u.name)
	}
	if slices.Contains(requestSeries(), u.name) && m.Load.hasSeries() && (u.name != "dropped" || m.Load.Closed == nil) {
		return nil
	}
	brought := m.brought()
	i := slices.IndexFunc(brought, func(t taken) bool { return t.name == u.name })
	switch {
	case i < 0:
		if err := m.checkMetric(u.name); err != nil {
			return err
		}
		return WithHint(fmt.Errorf("%s has a value in the window, and no series over which a function could look", u.name),
			"series have "+strings.Join(requestSeries(), ", ")+" and what scrape and collect bring")
	case brought[i].points < u.points:
		return WithHint(fmt.Errorf("%s is asked once in a run, and its growth wants two answers", u.name), "as in at: [start, end]")
	default:
		return nil
	}
}

// checkMetric wants a metric by which cells can be compared: one that a run of
// this matrix observes in the measured window. The error may be a *HintError.
func (m *Matrix) checkMetric(name string) error {
	brought := m.brought()
	own := func(name string) bool {
		return slices.ContainsFunc(brought, func(t taken) bool { return t.name == name }) ||
			slices.ContainsFunc(m.Metrics, func(d Derived) bool { return d.Name == name })
	}
	n := SplitMetricName(name)
	switch {
	case own(name):
		return nil
	case name == MetricCeiling:
		if m.Rung() == "" {
			return WithHint(errors.New("there is no ladder, so there is no ceiling"), `as in across: [rate] and open: {rate: "${rate}/s"}`)
		}
		return nil
	}
	if err := m.checkPart(n); err != nil {
		return err
	}
	if own(n.Base) {
		return WithHint(fmt.Errorf("%s is told of the whole window, of no phase or request alone", n.Base), "write "+n.Base)
	}
	if service, base, ofService := strings.Cut(n.Base, "."); ofService {
		return m.checkServiceMetric(n.Phase, service, base)
	}
	_, known := MetricByName(n.Base)
	rest, quantile := m.observedRequests()
	names := append(rest, quantile...)
	switch {
	case m.Load.None && known:
		return WithHint(fmt.Errorf("nothing is sent, so no run observes %s", n.Base), "as in SERVICE.ready_seconds")
	case slices.Contains(names, n.Base) && len(m.Load.Phases) > 0 && n.Phase == "":
		hint := ""
		if i := slices.IndexFunc(m.Load.Phases, func(p PhaseSpec) bool { return p.Measure }); i >= 0 {
			hint = "as in " + m.Load.Phases[i].Name + ":" + n.Base
		}
		return WithHint(errors.New("the load has phases, each with metrics of its own"), hint)
	case slices.Contains(names, n.Base):
		return nil
	case known:
		hint := "observed are " + strings.Join(rest, ", ") + " and quantiles such as latency_p99"
		if len(quantile) == 0 {
			hint = "load.extract takes what is observed"
		}
		return WithHint(fmt.Errorf("no good run of this matrix observes %s in the measured window", n.Base), hint)
	default:
		for _, d := range m.Metrics {
			names = append(names, d.Name)
		}
		return WithHint(fmt.Errorf("there is no metric %q", n.Base), didYouMean(n.Base, names))
	}
}

// checkPart wants the phase to be measured and the request to be named.
func (m *Matrix) checkPart(n MetricName) error {
	if n.Phase != "" {
		var names []string
		for _, p := range m.Load.Phases {
			if p.Name == n.Phase && !p.Measure {
				return WithHint(fmt.Errorf("phase %s is not measured", n.Phase), "add measure: true")
			}
			names = append(names, p.Name)
		}
		if !slices.Contains(names, n.Phase) {
			return WithHint(fmt.Errorf("the load has no phase %q", n.Phase), didYouMean(n.Phase, names))
		}
	}
	if n.Request == "" {
		return nil
	}
	if strings.Contains(n.Base, ".") {
		return fmt.Errorf("services do not know requests apart")
	}
	var names []string
	for _, q := range m.Load.Requests {
		if q.Name != "" {
			names = append(names, q.Name)
		}
	}
	if !slices.Contains(names, n.Request) {
		return WithHint(fmt.Errorf("no request of the load has the name %q", n.Request), didYouMean(n.Request, names))
	}
	return nil
}

func (m *Matrix) checkServiceMetric(phase, service, base string) error {
	_, known := MetricByName(service + "." + base)
	names, window := m.observedOf(service), "the measured window"
	if phase != "" {
		names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(partRates(), n) })
		window = "a phase alone"
	}
	switch {
	case slices.Contains(names, base):
		return nil
	case m.service(service) == nil && !slices.Contains(reservedNames(), service):
		return WithHint(fmt.Errorf("there is no service %q", service), didYouMean(service, m.serviceNames()))
	case len(names) == 0:
		return fmt.Errorf("no run of this matrix has a service %s", service)
	case known:
		return WithHint(fmt.Errorf("no good run of this matrix observes %s.%s in %s", service, base, window),
			"observed of "+service+": "+strings.Join(names, ", "))
	default:
		for _, t := range m.brought() {
			if of, name, ok := strings.Cut(t.name, "."); ok && of == service {
				names = append(names, name)
			}
		}
		return WithHint(fmt.Errorf("there is no metric %q of a service", base), didYouMean(base, names))
	}
}

// observedRequests lists the metrics of requests that the generator reports,
// quantiles and maxima apart.
func (m *Matrix) observedRequests() (rest, quantile []string) {
	if m.Load.None {
		return nil, nil
	}
	if x := m.Load.External; x != nil && len(x.Extract) > 0 {
		known, _ := m.Load.extracted()
		return known, nil
	}
	for _, r := range requestMetrics() {
		if r.Name != "dropped" || m.Load.Closed == nil { // a user waits, and drops nothing
			rest = append(rest, r.Name)
		}
	}
	for prefix := range quantilePrefixes() {
		if prefix == latenessPrefix {
			quantile = append(quantile, prefix+latenessQuantile)
			continue
		}
		for _, q := range Quantiles() {
			quantile = append(quantile, prefix+q.Name)
		}
	}
	slices.Sort(quantile)
	return rest, quantile
}

// partRates are the metrics of services that are told for each measured phase of the
// load, too: those of counters that grow.
func partRates() []string { return []string{"cpu", "throttled", "net_received", "net_sent"} }

// observedOf lists the metrics of a service, or of what has a reserved name, that
// are observed in the window, without its name. Where the runner is not chosen yet,
// each may be. A study without load has no window: what is left is how long things
// took, and what memory they then had. A job has ended before there is a window.
func (m *Matrix) observedOf(service string) []string {
	containers := m.Runner != RunnerProcess
	s := m.service(service)
	switch {
	case s == nil && !slices.Contains(reservedNames(), service):
		return nil
	case m.Load.None && s == nil:
		return nil
	case s != nil && s.Job:
		return []string{"duration", "exit"}
	case service == HostName:
		return []string{"busy", "other", "steal"}
	case service == ConductorName, service == EngineName && containers:
		return []string{"cpu"}
	case service == EngineName, service == LinkProxyName && len(m.Subject.Links) == 0:
		return nil
	}
	levels := []string{"memory", "memory_peak", "ready_seconds"}
	if containers { // only an engine remembers these
		levels = append(levels, "oom_kills", "restarts")
	}
	if m.Load.None {
		return levels
	}
	names := []string{"cpu", "log_bytes", "log_lines"}
	if containers { // only an engine counts what it throttles and the network
		names = append(names, "net_received", "net_sent", "throttled")
	}
	return append(names, levels...)
}
