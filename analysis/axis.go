package analysis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// fewestLevels is the least number of numeric levels that make a response.
const fewestLevels = 3

// axis is the cells that differ in one numeric factor alone.
type axis struct {
	stage     *stage
	condition string
	factor    string
	baseline  *cellRuns   // nil: the factor is a condition, each level with a baseline of its own
	levels    []axisLevel // the lowest first
	plain     bool        // they are numbers without a unit
}

type axisLevel struct {
	cell  *cellRuns
	text  string
	value float64
}

// axes gives the numeric factors of a family: the cells in which one of them alone is off
// the baseline, and the baseline. Levels that are no number (null, off), and those at
// which no request succeeds, are left out.
func (f *family) axes() []axis {
	if f.baseline == nil {
		return nil
	}
	var factors []string
	alone := make(map[string][]*cellRuns)
	for _, c := range f.cells {
		if len(c.cell.Off) != 1 || f.silenced(c) {
			continue
		}
		name := c.cell.Off[0].Factor
		if alone[name] == nil {
			factors, alone[name] = append(factors, name), []*cellRuns{f.baseline}
		}
		alone[name] = append(alone[name], c)
	}
	var out []axis
	for _, name := range factors {
		a := axis{stage: f.stage, condition: f.baseline.cell.Condition, factor: name, baseline: f.baseline}
		if a.fill(alone[name]) {
			out = append(out, a)
		}
	}
	return out
}

// conditionAxes gives the numeric conditions: the baselines that differ in one of them alone.
func conditionAxes(families []*family, conditions []string) []axis {
	var out []axis
	for _, name := range conditions {
		var axes []axis
		var cells [][]*cellRuns
		for _, f := range families {
			if f.baseline == nil || f.baseline.silent {
				continue
			}
			rest := restOf(f.baseline.cell, conditions, name)
			i := slices.IndexFunc(axes, func(a axis) bool { return a.stage == f.stage && a.condition == rest })
			if i < 0 {
				i = len(axes)
				axes, cells = append(axes, axis{stage: f.stage, condition: rest, factor: name}), append(cells, nil)
			}
			cells[i] = append(cells[i], f.baseline)
		}
		for i := range axes {
			if axes[i].fill(cells[i]) {
				out = append(out, axes[i])
			}
		}
	}
	return out
}

// restOf gives the condition of a cell without one factor, in the form of Cell.Condition.
func restOf(c experiment.Cell, conditions []string, without string) string {
	var texts []string
	for _, s := range c.Settings {
		if s.Factor != without && slices.Contains(conditions, s.Factor) {
			texts = append(texts, s.Factor+"="+s.Level)
		}
	}
	return strings.Join(texts, ", ")
}

// fill sorts the cells by their levels; false if too few of these are numbers, or some in
// one unit and some in another. A plain 0 goes with every unit.
func (a *axis) fill(cells []*cellRuns) bool {
	units := make(map[experiment.Unit]bool)
	for _, c := range cells {
		text, _ := c.cell.Lookup(a.factor)
		v, unit, ok := experiment.LevelValue(text)
		if !ok {
			continue
		}
		a.levels = append(a.levels, axisLevel{c, text, v})
		if v != 0 || unit != "" {
			units[unit] = true
		}
	}
	slices.SortStableFunc(a.levels, func(x, y axisLevel) int { return cmp.Compare(x.value, y.value) })
	a.plain = units[""]
	return len(a.levels) >= fewestLevels && len(units) == 1
}
