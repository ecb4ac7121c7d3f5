package experiment

import "slices"

// ForRunner gives the matrix as the named runner executes it: process overrides
// are merged for "process" and dropped otherwise, and "process" knows no container,
// so that nothing is part of the identity of a sweep that does not use it.
func (m *Matrix) ForRunner(name string) *Matrix {
	out := *m
	out.Runner = name
	out.Subject, out.Load = m.Subject.forRunner(name), m.Load.forRunner(name)
	out.Variants = make([]Variant, len(m.Variants))
	for i, v := range m.Variants {
		v.Subject, v.Load = v.Subject.forRunner(name), v.Load.forRunner(name)
		out.Variants[i] = v
	}
	return &out
}

func (s Subject) forRunner(name string) Subject {
	services := make([]ServiceSpec, len(s.Services))
	for i, spec := range s.Services {
		services[i] = spec.forRunner(name)
	}
	s.Services = services
	return s
}

func (l LoadSpec) forRunner(name string) LoadSpec {
	if l.External != nil {
		external := *l.External
		external.Service = external.Service.forRunner(name)
		l.External = &external
	}
	return l
}

func (s ServiceSpec) forRunner(name string) ServiceSpec {
	if name == RunnerProcess {
		s = s.overridden()
		s.Container = ContainerSpec{} // what only containers have
	}
	s.Process = nil
	return s
}

// overridden merges the process form into the service.
func (s ServiceSpec) overridden() ServiceSpec {
	p := s.Process
	if p == nil {
		return s
	}
	if p.Build != nil {
		s.Build, s.Image = p.Build, Template{}
		s.Command = nil // the command of an image means nothing to another program
	}
	if p.Command != nil {
		s.Command = p.Command
		if p.Build == nil {
			s.Image = Template{}
		}
	}
	s.Env = merged(s.Env, p.Env, func(e EnvVar) string { return e.Name })
	s.Files = merged(s.Files, p.Files, func(f FileSpec) string { return f.Path })
	s.Mounts = nil // made for the image
	if p.Ready != nil {
		s.Ready = p.Ready
	}
	if p.Confirm != nil {
		s.Confirm = p.Confirm
	}
	if !p.Limits.CPUs.IsZero() {
		s.Limits.CPUs = p.Limits.CPUs
	}
	if !p.Limits.Memory.IsZero() {
		s.Limits.Memory = p.Limits.Memory
	}
	if !p.Limits.PIDs.IsZero() {
		s.Limits.PIDs = p.Limits.PIDs
	}
	return s
}

// merged puts what has the name of something in its place, and adds the rest.
func merged[T any](base, over []T, name func(T) string) []T {
	out := slices.Clone(base)
	for _, o := range over {
		if i := slices.IndexFunc(out, func(b T) bool { return name(b) == name(o) }); i >= 0 {
			out[i] = o
		} else {
			out = append(out, o)
		}
	}
	return out
}
