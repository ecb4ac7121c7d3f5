package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// Report is a sweep with its analysis and the findings of its runs, ready to be
// rendered. Findings may hold those of Results too; each is shown once.
type Report struct {
	Sweep    experiment.Sweep
	Results  experiment.Results
	Findings []experiment.Finding
	Options  Options
}

// group holds the cells of one family: one stage under one condition.
type group struct {
	stage, condition string
	rows             []row
}

// row is a cell with what is shown of it.
type row struct {
	cell      experiment.Cell
	n         int // counting runs
	intervals map[string]experiment.Interval
	compared  map[string]experiment.Comparison
}

func (r Report) primary() string { return cmp.Or(r.Sweep.Settings.Metric, experiment.DefaultMetric) }

// title names a group among several; empty for the only one.
func (g group) title() string {
	var parts []string
	if g.stage != experiment.MainStage && g.stage != "" {
		parts = append(parts, "stage "+g.stage)
	}
	if g.condition != "" {
		parts = append(parts, g.condition)
	}
	return strings.Join(parts, ", ")
}

// groups orders the cells: stages and conditions as declared; inside a family the
// baseline, its control, then factors and levels as declared.
func (r Report) groups() []group {
	var all []group
	index := map[[2]string]int{}
	for _, c := range r.Sweep.Cells {
		key := [2]string{c.Stage, c.Condition}
		i, ok := index[key]
		if !ok {
			i = len(all)
			index[key] = i
			all = append(all, group{stage: c.Stage, condition: c.Condition})
		}
		all[i].rows = append(all[i].rows, r.row(c))
	}
	for _, g := range all {
		slices.SortStableFunc(g.rows, func(a, b row) int {
			return slices.Compare(r.place(a.cell), r.place(b.cell))
		})
	}
	return all
}

func (r Report) row(c experiment.Cell) row {
	out := row{cell: c, intervals: map[string]experiment.Interval{}, compared: map[string]experiment.Comparison{}}
	for _, run := range r.Sweep.Runs {
		if run.Cell == c.Key && run.State == experiment.StateOK {
			out.n++
		}
	}
	for _, i := range r.Results.Intervals {
		if i.Cell == c.Key {
			out.intervals[i.Metric] = i
		}
	}
	for _, x := range r.Results.Comparisons {
		if x.Cell == c.Key {
			out.compared[x.Metric] = x
		}
	}
	if i, ok := out.intervals[r.primary()]; ok {
		out.n = i.N
	}
	return out
}

// place sorts a cell: role, factor, level.
func (r Report) place(c experiment.Cell) []int {
	role := slices.Index([]experiment.Role{experiment.RoleBaseline, experiment.RoleControl, experiment.RoleVaried, experiment.RoleCorner}, c.Role)
	factor := slices.IndexFunc(r.Sweep.Factors, func(f experiment.Factor) bool { return f.Name == c.Factor })
	if factor < 0 {
		return []int{role, len(r.Sweep.Factors), 0}
	}
	level := slices.IndexFunc(r.Sweep.Factors[factor].Levels, func(l experiment.Level) bool { return l.Text == c.Level })
	return []int{role, factor, level}
}

// label names a cell where its group is known from the context.
func label(c experiment.Cell) string { return short(Plain(c.Label()), maxLabel) }

const maxLabel = 44

// fullLabel names a cell among all of the sweep.
func fullLabel(c experiment.Cell) string {
	if t := (group{stage: c.Stage, condition: c.Condition}).title(); t != "" {
		return label(c) + " (" + Plain(t) + ")"
	}
	return label(c)
}

func (r Report) cellByKey(k experiment.CellKey) (experiment.Cell, bool) {
	i := slices.IndexFunc(r.Sweep.Cells, func(c experiment.Cell) bool { return c.Key == k })
	if i < 0 {
		return experiment.Cell{}, false
	}
	return r.Sweep.Cells[i], true
}

// interim reports whether planned rounds are still to be done.
func (r Report) interim() bool { return r.Results.RoundsDone < r.planned() }

func (r Report) planned() int { return cmp.Or(r.Results.Planned, r.Sweep.Rounds) }

// secondary is a metric that the table shows beside the primary one.
type secondary struct {
	metric string
	spare  int // left out for want of width, highest first
}

// secondaries lists those that were measured. Processor time is that of the
// services of the matrix which use most, at the baseline.
func (r Report) secondaries() []secondary {
	have := map[string]bool{}
	for _, i := range r.Results.Intervals {
		have[i.Metric] = have[i.Metric] || known(i.Estimate)
	}
	all := []secondary{{experiment.DefaultMetric, 1}, {"latency_p50", 5}, {"latency_p99", 2}, {"error_rate", 3}}
	for i, m := range r.busiest(2) {
		all = append(all, secondary{m, 4 + 2*i})
	}
	return slices.DeleteFunc(all, func(s secondary) bool { return !have[s.metric] || s.metric == r.primary() })
}

func (r Report) busiest(n int) []string {
	used := map[string]float64{}
	for _, i := range r.Results.Intervals {
		service, isCPU := strings.CutSuffix(i.Metric, ".cpu")
		c, _ := r.cellByKey(i.Cell)
		if !isCPU || reserved(service) || !known(i.Estimate) || i.Metric == r.primary() {
			continue
		}
		weight := *i.Estimate
		if c.Role != experiment.RoleBaseline {
			weight = 0 // known, but decides nothing
		}
		used[i.Metric] = max(used[i.Metric], weight)
	}
	names := make([]string, 0, len(used))
	for m := range used {
		names = append(names, m)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(used[b], used[a]), strings.Compare(a, b)) })
	return names[:min(n, len(names))]
}

// reserved names are no services of the matrix.
func reserved(service string) bool {
	switch service {
	case experiment.GeneratorName, experiment.LinkProxyName, experiment.EngineName, experiment.HostName, experiment.ConductorName:
		return true
	default:
		return false
	}
}
