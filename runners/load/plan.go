package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// The limits of a plan.
const (
	minWindow   = time.Millisecond // at_ms of slices are whole
	maxUsers    = 100_000
	maxInFlight = 1_000_000
	maxRate     = 1e7 // 1/s
	maxRequests = 100
	maxStreams  = 100
	maxPhases   = 100
)

// ParsePlan reads an experiment.Load from JSON, fills Connections where it is 0
// (as many as can be under way at once) and checks it. The error is one line and
// names the fields of all faults.
func ParsePlan(data []byte) (experiment.Load, error) {
	var l experiment.Load
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return l, fmt.Errorf("the plan is no load in JSON: %w", err)
	}
	if d.More() {
		return l, errors.New("the plan holds more than one JSON value")
	}
	if l.Connections == 0 {
		l.Connections = l.Concurrency()
	}
	if faults := checkPlan(l); len(faults) > 0 {
		return l, errors.New("the plan is wrong: " + strings.Join(faults, "; "))
	}
	return l, nil
}

// faults gathers what is wrong, each beginning with its field.
type faults []string

func (f *faults) check(ok bool, format string, a ...any) {
	if !ok {
		*f = append(*f, fmt.Sprintf(format, a...))
	}
}

func (f *faults) duration(field string, value, least time.Duration) {
	f.check(value >= least && value <= experiment.MaxDuration, "%s %s lies outside %s to %s", field, value, least, experiment.MaxDuration)
}

func (f *faults) closed(field string, c *experiment.ClosedLoad) {
	if c == nil {
		return
	}
	f.check(c.Users >= 1 && c.Users <= maxUsers, "%s.users %d lies outside 1 to %d", field, c.Users, maxUsers)
	f.duration(field+".think", c.Think, 0)
}

func (f *faults) open(field string, o *experiment.OpenLoad) {
	if o == nil {
		return
	}
	f.check(o.Rate > 0 && o.Rate <= maxRate, "%s.rate %g lies outside 0 to %g", field, o.Rate, maxRate)
	f.check(o.InFlight >= 1 && o.InFlight <= maxInFlight, "%s.in_flight %d lies outside 1 to %d", field, o.InFlight, maxInFlight)
}

func checkPlan(l experiment.Load) faults {
	var f faults
	f.check(!l.None, "none: without a load there is no generator")
	f.targets(l)
	f.requests(l)
	f.closed("closed", l.Closed)
	f.open("open", l.Open)
	for i := range l.Streams {
		field := fmt.Sprintf("streams[%d]", i)
		f.duration(field+".after", l.Streams[i].After, 0)
		f.open(field+".open", &l.Streams[i].Open)
	}
	f.check(len(l.Streams) <= maxStreams, "streams: more than %d", maxStreams)
	if l.Phases == nil {
		f.window(l)
	} else {
		f.phases(l)
	}
	f.duration("timeout", l.Timeout, 1)
	f.check(l.KeepAlive || !l.HTTP2, "keep_alive: HTTP/2 keeps its connections")
	f.check(l.Connections >= 1, "connections %d is less than 1", l.Connections)
	return f
}

func (f *faults) targets(l experiment.Load) {
	f.check(len(l.Targets) > 0, "targets: none")
	for _, target := range l.Targets {
		if err := checkTarget(target); err != nil {
			f.check(false, "targets: %v", err)
		}
	}
}

func (f *faults) requests(l experiment.Load) {
	f.check(len(l.Requests) > 0 && len(l.Requests) <= maxRequests, "requests: %d, and 1 to %d are wanted", len(l.Requests), maxRequests)
	names := map[string]bool{}
	for i, q := range l.Requests {
		field := fmt.Sprintf("requests[%d]", i)
		f.check(q.Weight > 0 && q.Weight <= math.MaxFloat32, "%s.weight %g is no number above 0", field, q.Weight)
		f.check(!names[q.Name], "%s.name %q is there twice", field, q.Name)
		f.check(len(l.Requests) == 1 || q.Name != "", "%s.name: one of several wants one", field)
		f.check(q.Name == "" || experiment.ValidName(q.Name), "%s.name %q is none", field, q.Name)
		names[q.Name] = true
		for _, s := range q.Status {
			f.check(s.From >= 100 && s.From <= s.To && s.To <= 599, "%s.status %d to %d lies outside 100 to 599", field, s.From, s.To)
		}
		if _, err := compileOne(q, columnsOf(l), "target", l.KeepAlive); err != nil {
			f.check(false, "%s.%v", field, err)
		}
	}
}

// window checks a load with one window.
func (f *faults) window(l experiment.Load) {
	f.check((l.Closed == nil) != (l.Open == nil), "exactly one of closed, open and phases is wanted")
	f.check(l.Open != nil || len(l.Streams) == 0, "streams: they go with open")
	f.duration("ramp", l.Ramp, 0)
	f.duration("warmup", l.Warmup, 0)
	f.duration("steady", l.Steady, 0)
	f.check(l.Steady == 0 || l.Steady >= l.Warmup, "steady %s is shorter than warmup, %s", l.Steady, l.Warmup)
	f.duration("measure", l.Measure, minWindow)
	f.check(l.Work >= 0, "work %d is negative", l.Work)
}

// phases checks a load that declares its own.
func (f *faults) phases(l experiment.Load) {
	f.check(l.Closed == nil && l.Open == nil, "exactly one of closed, open and phases is wanted")
	f.check(l.Ramp == 0 && l.Warmup == 0 && l.Steady == 0 && l.Measure == 0 && l.Work == 0, "phases: ramp, warmup, steady, measure and work go with one window")
	f.check(len(l.Phases) <= maxPhases, "phases: more than %d", maxPhases)
	names, measured := map[string]bool{}, 0
	for i, p := range l.Phases {
		field := fmt.Sprintf("phases[%d]", i)
		f.check(experiment.ValidName(p.Name), "%s.name %q is none", field, p.Name)
		f.check(!names[p.Name], "%s.name %q is there twice", field, p.Name)
		names[p.Name] = true
		f.check(p.Closed == nil || p.Open == nil, "%s: one of closed and open is wanted, or neither", field)
		f.closed(field+".closed", p.Closed)
		f.open(field+".open", p.Open)
		f.duration(field+".for", p.For, minWindow)
		f.duration(field+".ramp", p.Ramp, 0)
		f.check(p.Ramp <= p.For, "%s.ramp %s is longer than the phase, %s", field, p.Ramp, p.For)
		if p.Measure {
			measured++
		}
	}
	f.check(measured > 0, "phases: none is measured")
}

func checkTarget(target string) error {
	host, port, err := net.SplitHostPort(target)
	if err != nil || host == "" {
		return fmt.Errorf("%q is no HOST:PORT", target)
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == '/' || r == 0x7f }) {
		return fmt.Errorf("%q is no host", host)
	}
	_, err = experiment.ParsePort(port)
	return err
}
