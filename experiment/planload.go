package experiment

import (
	"fmt"
	"strconv"
	"time"
)

// Limits of what a generator is asked for.
const (
	maxUsers    = 100_000
	minMeasure  = 100 * time.Millisecond
	minTimeout  = time.Millisecond
	maxInFlight = 1_000_000
	maxWork     = 1_000_000_000
)

func (r *resolver) load(l LoadSpec) Load {
	if l.None {
		return Load{None: true}
	}
	if l.External != nil {
		return r.external(l)
	}
	out := Load{
		Service: l.Service, Port: l.Port, KeepAlive: l.KeepAlive, TLS: l.TLS, HTTP2: l.HTTP2,
		Requests: r.requests(l.Requests),
		Timeout:  value(r, l.Timeout, "load.timeout", atLeast(minTimeout)),
		Closed:   r.closed(l.Closed, "load.closed"),
		Open:     r.open(l.Open, "load.open"),
	}
	if l.Data != nil {
		out.Data = &DataFeed{File: r.m.absolute(l.Data.File), Columns: l.Data.Columns, Rows: l.Data.Rows, SHA256: l.Data.SHA256}
	}
	if l.Phases == nil {
		out.Ramp = value(r, l.Ramp, "load.ramp", ParseDuration)
		r.warmup(l.Warmup, &out)
		r.window(l.Measure, &out)
	}
	for i, s := range l.Streams {
		at := fmt.Sprintf("load.streams[%d]", i)
		out.Streams = append(out.Streams, Stream{
			After: value(r, s.After, at+".after", ParseDuration), Open: *r.open(&s.Open, at+".open"),
		})
	}
	for i, p := range l.Phases {
		out.Phases = append(out.Phases, r.phase(p, fmt.Sprintf("load.phases[%d]", i)))
	}
	out.Connections = out.Concurrency()
	if !l.Connects.IsZero() && !r.unset(l.Connects) {
		out.Connections = value(r, l.Connects, "load.connections", upTo(maxInFlight))
	}
	return out
}

// Concurrency is how many requests can be under way at once.
func (l Load) Concurrency() int {
	most := 0
	of := func(c *ClosedLoad, o *OpenLoad) {
		if c != nil {
			most = max(most, c.Users)
		}
		if o != nil {
			most = max(most, o.InFlight)
		}
	}
	of(l.Closed, l.Open)
	for _, p := range l.Phases {
		of(p.Closed, p.Open)
	}
	for _, s := range l.Streams {
		most += s.Open.InFlight
	}
	return most
}

func (r *resolver) closed(c *ClosedSpec, path string) *ClosedLoad {
	if c == nil {
		return nil
	}
	return &ClosedLoad{
		Users: value(r, c.Users, path+".users", upTo(maxUsers)),
		Think: value(r, c.Think, path+".think", ParseDuration),
	}
}

func (r *resolver) open(o *OpenSpec, path string) *OpenLoad {
	if o == nil {
		return nil
	}
	return &OpenLoad{
		Rate:     value(r, o.Rate, path+".rate", ParseRate),
		InFlight: value(r, o.InFlight, path+".in_flight", upTo(maxInFlight)),
		Poisson:  o.Arrivals == ArrivalsPoisson, Queue: o.WhenFull == WhenFullQueue, CatchUp: o.CatchUp == CatchUpBurst,
	}
}

func (r *resolver) warmup(w WarmupSpec, out *Load) {
	if w.Until != WarmupSteady {
		out.Warmup = value(r, w.For, "load.warmup", ParseDuration)
		return
	}
	out.Warmup = value(r, w.AtLeast, "load.warmup.at_least", ParseDuration)
	out.Steady = value(r, w.AtMost, "load.warmup.at_most", atLeast(minMeasure))
	if out.Warmup > out.Steady && out.Steady > 0 {
		r.fault(w.AtMost, "load.warmup.at_most", fmt.Errorf("%v is shorter than at_least, %v", out.Steady, out.Warmup))
	}
}

func (r *resolver) window(m MeasureSpec, out *Load) {
	if m.Requests.IsZero() {
		out.Measure = value(r, m.For, "load.measure", atLeast(minMeasure))
		return
	}
	work := value(r, m.Requests, "load.measure.requests", func(s string) (int64, error) { return ParseCount(s, 1, maxWork) })
	out.Work = work
	out.Measure = value(r, m.AtMost, "load.measure.at_most", atLeast(minMeasure))
}

func (r *resolver) phase(p PhaseSpec, path string) LoadPhase {
	out := LoadPhase{
		Name: p.Name, Measure: p.Measure,
		Closed: r.closed(p.Closed, path+".closed"), Open: r.open(p.Open, path+".open"),
		For: value(r, p.For, path+".for", atLeast(minMeasure)), Ramp: optional(r, p.Ramp, path+".ramp", ParseDuration),
	}
	if out.Ramp > out.For && out.For > 0 {
		r.fault(p.Ramp, path+".ramp", fmt.Errorf("%v is longer than the phase, %v", out.Ramp, out.For))
	}
	return out
}

func (r *resolver) requests(all []RequestSpec) []Request {
	var out []Request
	for i, q := range all {
		at := requestPath(all, i)
		request := Request{
			Name: q.Name, Method: q.Method, Weight: 1, Path: r.text(q.Path, at+".path"),
			Headers: r.named(q.Headers, at+".headers"), Has: r.text(q.Expect.Has, at+".expect.has"),
		}
		if !r.unset(q.Body) {
			request.Body = r.text(q.Body, at+".body")
		}
		if !q.Weight.IsZero() {
			request.Weight = value(r, q.Weight, at+".weight", parseWeight)
		}
		for _, s := range q.Expect.Status {
			status, err := ParseStatus(s)
			if err != nil {
				r.errs = append(r.errs, &FieldError{At: q.At, Path: at + ".expect.status", Err: err})
			}
			request.Status = append(request.Status, status)
		}
		out = append(out, request)
	}
	return out
}

// requestPath names a request of the load in messages: request is the form for one.
func requestPath(all []RequestSpec, i int) string {
	if len(all) == 1 && all[0].Name == "" {
		return "load.request"
	}
	return fmt.Sprintf("load.requests[%d]", i)
}

func parseWeight(s string) (float64, error) {
	v, err := parseFloat(s)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", s)
	}
	if v <= 0 || v > 1e6 {
		return 0, fmt.Errorf("%q does not lie above 0 and at most at 1,000,000", s)
	}
	return v, nil
}

// ParseStatus reads a response code ("200") or a class of them ("2xx").
func ParseStatus(s string) (Status, error) {
	if len(s) == 3 && s[1:] == "xx" && s[0] >= '1' && s[0] <= '5' {
		class := int(s[0]-'0') * 100
		return Status{From: class, To: class + 99}, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 100 || n > 599 {
		return Status{}, fmt.Errorf("%q is no status (as in 200 or 2xx)", s)
	}
	return Status{From: n, To: n}, nil
}

func atLeast(least time.Duration) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		d, err := ParseDuration(s)
		if err == nil && d < least {
			err = fmt.Errorf("%q is shorter than %v", s, least)
		}
		return d, err
	}
}
