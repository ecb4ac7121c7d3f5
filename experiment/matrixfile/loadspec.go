package matrixfile

import (
	"slices"
	"strconv"

	"github.com/ceteris/ceteris/experiment"
)

// shapeKeys are the fields of a load that says what ceteris' own generator sends, and
// how.
const shapeKeys = "request requests data closed open streams phases ramp timeout connections keep_alive tls http"

func loadShape() shape {
	return shape{
		known: words("to warmup measure " + shapeKeys),
		later: words(externalKeys), // for who means one of them: with any, the load has another shape
	}
}

// noLoad is the whole load of a study of starts and jobs.
const noLoad = "none"

func (r *reader) load(v *value) experiment.LoadSpec {
	l := experiment.LoadSpec{KeepAlive: true}
	if v == nil {
		return l
	}
	l.At = v.at
	if v.kind == scalar {
		r.oneOf(v, "", []string{noLoad}, nil)
		return experiment.LoadSpec{None: true, At: v.at}
	}
	if isExternal(v) {
		return r.external(v)
	}
	o := r.object(v, loadShape())
	r.require(v, o, "to")
	l.Service, l.Port = r.address(o["to"])
	l.Requests = r.requests(v, o)
	l.Data = r.data(o["data"])
	if o["closed"] != nil {
		l.Closed = r.closed(o["closed"])
	}
	if o["open"] != nil {
		open := r.open(o["open"])
		l.Open = &open
	}
	l.Streams = r.streams(o["streams"])
	l.Timeout = r.template(o["timeout"], experiment.DefaultTimeout)
	l.Connects = r.template(o["connections"], "")
	l.KeepAlive = r.boolean(o["keep_alive"], true)
	l.TLS = r.tls(o["tls"])
	l.HTTP2 = r.oneOf(o["http"], http1, httpVersions(), nil) == http2
	if o["phases"] != nil {
		l.Phases = r.phases(o["phases"])
		for _, name := range words("closed open streams ramp warmup measure") {
			if o[name] != nil {
				r.faultAt(o[name], "each phase has its own", "stands beside phases")
			}
		}
		l.Closed, l.Open, l.Streams = nil, nil, nil
		return l
	}
	l.Ramp = r.template(o["ramp"], experiment.DefaultRamp)
	l.Warmup = r.warmup(o["warmup"])
	l.Measure = r.measure(o["measure"])
	return l
}

func warmupShape() shape { return shape{known: words("until at_least at_most")} }

// Defaults of a warm-up until the rate is steady.
const (
	steadyAtLeast = "2s"
	steadyAtMost  = "60s"
)

// warmup reads a length, or what ends the warm-up.
func (r *reader) warmup(v *value) experiment.WarmupSpec {
	if v == nil || v.kind != mapping {
		return experiment.WarmupSpec{For: r.template(v, experiment.DefaultWarmup)}
	}
	o := r.object(v, warmupShape())
	r.require(v, o, "until")
	return experiment.WarmupSpec{
		Until:   r.oneOf(o["until"], experiment.WarmupSteady, []string{experiment.WarmupSteady}, nil),
		AtLeast: r.template(o["at_least"], steadyAtLeast),
		AtMost:  r.template(o["at_most"], steadyAtMost),
	}
}

func measureShape() shape { return shape{known: words("requests at_most")} }

// measure reads a length, or a number of requests.
func (r *reader) measure(v *value) experiment.MeasureSpec {
	if v == nil || v.kind != mapping {
		return experiment.MeasureSpec{For: r.template(v, experiment.DefaultMeasure)}
	}
	o := r.object(v, measureShape())
	r.require(v, o, "requests")
	return experiment.MeasureSpec{
		Requests: r.template(o["requests"], "1"),
		AtMost:   r.template(o["at_most"], experiment.DefaultFixedAtMost.String()),
	}
}

func closedShape() shape { return shape{known: words("users think")} }

func (r *reader) closed(v *value) *experiment.ClosedSpec {
	o := r.object(v, closedShape())
	r.require(v, o, "users")
	return &experiment.ClosedSpec{Users: r.template(o["users"], ""), Think: r.template(o["think"], experiment.DefaultThink)}
}

func openShape() shape { return shape{known: words("rate in_flight arrivals when_full catch_up")} }

func (r *reader) open(v *value) experiment.OpenSpec {
	o := r.object(v, openShape())
	r.require(v, o, "rate")
	s := experiment.OpenSpec{
		Rate:     r.template(o["rate"], ""),
		InFlight: r.template(o["in_flight"], strconv.Itoa(experiment.DefaultInFlight)),
		Arrivals: r.oneOf(o["arrivals"], "", arrivals(), nil),
		WhenFull: r.oneOf(o["when_full"], "", whenFull(), nil),
		CatchUp:  r.oneOf(o["catch_up"], "", catchUps(), nil),
	}
	if s.Arrivals == experiment.ArrivalsConstant { // said or not, it is the same
		s.Arrivals = ""
	}
	if s.WhenFull == experiment.WhenFullDrop {
		s.WhenFull = ""
	}
	if s.CatchUp == catchSpread {
		s.CatchUp = ""
	}
	return s
}

func arrivals() []string {
	return []string{experiment.ArrivalsConstant, experiment.ArrivalsPoisson}
}
func whenFull() []string { return []string{experiment.WhenFullDrop, experiment.WhenFullQueue} }

func streamShape() shape { return shape{known: words("after open")} }

func (r *reader) streams(v *value) []experiment.StreamSpec {
	var out []experiment.StreamSpec
	for _, item := range r.items(v, "as in [{after: 5s, open: {rate: 100/s}}]") {
		o := r.object(item, streamShape())
		r.require(item, o, "after", "open")
		s := experiment.StreamSpec{After: r.template(o["after"], "0s"), At: item.at}
		if o["open"] != nil {
			s.Open = r.open(o["open"])
		}
		out = append(out, s)
	}
	return out
}

func phaseShape() shape { return shape{known: words("name closed open idle for ramp measure")} }

func (r *reader) phases(v *value) []experiment.PhaseSpec {
	out := []experiment.PhaseSpec{} // there are phases, be they none
	for _, item := range r.items(v, "as in [{name: spike, open: {rate: 900/s}, for: 10s, measure: true}]") {
		out = append(out, r.phase(item))
	}
	return out
}

func (r *reader) phase(v *value) experiment.PhaseSpec {
	o := r.object(v, phaseShape())
	r.require(v, o, "name")
	p := experiment.PhaseSpec{
		For:     r.template(o["for"], experiment.DefaultMeasure),
		Ramp:    r.template(o["ramp"], experiment.DefaultRamp),
		Measure: r.boolean(o["measure"], false),
		At:      v.at,
	}
	p.Name, _ = r.plain(o["name"])
	if o["closed"] != nil {
		p.Closed = r.closed(o["closed"])
	}
	if o["open"] != nil {
		open := r.open(o["open"])
		p.Open = &open
	}
	var shapes []string
	for _, name := range words("closed open") {
		if o[name] != nil {
			shapes = append(shapes, name)
		}
	}
	if r.boolean(o["idle"], false) {
		shapes = append(shapes, "idle")
	}
	switch {
	case v.kind != mapping:
	case len(shapes) == 0 && !slices.ContainsFunc(words("closed open idle"), v.has):
		r.faultAt(v, "as in open: {rate: 900/s}", "is neither closed, open nor idle: true")
	case len(shapes) > 1:
		r.faultAt(v, "", "is both %s and %s", shapes[0], shapes[1])
	}
	return p
}
