package report

import (
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// objectives gives one line for each service level and family: which cells meet it,
// which miss it, and by how much.
func (r Report) objectives() []string {
	var lines []string
	for _, o := range r.settings().Objectives {
		for _, g := range r.groups() {
			if line := r.objective(o, g); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

func (r Report) objective(o experiment.Objective, g group) string {
	by := map[experiment.Verdict][]row{}
	for _, x := range g.rows {
		if c, ok := x.compared[o.Row()]; ok {
			by[c.Verdict] = append(by[c.Verdict], x)
		}
	}
	m, _ := r.Sweep.Metric(o.Metric)
	scale := commonScale([]float64{o.Limit}, m.Unit)
	var parts []string
	for _, v := range []experiment.Verdict{
		experiment.VerdictMisses, experiment.VerdictMeets, experiment.VerdictInconclusive, experiment.VerdictNotTested,
		experiment.VerdictFails, experiment.VerdictInvalid, experiment.VerdictPending,
	} {
		if len(by[v]) == 0 {
			continue
		}
		parts = append(parts, string(v)+" "+names(by[v], func(x row) string {
			c := x.compared[o.Row()]
			if v != experiment.VerdictMisses && v != experiment.VerdictInconclusive {
				return label(x.cell)
			}
			return label(x.cell) + " (" + strings.TrimSpace(withInterval(c.Estimate, c.Low, c.High, scale)+" "+scale.unit) + ")"
		}))
	}
	if parts == nil {
		return ""
	}
	line := o.Metric + " at most " + Quantity(o.Limit, m.Unit)
	if t := titleOf(g.stage, g.condition, manyStages(r.Sweep.Cells)); t != "" {
		line += " (" + t + ")"
	}
	return line + ": " + strings.Join(parts, "; ")
}
