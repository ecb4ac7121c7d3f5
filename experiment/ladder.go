package experiment

import (
	"cmp"
	"slices"
	"strings"
)

// Ladder is a cell whose load rises over the levels of a condition. Cell stands for
// the ladder as a whole: its condition is without the rung, no run belongs to it, and
// it carries the metric ceiling. Rungs are the cells that are run, the lowest rate
// first.
type Ladder struct {
	Cell  Cell
	Rungs []CellKey
}

// Rung gives the condition whose levels are the rate of the load, so that it climbs a
// ladder; empty if there is none.
func (m *Matrix) Rung() string {
	if m.Load.Open == nil {
		return ""
	}
	for _, ref := range m.Load.Open.Rate.Refs() {
		if ref.Kind == RefFactor && m.isCondition(ref.Name) {
			return ref.Name
		}
	}
	return ""
}

// Rungs gives the levels of the rung, the lowest rate first, in whatever order they
// are declared.
func (m *Matrix) Rungs() []Level {
	f := m.factorIndex(m.Rung())
	if f < 0 {
		return nil
	}
	base := m.combined(nil, nil)
	rates := map[string]float64{}
	for i, l := range m.Factors[f].Levels {
		r := &resolver{m: m, cell: m.cell(MainStage, RoleBaseline, base, base.with(f, i))}
		rates[l.Text] = r.open(m.Load.Open, "load.open").Rate
	}
	return slices.SortedStableFunc(slices.Values(m.Factors[f].Levels), func(a, b Level) int {
		return cmp.Compare(rates[a.Text], rates[b.Text])
	})
}

// Ladders gives the ladders of the matrix: the cells that differ in the rung alone.
func (m *Matrix) Ladders() []Ladder {
	rung := m.Rung()
	if rung == "" {
		return nil
	}
	height := map[string]int{}
	for i, l := range m.Rungs() {
		height[l.Text] = i
	}
	var out []Ladder
	at, heights := map[CellKey]int{}, map[CellKey]int{}
	for _, c := range m.Cells() {
		whole := m.without(c, rung)
		i, known := at[whole.Key]
		if !known {
			i = len(out)
			at[whole.Key] = i
			out = append(out, Ladder{Cell: whole})
		}
		level, _ := c.Lookup(rung)
		heights[c.Key] = height[level]
		out[i].Rungs = append(out[i].Rungs, c.Key)
	}
	for _, l := range out {
		slices.SortStableFunc(l.Rungs, func(a, b CellKey) int { return cmp.Compare(heights[a], heights[b]) })
	}
	return out
}

// without gives the cell for all levels of a condition together.
func (m *Matrix) without(c Cell, condition string) Cell {
	head := strings.TrimSuffix(string(c.Key), c.Condition)
	c.Settings = slices.DeleteFunc(slices.Clone(c.Settings), func(s Setting) bool { return s.Factor == condition })
	rest := slices.DeleteFunc(slices.Clone(c.Settings), func(s Setting) bool { return !m.isCondition(s.Factor) })
	c.Condition = joinSettings(rest, ", ")
	c.Key = CellKey(head + c.Condition + "|ladder")
	return c
}
