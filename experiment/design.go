package experiment

import "slices"

// Design says which cells a matrix has beside the baseline and its control.
type Design struct {
	Kind         DesignKind  `json:"kind,omitempty"` // empty: OneAtATime
	Cells        []Selection `json:"cells,omitempty"`
	Except       []Selection `json:"except,omitempty"`
	Interactions [][]string  `json:"interactions,omitempty"` // groups of factors whose corners are added
	Stages       []Stage     `json:"stages,omitempty"`       // none: one, MainStage
	Across       []string    `json:"across,omitempty"`       // factors that are conditions
}

// DesignKind is how cells are made from factors.
type DesignKind string

// The kinds: each other level of each factor alone; every combination of levels;
// the chosen cells only.
const (
	OneAtATime  DesignKind = "one-at-a-time"
	Grid        DesignKind = "grid"
	ChosenCells DesignKind = "cells"
)

// Selection is a choice of levels; factors that it does not name are at the
// baseline (cells) or at any level (except).
type Selection struct {
	Settings []Setting `json:"settings"`
	At       Pos       `json:"-"`
}

// Stage is a sweep of all factors around a moved baseline. Stages are executed one
// after another, each with rounds of its own.
type Stage struct {
	Name     string    `json:"name"`
	Baseline []Setting `json:"baseline,omitempty"` // what is moved
	At       Pos       `json:"-"`
}

// reaches reports whether every factor that is off the baseline of a cell has a
// place there: it exists, and something that mentions it does.
func (m *Matrix) reaches(c Cell) bool {
	for _, s := range c.Off {
		if !m.present(s.Factor, c) {
			return false
		}
	}
	return true
}

// present reports whether a factor has a place in a cell.
func (m *Matrix) present(factor string, c Cell) bool {
	i := m.factorIndex(factor)
	if i < 0 || !c.holds(m.Factors[i].Only) {
		return false
	}
	if slices.ContainsFunc(m.Factors[i].Levels, func(l Level) bool { return l.Set }) {
		return true // what is put in by the one is taken out by the others
	}
	subject, load := m.in(c)
	one := Matrix{Subject: subject, Load: load, Prepare: m.Prepare, Collect: m.Collect}
	for _, t := range one.texts() {
		if !c.holds(t.only) {
			continue
		}
		for _, ref := range t.Refs() {
			if ref.Kind == RefFactor && ref.Name == factor {
				return true
			}
		}
	}
	// What only decides where something exists is felt where it does.
	return slices.ContainsFunc(m.onlys(), func(o Only) bool { return o.Factor == factor })
}

// onlys lists every condition of existence of the matrix.
func (m *Matrix) onlys() []Only {
	var out []Only
	for _, f := range m.Factors {
		out = append(out, f.Only...)
	}
	for _, s := range m.Subject.Services {
		out = append(out, s.Only...)
	}
	for _, t := range m.texts() {
		out = append(out, t.only...)
	}
	return out
}
