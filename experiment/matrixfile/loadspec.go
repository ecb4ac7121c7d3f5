package matrixfile

import (
	"strconv"

	"github.com/ceteris/ceteris/experiment"
)

func loadShape() shape {
	return shape{
		known: words("to request closed open ramp warmup measure timeout connections keep_alive"),
		later: words("requests data streams phases image build command files env reader extract regex json csv slo"),
	}
}

func (r *reader) load(v *value) experiment.LoadSpec {
	l := experiment.LoadSpec{KeepAlive: true}
	if v == nil {
		return l
	}
	l.At = v.at
	if v.kind == scalar && v.text == "none" {
		r.faultAt(v, "", "a study without load is %w", experiment.ErrNotYet)
		return l
	}
	o := r.object(v, loadShape())
	if !v.has("image") { // an external generator names its target itself
		r.require(v, o, "to")
		if !v.has("requests") {
			r.require(v, o, "request")
		}
	}
	l.Service, l.Port = r.address(o["to"])
	r.request(o["request"], &l)
	if o["closed"] != nil {
		l.Closed = r.closed(o["closed"])
	}
	if o["open"] != nil {
		l.Open = r.open(o["open"])
	}
	l.Ramp = r.template(o["ramp"], experiment.DefaultRamp)
	l.Warmup.For = r.phase(o["warmup"], experiment.DefaultWarmup, "a warm-up until steady")
	l.Measure.For = r.phase(o["measure"], experiment.DefaultMeasure, "a fixed number of requests")
	l.Timeout = r.template(o["timeout"], experiment.DefaultTimeout)
	l.Connects = r.template(o["connections"], "")
	l.KeepAlive = r.boolean(o["keep_alive"], true)
	return l
}

// phase reads a length; its mapping form is not yet built.
func (r *reader) phase(v *value, otherwise, what string) experiment.Template {
	if v != nil && v.kind == mapping {
		r.faultAt(v, "", "%s is %w", what, experiment.ErrNotYet)
		return experiment.Literal(otherwise)
	}
	return r.template(v, otherwise)
}

func (r *reader) request(v *value, l *experiment.LoadSpec) {
	if v == nil {
		return
	}
	o := r.object(v, shape{known: words("method path"), later: words("name weight headers body expect slo")})
	r.require(v, o, "path")
	q := experiment.RequestSpec{At: v.at}
	q.Method = r.oneOf(o["method"], "GET", words("GET HEAD POST PUT PATCH DELETE OPTIONS"), nil)
	q.Path = r.template(o["path"], "")
	l.Requests = append(l.Requests, q)
}

func (r *reader) closed(v *value) *experiment.ClosedSpec {
	o := r.object(v, shape{known: words("users think")})
	r.require(v, o, "users")
	return &experiment.ClosedSpec{Users: r.template(o["users"], ""), Think: r.template(o["think"], experiment.DefaultThink)}
}

func (r *reader) open(v *value) *experiment.OpenSpec {
	o := r.object(v, shape{known: words("rate in_flight arrivals when_full")})
	r.require(v, o, "rate")
	r.oneOf(o["arrivals"], "", words("constant"), words("poisson"))
	r.oneOf(o["when_full"], "", words("drop"), words("queue"))
	return &experiment.OpenSpec{
		Rate:     r.template(o["rate"], ""),
		InFlight: r.template(o["in_flight"], strconv.Itoa(experiment.DefaultInFlight)),
	}
}
