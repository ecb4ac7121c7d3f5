package experiment

// ForRunner gives the matrix as the named runner executes it: process overrides
// are merged for "process" and dropped otherwise, so that they are no part of
// the identity of a sweep that does not use them.
func (m *Matrix) ForRunner(name string) *Matrix {
	out := *m
	out.Runner = name
	out.Subject = m.Subject.forRunner(name)
	out.Variants = make([]Variant, len(m.Variants))
	for i, v := range m.Variants {
		v.Subject = v.Subject.forRunner(name)
		out.Variants[i] = v
	}
	return &out
}

func (s Subject) forRunner(name string) Subject {
	services := make([]ServiceSpec, len(s.Services))
	for i, spec := range s.Services {
		if name == RunnerProcess {
			spec = spec.overridden()
		}
		spec.Process = nil
		services[i] = spec
	}
	s.Services = services
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
	s.Env = mergeEnv(s.Env, p.Env)
	s.Files = mergeFiles(s.Files, p.Files)
	s.Container, s.Mounts = ContainerSpec{}, nil // what only containers have
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

func mergeEnv(base, over []EnvVar) []EnvVar {
	out := append([]EnvVar(nil), base...)
next:
	for _, o := range over {
		for i := range out {
			if out[i].Name == o.Name {
				out[i].Value = o.Value
				continue next
			}
		}
		out = append(out, o)
	}
	return out
}

func mergeFiles(base, over []FileSpec) []FileSpec {
	out := append([]FileSpec(nil), base...)
next:
	for _, o := range over {
		for i := range out {
			if out[i].Path == o.Path {
				out[i].Content = o.Content
				continue next
			}
		}
		out = append(out, o)
	}
	return out
}
