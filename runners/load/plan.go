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
)

// ParsePlan reads an experiment.Load from JSON, fills Connections where it is 0
// (users, or in_flight) and checks it. The error is one line and names all
// faults.
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
		switch {
		case l.Closed != nil:
			l.Connections = l.Closed.Users
		case l.Open != nil:
			l.Connections = l.Open.InFlight
		}
	}
	return l, checkPlan(l)
}

func checkPlan(l experiment.Load) error {
	var faults []string
	check := func(ok bool, format string, a ...any) {
		if !ok {
			faults = append(faults, fmt.Sprintf(format, a...))
		}
	}
	if len(l.Targets) == 0 || len(l.Requests) == 0 {
		return errors.New("load: no target or no request")
	}
	if err := checkTarget(l.Targets[0]); err != nil {
		check(false, "target: %v", err)
	}
	check(validMethod(l.Requests[0].Method), "method %q is none", l.Requests[0].Method)
	if _, err := newPath(l.Requests[0].Path); err != nil {
		check(false, "path: %v", err)
	}
	check((l.Closed == nil) != (l.Open == nil), "exactly one of closed and open is wanted")
	if c := l.Closed; c != nil {
		check(c.Users >= 1 && c.Users <= maxUsers, "closed.users %d lies outside 1 to %d", c.Users, maxUsers)
		check(c.Think >= 0, "closed.think %s is negative", c.Think)
	}
	if o := l.Open; o != nil {
		check(o.Rate > 0 && o.Rate <= maxRate && !math.IsNaN(o.Rate), "open.rate %g lies outside 0 to %g", o.Rate, maxRate)
		check(o.InFlight >= 1 && o.InFlight <= maxInFlight, "open.in_flight %d lies outside 1 to %d", o.InFlight, maxInFlight)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
		least time.Duration
	}{
		{"ramp", l.Ramp, 0},
		{"warmup", l.Warmup, 0},
		{"measure", l.Measure, minWindow},
		{"timeout", l.Timeout, 1},
	} {
		check(d.value >= d.least && d.value <= experiment.MaxDuration, "%s %s lies outside %s to %s", d.name, d.value, d.least, experiment.MaxDuration)
	}
	check(l.Connections >= 1, "connections %d is less than 1", l.Connections)
	if len(faults) > 0 {
		return errors.New("the plan is wrong: " + strings.Join(faults, "; "))
	}
	return nil
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

// validMethod reports whether m is a method in capitals, as all of HTTP's are.
// CONNECT is none here: it has no path.
func validMethod(m string) bool {
	return m != "" && m != "CONNECT" && !strings.ContainsFunc(m, func(r rune) bool { return (r < 'A' || r > 'Z') && r != '-' })
}
