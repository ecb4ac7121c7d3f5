package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// family is the cells of a plan that are compared with one baseline.
type family struct {
	stage, condition string
	cells            []experiment.Cell
}

func (v PlanView) families() []family {
	var all []family
	for _, c := range v.Cells {
		i := slices.IndexFunc(all, func(f family) bool { return f.stage == c.Stage && f.condition == c.Condition })
		if i < 0 {
			i = len(all)
			all = append(all, family{stage: c.Stage, condition: c.Condition})
		}
		all[i].cells = append(all[i].cells, c)
	}
	return all
}

// counts is the table of families.
func (v PlanView) counts(families []family) *grid {
	g := &grid{}
	stages := manyStages(v.Cells)
	conditions := slices.ContainsFunc(families, func(f family) bool { return f.condition != "" })
	if stages {
		g.columns = append(g.columns, column{title: "stage", label: true})
	}
	if conditions {
		g.columns = append(g.columns, column{title: "condition", label: true})
	}
	roles := []experiment.Role{experiment.RoleBaseline, experiment.RoleControl, experiment.RoleVaried, experiment.RoleCorner}
	for _, title := range []string{"baseline", "control", "varied", "corners", "runs"} {
		g.columns = append(g.columns, column{title: title, right: true})
	}
	for _, f := range families {
		var row []string
		if stages {
			row = append(row, short(Plain(f.stage)))
		}
		if conditions {
			row = append(row, short(Plain(f.condition)))
		}
		count := map[experiment.Role]int{}
		for _, c := range f.cells {
			count[c.Role]++
		}
		for _, role := range roles {
			row = append(row, fmt.Sprint(count[role]))
		}
		g.rows = append(g.rows, append(row, fmt.Sprint(len(f.cells)*v.Matrix.Repeat.Rounds)))
	}
	return g
}

// design says in a sentence each how the cells come about.
func (v PlanView) design() []string {
	m := v.Matrix
	if len(v.Cells) == 0 {
		return nil
	}
	var varying []string
	for _, f := range m.Factors {
		if !slices.Contains(m.Design.Across, f.Name) {
			varying = append(varying, f.Name)
		}
	}
	control := "a baseline with its control"
	if !m.Control {
		control = "a baseline without a control"
	}
	lines := []string{control + ", and " + kind(m.Design, varying)}
	if n := len(m.Design.Except); n > 0 {
		var out []string
		for _, e := range m.Design.Except[:min(n, maxNames)] {
			out = append(out, settings(e.Settings))
		}
		line := "without the cells of " + strings.Join(out, "; ")
		if n > maxNames {
			line += fmt.Sprintf("; and %d more exceptions", n-maxNames)
		}
		lines = append(lines, line)
	}
	for _, group := range m.Design.Interactions {
		lines = append(lines, "the corners of "+strings.Join(group, " and ")+", for their interaction")
	}
	if len(m.Design.Stages) > 0 {
		var stages []string
		for _, s := range m.Design.Stages {
			stages = append(stages, strings.TrimSuffix(fmt.Sprintf("%s (%s)", s.Name, settings(s.Baseline)), " ()"))
		}
		lines = append(lines, "all of it in stages, one after another: "+strings.Join(stages, ", then "))
	}
	for _, name := range m.Design.Across {
		lines = append(lines, v.across(name))
	}
	return lines
}

func kind(d experiment.Design, varying []string) string {
	switch cmp.Or(d.Kind, experiment.OneAtATime) {
	case experiment.Grid:
		return "every combination of the levels of " + strings.Join(varying, ", ")
	case experiment.ChosenCells:
		return fmt.Sprintf("%d chosen cells", len(d.Cells))
	default:
		s := "each other level of each factor alone"
		if n := len(d.Cells); n > 0 {
			s += fmt.Sprintf(", and %d chosen cells", n)
		}
		return s
	}
}

func settings(all []experiment.Setting) string {
	parts := make([]string, len(all))
	for i, s := range all {
		parts[i] = s.Factor + "=" + s.Level
	}
	return strings.Join(parts, ", ")
}

func (v PlanView) across(name string) string {
	if name == v.Matrix.Rung() {
		return "each cell climbs a ladder over " + name + ": " + levelTexts(v.Matrix.Rungs())
	}
	var levels []experiment.Level
	for _, f := range v.Matrix.Factors {
		if f.Name == name {
			levels = f.Levels
		}
	}
	return "each cell under every level of " + name + ": " + levelTexts(levels)
}

func levelTexts(levels []experiment.Level) string {
	texts := make([]string, len(levels))
	for i, l := range levels {
		texts[i] = levelText(l)
	}
	return strings.Join(texts, ", ")
}
