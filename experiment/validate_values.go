package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// minMemory is the least memory limit that engines accept, in bytes.
const minMemory = 6 << 20

// checkValues plans every cell, once as containers and once as processes, so that
// the text of every level is read where it is used. What is known to be at fault is
// not said again.
func (v view) checkValues(f *faults, known []*FieldError) {
	texts := map[string]text{}
	for _, t := range v.texts() {
		texts[t.path] = t
	}
	isKnown := func(path string) bool {
		return slices.ContainsFunc(known, func(e *FieldError) bool { return e.Path == path })
	}
	stages := slices.ContainsFunc(known, func(e *FieldError) bool { return strings.HasPrefix(e.Path, "stages[") })
	forms := v.planned()
	keys := map[CellKey]Cell{}
	for _, c := range v.cells {
		if other, twice := keys[c.Key]; twice && !stages {
			f.add(Pos{File: v.Origin.File}, "factors", "", "%s and %s cannot be told apart", other.Label(), c.Label())
		}
		keys[c.Key] = c
		for _, e := range v.cellFaults(forms, c) {
			if !isKnown(e.Path) {
				e.At, e.Path = v.blame(texts[e.Path], e, c)
				f.list = append(f.list, e)
			}
		}
	}
}

// planned gives the view for containers, and, where a service has a process form, for
// processes.
func (v view) planned() []*Matrix {
	out := []*Matrix{v.ForRunner(RunnerDocker)}
	if slices.ContainsFunc(v.everyService(), func(s *ServiceSpec) bool { return s.Process != nil }) {
		out = append(out, v.ForRunner(RunnerProcess))
	}
	return out
}

// cellFaults plans a cell in both forms. What only the process form is blamed for
// comes from the overrides under process.
func (v view) cellFaults(forms []*Matrix, c Cell) []*FieldError {
	out := forms[0].planFaults(c)
	if len(forms) == 1 {
		return out
	}
	seen := map[string]bool{}
	for _, e := range out {
		seen[e.Error()] = true
	}
	for _, e := range forms[1].planFaults(c) {
		if seen[e.Error()] {
			continue
		}
		for _, s := range v.everyService() {
			if rest, ok := strings.CutPrefix(e.Path, s.part()+"."); ok && s.Process != nil {
				e.Path = s.part() + ".process." + rest
				break
			}
		}
		out = append(out, e)
	}
	return out
}

// planFaults gives the faults of planning a cell, and of its figures.
func (m *Matrix) planFaults(c Cell) []*FieldError {
	p, err := m.Plan(c)
	f := faults{list: FieldErrors(err)}
	subject, load := m.in(c)
	check := func(s Service, spec *ServiceSpec) {
		path := spec.part()
		if !spec.Limits.Memory.IsZero() && s.Limits.Memory < minMemory && s.Limits.Memory > 0 && !f.at(path+".limits.memory") {
			f.add(spec.Limits.Memory.At, path+".limits.memory", "", "%d bytes are less than 6MiB", s.Limits.Memory)
		}
		if !spec.Image.IsZero() && (s.Image == "" || strings.ContainsAny(s.Image, " \t\n")) && !f.at(path+".image") {
			f.add(spec.Image.At, path+".image", "as in redis:7", "%q names no image", s.Image)
		}
	}
	for _, s := range p.Services {
		check(s, subject.service(s.Name))
	}
	if p.Load.External != nil {
		check(p.Load.External.Service, load.generator())
	}
	return f.list
}

// blame finds where a fault comes from: from the level that the cell puts in, or
// from the text itself.
func (m *Matrix) blame(t text, e *FieldError, c Cell) (Pos, string) {
	var names []string
	for _, ref := range t.Refs() {
		if ref.Kind == RefFactor && !slices.Contains(names, ref.Name) {
			names = append(names, ref.Name)
		}
	}
	isOff := func(name string) bool {
		return slices.ContainsFunc(c.Off, func(s Setting) bool { return s.Factor == name })
	}
	for i, fa := range m.Factors {
		if !slices.Contains(names, fa.Name) || !isOff(fa.Name) && len(names) > 1 {
			continue
		}
		level, _ := c.Lookup(fa.Name)
		l := m.Factors[i].levelIndex(level)
		e.Hint = strings.TrimPrefix(e.Hint+"; used in "+t.path, "; ")
		return fa.Levels[l].At, fmt.Sprintf("factors.%s.levels[%d]", fa.Name, l)
	}
	return e.At, e.Path
}
