package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// MostCells gives a bound of the number of cells, without making them: what a design
// would have if nothing were left out.
func (m *Matrix) MostCells() int {
	const plenty = 1 << 30
	times := func(a, b int) int { return min(a*max(b, 1), plenty) }
	each, all, conditions := 0, 1, 1
	for _, f := range m.Factors {
		if m.isCondition(f.Name) {
			conditions = times(conditions, len(f.Levels))
			continue
		}
		each += max(len(f.Levels)-1, 0)
		all = times(all, len(f.Levels))
	}
	n := 1 // the baseline
	if m.Control {
		n++
	}
	switch m.Design.Kind {
	case Grid:
		n += all - 1
	case ChosenCells:
	default:
		n += each
	}
	n += len(m.Design.Cells)
	for _, group := range m.Design.Interactions {
		corners := 1
		for _, name := range group {
			if f := m.factorIndex(name); f >= 0 {
				corners = times(corners, len(m.Factors[f].Levels))
			}
		}
		n = min(n+corners, plenty)
	}
	return times(times(min(n, plenty), conditions), len(m.Design.Stages))
}

// countable reports whether the cells can be made.
func (m *Matrix) countable() bool {
	for _, f := range m.Factors {
		if f.Baseline < 0 || f.Baseline >= len(f.Levels) {
			return false
		}
	}
	return m.MostCells() <= MaxCells
}

// checkDesign wants every factor and level that the design names, and everything that
// it says to mean something.
func (m *Matrix) checkDesign(f *faults) {
	d, before := m.Design, len(f.list)
	if n := m.MostCells(); n > MaxCells {
		f.add(Pos{File: m.Origin.File}, "factors", "", "%d cells, more than %d", n, MaxCells)
	}
	if d.Kind == ChosenCells && len(d.Cells) == 0 {
		f.lack("cells", Pos{File: m.Origin.File}, "cells", "as in [{threads: 8}]", "the sweep is of chosen cells, and none is chosen")
	}
	for i, name := range d.Across {
		path := fmt.Sprintf("across[%d]", i)
		m.checkFactorName(f, Pos{File: m.Origin.File}, path, name)
		if slices.Contains(d.Across[:i], name) {
			f.add(Pos{File: m.Origin.File}, path, "", "%s is named twice", name)
		}
	}
	for i, s := range d.Cells {
		m.checkChosen(f, s.At, fmt.Sprintf("cells[%d]", i), s.Settings)
		if slices.ContainsFunc(d.Cells[:i], func(o Selection) bool { return sameSettings(o.Settings, s.Settings) }) {
			f.add(s.At, fmt.Sprintf("cells[%d]", i), "", "the cell is chosen already")
		}
	}
	for i, s := range d.Except {
		path := fmt.Sprintf("except[%d]", i)
		if len(s.Settings) == 0 {
			f.add(s.At, path, "", "names no factor")
		}
		m.checkSettings(f, s.At, path, s.Settings)
	}
	m.checkInteractions(f)
	m.checkStages(f)
	for i, fa := range m.Factors {
		m.checkOnly(f, fa.Only, "factors."+fa.Name)
		if slices.ContainsFunc(fa.Only, func(o Only) bool { return o.Factor == fa.Name }) {
			f.add(fa.At, "factors."+m.Factors[i].Name+".only", "", "a factor exists at another factor's levels, not at its own")
		}
	}
	if len(f.list) == before && m.countable() {
		m.checkExcept(f)
	}
}

func sameSettings(a, b []Setting) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(s Setting) bool { return !slices.Contains(b, s) })
}

// checkChosen wants levels of factors that are varied, one of them off the baseline.
func (m *Matrix) checkChosen(f *faults, at Pos, path string, settings []Setting) {
	if !m.checkSettings(f, at, path, settings) {
		return
	}
	off := false
	for _, s := range settings {
		fa := m.Factors[m.factorIndex(s.Factor)]
		off = off || fa.levelIndex(s.Level) != fa.Baseline
		if m.isCondition(s.Factor) {
			f.add(at, path+"."+s.Factor, "", "%s is a condition (across): every cell is run at each of its levels", s.Factor)
		}
	}
	if !off && len(m.Design.Stages) == 0 {
		f.add(at, path, "", "the cell is the baseline, which is run anyway")
	}
}

func (m *Matrix) checkInteractions(f *faults) {
	at := Pos{File: m.Origin.File}
	for i, group := range m.Design.Interactions {
		path := fmt.Sprintf("interactions[%d]", i)
		if len(group) < 2 {
			f.lack(path, at, path, "as in [threads, pool]", "fewer than two factors cannot interact")
		}
		for j, name := range group {
			where := fmt.Sprintf("%s[%d]", path, j)
			m.checkFactorName(f, at, where, name)
			if slices.Contains(group[:j], name) {
				f.add(at, where, "", "%s is named twice", name)
			}
			if m.isCondition(name) {
				f.add(at, where, "", "%s is a condition (across): every cell is run at each of its levels", name)
			}
		}
	}
}

func (m *Matrix) checkStages(f *faults) {
	seen := map[string]bool{}
	for i, s := range m.Design.Stages {
		path := fmt.Sprintf("stages[%d]", i)
		checkWord(f, s.At, path+".name", s.Name)
		if seen[s.Name] {
			f.add(s.At, path+".name", "", "there is a stage %s already", s.Name)
		}
		seen[s.Name] = true
		m.checkSettings(f, s.At, path+".baseline", s.Baseline)
		for _, b := range s.Baseline {
			if m.isCondition(b.Factor) {
				f.add(s.At, path+".baseline."+b.Factor, "", "%s is a condition (across): it has no baseline", b.Factor)
			}
		}
	}
}

// checkSettings wants known factors and levels.
func (m *Matrix) checkSettings(f *faults, at Pos, path string, settings []Setting) bool {
	ok := true
	for _, s := range settings {
		ok = m.checkFactorName(f, at, path+"."+s.Factor, s.Factor) && m.checkLevel(f, at, path+"."+s.Factor, s.Factor, s.Level) && ok
	}
	return ok
}

// checkOnly is checkSettings for where something exists.
func (m *Matrix) checkOnly(f *faults, only []Only, path string) {
	for _, o := range only {
		at := path + ".only." + o.Factor
		if !m.checkFactorName(f, o.At, at, o.Factor) {
			continue
		}
		for _, l := range o.Levels {
			m.checkLevel(f, o.At, at, o.Factor, l)
		}
		if fa := m.Factors[m.factorIndex(o.Factor)]; len(fa.Levels) > 1 && !slices.ContainsFunc(fa.Levels, func(l Level) bool { return !slices.Contains(o.Levels, l.Text) }) {
			f.add(o.At, at, "leave it out", "names every level of %s, so it says nothing", o.Factor)
		}
	}
}

func (m *Matrix) checkFactorName(f *faults, at Pos, path, name string) bool {
	if m.factorIndex(name) >= 0 {
		return true
	}
	f.lack("factors", at, path, didYouMean(name, m.factorNames()), "there is no factor %q", name)
	return false
}

func (m *Matrix) checkLevel(f *faults, at Pos, path, factor, level string) bool {
	fa := m.Factors[m.factorIndex(factor)]
	if fa.levelIndex(level) >= 0 {
		return true
	}
	var known []string
	for _, l := range fa.Levels {
		known = append(known, fmt.Sprintf("%q", l.Text))
	}
	f.lack("factors."+factor, at, path, "levels: "+strings.Join(known, ", "), "%q is no level of %s", level, factor)
	return false
}

// checkExcept wants each exception to leave out something, and no baseline.
func (m *Matrix) checkExcept(f *faults) {
	full := *m
	full.Design.Except = nil
	cells := full.Cells()
	for i, s := range m.Design.Except {
		path := fmt.Sprintf("except[%d]", i)
		removed := 0
		for _, c := range cells {
			if !c.has(s.Settings) {
				continue
			}
			removed++
			if c.Role == RoleBaseline {
				f.add(s.At, path, "", "leaves out the baseline%s, with which the other cells are compared", c.where())
				break
			}
		}
		if removed == 0 {
			f.add(s.At, path, "", "leaves out no cell")
		}
		if rung := m.Rung(); rung != "" && s.names(rung) {
			f.add(s.At, path, "leave out the cell at every "+rung+", or drop that level of it", "leaves out a rung: ladders of other rungs have ceilings that cannot be compared")
		}
	}
}

func (s Selection) names(factor string) bool {
	return slices.ContainsFunc(s.Settings, func(x Setting) bool { return x.Factor == factor })
}

// where says the stage and the condition of a cell.
func (c Cell) where() string {
	var out string
	if c.Stage != MainStage {
		out = " of stage " + c.Stage
	}
	if c.Condition != "" {
		out += " under " + c.Condition
	}
	return out
}

// sayOnly says where something exists.
func sayOnly(only []Only) string {
	var all []string
	for _, o := range only {
		all = append(all, o.Factor+"="+strings.Join(o.Levels, "|"))
	}
	return strings.Join(all, " and ")
}

// checkPlaces wants every factor that is off the baseline of a cell to have a place
// there, and what is addressed, asked or loaded to exist where somebody does so. What
// is known to be at fault is not said again.
func (v view) checkPlaces(f *faults, known []*FieldError) {
	said := func(path string) bool {
		return f.at(path) || slices.ContainsFunc(known, func(e *FieldError) bool { return e.Path == path })
	}
	absent := func(c Cell, s *ServiceSpec, at Pos, path, what string) {
		if s != nil && !c.holds(s.Only) && !said(path) {
			f.lack(everything, at, path, "", "%sservice %s exists only at %s: absent in %s", what, s.Name, sayOnly(s.Only), c.Label()+c.where())
		}
	}
	texts, steps := v.texts(), v.allSteps()
	for _, c := range v.cells {
		for _, s := range c.Off {
			if path := "factors." + s.Factor; v.Design.Kind != Grid && !said(path) && !v.whole.present(s.Factor, c) {
				f.lack(everything, v.Factors[v.factorIndex(s.Factor)].At, path, "sweep: grid leaves out such cells", "%s", v.absence(s.Factor, c))
			}
		}
		absent(c, v.service(v.Load.Service), v.Load.At, "load.to", "")
		for _, t := range texts {
			for _, ref := range t.Refs() {
				if ref.Kind == RefAddr && c.holds(t.only) {
					absent(c, v.service(ref.Name), t.At, t.path, ref.String()+": ")
				}
			}
		}
		for _, p := range steps {
			if p.In != "" && c.holds(p.Only) && (p.owner == nil || c.holds(p.owner.Only)) {
				absent(c, v.service(p.In), p.At, p.path+".in", "")
			}
		}
	}
}

// absence says why a factor has no place in a cell.
func (v view) absence(factor string, c Cell) string {
	where := "at the baseline" + c.where()
	if len(c.Off) > 1 {
		where = "in " + c.Label() + c.where()
	}
	if only := v.Factors[v.factorIndex(factor)].Only; !c.holds(only) {
		return fmt.Sprintf("exists only at %s: absent %s", sayOnly(only), where)
	}
	for _, t := range v.whole.texts() {
		if slices.ContainsFunc(t.Refs(), func(r Ref) bool { return r.Kind == RefFactor && r.Name == factor }) && !c.holds(t.only) {
			what := t.path
			if s := v.service(t.service); s != nil && !c.holds(s.Only) {
				what = "its service " + s.Name
			}
			return fmt.Sprintf("%s exists only at %s: absent %s", what, sayOnly(t.only), where)
		}
	}
	return "nothing mentions it " + where
}
