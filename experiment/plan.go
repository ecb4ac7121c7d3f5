package experiment

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// CellPlan is a cell with everything resolved that is known before a run: its
// services, links and load. Addresses and own ports are still references.
type CellPlan struct {
	Cell     Cell
	Services []Service // in order of declaration
	Links    []Link
	Load     Load
}

// Plan resolves one cell of the matrix. Errors are *FieldError, joined.
func (m *Matrix) Plan(c Cell) (CellPlan, error) {
	r := resolver{factor: func(ref Ref) (string, bool) {
		if ref.Kind != RefFactor {
			return "", false
		}
		return c.Lookup(ref.Name)
	}}
	p := CellPlan{Cell: c}
	for _, s := range m.Subject.Services {
		p.Services = append(p.Services, r.service(s, m.Origin.Dir))
	}
	for i, l := range m.Subject.Links {
		p.Links = append(p.Links, Link{
			From: l.From, To: l.To, Port: l.Port,
			Latency: value(&r, l.Latency, fmt.Sprintf("subject.links[%d].latency", i), ParseDuration),
		})
	}
	p.Load = r.load(m.Load)
	p.Load.Seed = m.Repeat.Seed
	return p, errors.Join(r.errs...)
}

type resolver struct {
	factor func(Ref) (string, bool)
	errs   []error
}

// value resolves a text that must hold nothing but factors, and parses it.
func value[T any](r *resolver, t Template, path string, parse func(string) (T, error)) T {
	var zero T
	text, ok := t.Resolve(r.factor).Literal()
	if !ok {
		ref := t.Resolve(r.factor).Refs()[0]
		r.errs = append(r.errs, &FieldError{At: t.At, Path: path, Err: fmt.Errorf("%s has no value here", ref)})
		return zero
	}
	v, err := parse(text)
	if err != nil {
		r.errs = append(r.errs, &FieldError{At: t.At, Path: path, Err: err})
		return zero
	}
	return v
}

// optional is value for a text that may be empty.
func optional[T any](r *resolver, t Template, path string, parse func(string) (T, error)) T {
	var zero T
	if t.IsZero() {
		return zero
	}
	return value(r, t, path, parse)
}

func count(lo, hi int64) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := ParseCount(s, lo, hi)
		return int(n), err
	}
}

func verbatim(s string) (string, error) { return s, nil }

func (r *resolver) service(s ServiceSpec, dir string) Service {
	path := "subject.services." + s.Name
	out := Service{
		Name: s.Name, Image: optional(r, s.Image, path+".image", verbatim),
		Command: s.Command, Env: s.Env, Ports: s.Ports, Needs: s.Needs,
		Ready: s.Ready, Confirm: s.Confirm, Role: s.Role,
		Limits: Limits{
			CPUs:   optional(r, s.Limits.CPUs, path+".limits.cpus", ParseCPUs),
			Memory: optional(r, s.Limits.Memory, path+".limits.memory", ParseSize),
			PIDs:   optional(r, s.Limits.PIDs, path+".limits.pids", func(t string) (int64, error) { return ParseCount(t, 1, 1<<22) }),
		},
	}
	if s.Build != nil {
		goDir := s.Build.Go
		if !filepath.IsAbs(goDir) {
			goDir = filepath.Join(dir, goDir)
		}
		out.Build = &Build{Go: goDir}
	}
	return out.Resolve(r.factor)
}

// Limits of what a generator is asked for.
const (
	maxUsers    = 100_000
	minMeasure  = 100 * time.Millisecond
	minTimeout  = time.Millisecond
	maxInFlight = 1_000_000
)

func (r *resolver) load(l LoadSpec) Load {
	out := Load{
		Service: l.Service, Port: l.Port, Method: l.Method, Path: l.Path.Resolve(r.factor), KeepAlive: l.KeepAlive,
		Ramp:    value(r, l.Ramp, "load.ramp", ParseDuration),
		Warmup:  value(r, l.Warmup, "load.warmup", ParseDuration),
		Measure: value(r, l.Measure, "load.measure", atLeast(minMeasure)),
		Timeout: value(r, l.Timeout, "load.timeout", atLeast(minTimeout)),
	}
	if l.Closed != nil {
		out.Closed = &ClosedLoad{
			Users: value(r, l.Closed.Users, "load.closed.users", count(1, maxUsers)),
			Think: value(r, l.Closed.Think, "load.closed.think", ParseDuration),
		}
		out.Connections = out.Closed.Users
	}
	if l.Open != nil {
		out.Open = &OpenLoad{
			Rate:     value(r, l.Open.Rate, "load.open.rate", ParseRate),
			InFlight: value(r, l.Open.InFlight, "load.open.in_flight", count(1, maxInFlight)),
		}
		out.Connections = out.Open.InFlight
	}
	if !l.Connects.IsZero() {
		out.Connections = value(r, l.Connects, "load.connections", count(1, maxInFlight))
	}
	return out
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
