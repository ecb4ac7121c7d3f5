package experiment

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// CellPlan is a cell with everything resolved that is known before a run: its
// services, links, load and steps. Addresses, own ports, paths of files and the
// caller's variables are still references.
type CellPlan struct {
	Cell     Cell
	Services []Service // those that exist in the cell, in order of declaration
	Links    []Link
	Load     Load
	Prepare  []Step
	Collect  []Collect
	Metrics  []Derived
}

// Launched lists the services, and the generator if it is one of others.
func (p CellPlan) Launched() []Service {
	all := slices.Clone(p.Services)
	if p.Load.External != nil {
		all = append(all, p.Load.External.Service)
	}
	return all
}

// Plan resolves one cell of the matrix. Errors are *FieldError, joined.
func (m *Matrix) Plan(c Cell) (CellPlan, error) {
	subject, load := m.in(c)
	r := &resolver{m: m, cell: c}
	p := CellPlan{Cell: c, Metrics: m.Metrics}
	absent := map[string]bool{}
	for _, s := range subject.Services {
		absent[s.Name] = !c.holds(s.Only)
	}
	for _, s := range subject.Services {
		if absent[s.Name] {
			continue
		}
		service := r.service(s, "subject.services."+s.Name)
		service.Needs = slices.DeleteFunc(slices.Clone(s.Needs), func(n string) bool { return absent[n] })
		if len(service.Needs) == 0 {
			service.Needs = nil
		}
		p.Services = append(p.Services, service)
	}
	for i, l := range subject.Links {
		if absent[l.From] || absent[l.To] {
			continue
		}
		p.Links = append(p.Links, Link{
			From: l.From, To: l.To, Port: l.Port,
			Latency: value(r, l.Latency, fmt.Sprintf("subject.links[%d].latency", i), ParseDuration),
		})
	}
	p.Load = r.load(load)
	p.Load.Seed = m.Repeat.Seed
	p.Prepare = r.steps(m.Prepare, "prepare")
	p.Collect = r.collect(m.Collect, "collect")
	return p, errors.Join(r.errs...)
}

// in gives subject and load as they are declared for the cell.
func (m *Matrix) in(c Cell) (Subject, LoadSpec) {
	for _, v := range m.Variants {
		if c.has(v.When) {
			return v.Subject, v.Load
		}
	}
	return m.Subject, m.Load
}

// resolver puts the levels of a cell into texts.
type resolver struct {
	m    *Matrix
	cell Cell
	errs []error
}

// level gives the level of a factor in the cell.
func (r *resolver) level(factor string) (Level, bool) {
	text, ok := r.cell.Lookup(factor)
	f := r.m.factorIndex(factor)
	if !ok || f < 0 {
		return Level{}, false
	}
	l := r.m.Factors[f].levelIndex(text)
	if l < 0 {
		return Level{}, false
	}
	return r.m.Factors[f].Levels[l], true
}

func (r *resolver) factor(ref Ref) (string, bool) {
	l, ok := r.level(ref.Name)
	switch {
	case ref.Kind != RefFactor || !ok || l.Unset:
		return "", false
	case ref.Key != "":
		return l.Key(ref.Key)
	default:
		return l.Text, true
	}
}

// unset reports whether a level leaves the text, and what it belongs to, unset.
func (r *resolver) unset(t Template) bool {
	return slices.ContainsFunc(t.Refs(), func(ref Ref) bool {
		l, ok := r.level(ref.Name)
		return ref.Kind == RefFactor && ok && l.Unset
	})
}

func (r *resolver) fault(t Template, path string, err error) {
	r.errs = append(r.errs, &FieldError{At: t.At, Path: path, Err: err})
}

// text resolves a text in which a level must not be null.
func (r *resolver) text(t Template, path string) Template {
	out := t.Resolve(r.factor)
	for _, ref := range out.Refs() {
		if ref.Kind == RefFactor {
			r.fault(t, path, r.without(ref))
			return Template{}
		}
	}
	return out
}

// without says why a reference to a factor has no value in the cell.
func (r *resolver) without(ref Ref) error {
	l, ok := r.level(ref.Name)
	switch {
	case !ok:
		return fmt.Errorf("%s has no value here", ref)
	case l.Unset:
		return fmt.Errorf("%s is null, and this cannot be left unset", ref)
	default:
		return fmt.Errorf("level %s of %s has no key %s", l.Text, ref.Name, ref.Key)
	}
}

// texts resolves texts, without those that a level leaves unset.
func (r *resolver) texts(all []Template, path string) []Template {
	var out []Template
	for i, t := range all {
		if !r.unset(t) {
			out = append(out, r.text(t, fmt.Sprintf("%s[%d]", path, i)))
		}
	}
	return out
}

// named is texts for those with a name.
func (r *resolver) named(all []EnvVar, path string) []EnvVar {
	var out []EnvVar
	for _, e := range all {
		if !r.unset(e.Value) {
			out = append(out, EnvVar{Name: e.Name, Value: r.text(e.Value, path+"."+e.Name)})
		}
	}
	return out
}

// pairs is named for what must hold nothing but factors.
func (r *resolver) pairs(all []EnvVar, path string) []KeyValue {
	var out []KeyValue
	for _, e := range all {
		if !r.unset(e.Value) {
			out = append(out, KeyValue{Key: e.Name, Value: value(r, e.Value, path+"."+e.Name, verbatim)})
		}
	}
	return out
}

// value resolves a text that must hold nothing but factors, and parses it.
func value[T any](r *resolver, t Template, path string, parse func(string) (T, error)) T {
	var zero T
	resolved := t.Resolve(r.factor)
	text, ok := resolved.Literal()
	if !ok {
		ref := resolved.Refs()[0]
		err := fmt.Errorf("%s has no value here", ref)
		if ref.Kind == RefFactor {
			err = r.without(ref)
		}
		r.fault(t, path, err)
		return zero
	}
	v, err := parse(text)
	if err != nil {
		r.fault(t, path, err)
		return zero
	}
	return v
}

// optional is value for a text that may be empty, or left unset by a level.
func optional[T any](r *resolver, t Template, path string, parse func(string) (T, error)) T {
	var zero T
	if t.IsZero() || r.unset(t) {
		return zero
	}
	return value(r, t, path, parse)
}

// upTo parses a count from 1 to most.
func upTo(most int64) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := ParseCount(s, 1, most)
		return int(n), err
	}
}

func verbatim(s string) (string, error) { return s, nil }

// maxReplicas bounds the copies of a service.
const maxReplicas = 100

func (r *resolver) service(s ServiceSpec, path string) Service {
	out := Service{
		Name: s.Name, Image: optional(r, s.Image, path+".image", verbatim),
		Command: r.texts(s.Command, path+".command"), Env: r.named(s.Env, path+".env"), Ports: s.Ports, Role: s.Role,
		Limits: Limits{
			CPUs:   optional(r, s.Limits.CPUs, path+".limits.cpus", ParseCPUs),
			Memory: optional(r, s.Limits.Memory, path+".limits.memory", ParseSize),
			PIDs:   optional(r, s.Limits.PIDs, path+".limits.pids", func(t string) (int64, error) { return ParseCount(t, 1, 1<<22) }),
		},
		Confirm: r.steps(s.Confirm, path+".confirm"), Collect: r.collect(s.Collect, path+".collect"),
		Container: r.container(s.Container, path+".container"), Volumes: s.Volumes,
		Job: s.Job, JobWithin: s.JobWithin, Output: s.Output, Replicas: optional(r, s.Replicas, path+".replicas", upTo(maxReplicas)),
		Prepare: Preparation{Steps: r.steps(s.Prepare.Steps, path+".prepare"), Snapshot: s.Prepare.Snapshot},
		Build:   r.build(s.Build, path+".build"),
	}
	if s.Ready != nil {
		if ready := r.steps([]Step{*s.Ready}, path+".ready"); len(ready) == 1 {
			out.Ready = &ready[0]
		}
	}
	for _, f := range s.Files {
		out.Files = append(out.Files, File{Path: f.Path, Content: r.text(f.Content, path+".files."+f.Path)})
	}
	for i, v := range s.Mounts {
		source := value(r, v.Source, fmt.Sprintf("%s.mounts[%d]", path, i), verbatim)
		out.Mounts = append(out.Mounts, Mount{Source: r.m.absolute(source), Target: v.Target, ReadOnly: v.ReadOnly})
	}
	for i, sc := range s.Scrape {
		sc.URL = r.text(sc.URL, fmt.Sprintf("%s.scrape[%d].url", path, i))
		out.Scrape = append(out.Scrape, sc)
	}
	return out
}

// absolute gives a path of the matrix, which starts at its file.
func (m *Matrix) absolute(p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(m.Origin.Dir, p)
}

func (r *resolver) build(b *BuildSpec, path string) *Build {
	if b == nil {
		return nil
	}
	return &Build{
		Go: r.m.absolute(b.Go), Context: r.m.absolute(b.Context), Dockerfile: b.Dockerfile,
		Args: r.pairs(b.Args, path+".args"), Before: b.Before,
	}
}

func (r *resolver) container(c ContainerSpec, path string) Container {
	out := Container{
		ShmSize:  optional(r, c.ShmSize, path+".shm_size", ParseSize),
		Sysctls:  r.pairs(c.Sysctls, path+".sysctls"),
		CapAdd:   c.CapAdd,
		Platform: optional(r, c.Platform, path+".platform", verbatim),
		User:     optional(r, c.User, path+".user", verbatim),
	}
	for i, t := range c.Tmpfs {
		if !r.unset(t) {
			out.Tmpfs = append(out.Tmpfs, value(r, t, fmt.Sprintf("%s.tmpfs[%d]", path, i), verbatim))
		}
	}
	for _, u := range c.Ulimits {
		at := path + ".ulimits." + u.Name
		v := UlimitValue{Name: u.Name, Soft: value(r, u.Soft, at, parseUlimit), Hard: value(r, u.Hard, at, parseUlimit)}
		if v.Hard >= 0 && (v.Soft > v.Hard || v.Soft < 0) {
			r.fault(u.Soft, at, fmt.Errorf("the soft limit %s exceeds the hard one %s", u.Soft.Resolve(r.factor), u.Hard.Resolve(r.factor)))
		}
		out.Ulimits = append(out.Ulimits, v)
	}
	return out
}

// parseUlimit reads a limit of processes; -1 and "unlimited" mean none.
func parseUlimit(s string) (int64, error) {
	if s == "-1" || s == "unlimited" {
		return -1, nil
	}
	return ParseCount(s, 0, 1<<40)
}

// steps resolves the steps that exist in the cell.
func (r *resolver) steps(all []Step, path string) []Step {
	var out []Step
	for i, s := range all {
		if r.cell.holds(s.Only) {
			out = append(out, r.step(s, fmt.Sprintf("%s[%d]", path, i)))
		}
	}
	return out
}

func (r *resolver) step(s Step, path string) Step {
	s.Image = r.text(s.Image, path+".image")
	s.Run = r.texts(s.Run, path+".run")
	s.HTTP = r.text(s.HTTP, path+".http")
	s.File = r.text(s.File, path+".file")
	if r.unset(s.Has) {
		s.Has = Template{}
	}
	s.Has = r.text(s.Has, path+".has")
	var is []Expected
	for _, e := range s.Is {
		if !r.unset(e.Value) { // what is not set has no value to expect
			is = append(is, Expected{Name: e.Name, Value: r.text(e.Value, path+".is."+e.Name)})
		}
	}
	s.Is = is
	var near []Near
	for _, n := range s.Near {
		if !r.unset(n.Value) {
			near = append(near, Near{Name: n.Name, Value: r.text(n.Value, path+".near."+n.Name), Share: n.Share})
		}
	}
	s.Near = near
	return s
}

func (r *resolver) collect(all []Collect, path string) []Collect {
	var out []Collect
	for i, c := range all {
		if r.cell.holds(c.Only) {
			c.Step = r.step(c.Step, fmt.Sprintf("%s[%d]", path, i))
			out = append(out, c)
		}
	}
	return out
}

// EnvNames lists the variables of the caller's environment that the matrix uses,
// sorted.
func (m *Matrix) EnvNames() []string {
	var names []string
	for _, t := range m.texts() {
		for _, ref := range t.Refs() {
			if ref.Kind == RefEnv && !slices.Contains(names, ref.Name) {
				names = append(names, ref.Name)
			}
		}
	}
	slices.SortFunc(names, strings.Compare)
	return names
}
