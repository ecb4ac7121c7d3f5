package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/experiment"
)

// Report is a sweep with its analysis and the findings of its runs, ready to be
// rendered. Findings may hold those of Results too; each is shown once.
type Report struct {
	Sweep    experiment.Sweep
	Results  experiment.Results
	Findings []experiment.Finding
	Options  Options

	climbs []analysis.Climb
	before []experiment.Comparison // in the sweep before, of a peel
}

// group holds the cells of one family: one stage under one condition.
type group struct {
	stage, condition string
	metric           string // by which its cells are judged
	ladders          bool   // its cells are ladders as a whole
	rows             []row
}

// row is a cell with what is shown of it.
type row struct {
	cell      experiment.Cell
	metric    string // by which it is judged
	n         int    // counting runs
	intervals map[string]experiment.Interval
	compared  map[string]experiment.Comparison
}

// judged is the comparison that carries the verdict of the row.
func (x row) judged() (experiment.Comparison, bool) {
	c, ok := x.compared[x.metric]
	return c, ok
}

// title names a group among several; empty for the only one.
func (r Report) title(g group) string {
	title := titleOf(g.stage, g.condition, manyStages(r.Sweep.Cells))
	if !g.ladders || r.primary() == experiment.MetricCeiling {
		return title
	}
	return strings.TrimPrefix(title+", ladders", ", ")
}

// titleOf names a stage, where there are several, and a condition.
func titleOf(stage, condition string, stages bool) string {
	if stages {
		return strings.TrimSuffix("stage "+stage+", "+condition, ", ")
	}
	return condition
}

func manyStages(cells []experiment.Cell) bool {
	return slices.ContainsFunc(cells, func(c experiment.Cell) bool { return c.Stage != cells[0].Stage })
}

// groups orders the cells: stages and conditions as declared; inside a family the
// baseline, its control, then factors and levels as declared. The ladders of a stage
// stand at its end.
func (r Report) groups() []group {
	all := r.families(r.Sweep.Cells, r.primary(), false)
	if len(r.Sweep.Ladders) == 0 {
		return all
	}
	ladders := make([]experiment.Cell, len(r.Sweep.Ladders))
	for i, l := range r.Sweep.Ladders {
		ladders[i] = l.Cell
	}
	for _, g := range r.families(ladders, experiment.MetricCeiling, true) {
		last := 0
		for i := range all {
			if all[i].stage == g.stage {
				last = i
			}
		}
		all = slices.Insert(all, min(last+1, len(all)), g)
	}
	return all
}

// judged gives the groups that have verdicts: where the ceiling is what is asked,
// single rungs have none.
func (r Report) judged() []group {
	all := r.groups()
	if r.primary() != experiment.MetricCeiling || len(r.Sweep.Ladders) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(g group) bool { return !g.ladders })
}

func (r Report) families(cells []experiment.Cell, metric string, ladders bool) []group {
	rows := r.rows(cells, metric)
	var all []group
	index := map[[2]string]int{}
	for _, c := range cells {
		key := [2]string{c.Stage, c.Condition}
		i, ok := index[key]
		if !ok {
			i = len(all)
			index[key] = i
			all = append(all, group{stage: c.Stage, condition: c.Condition, metric: metric, ladders: ladders})
		}
		all[i].rows = append(all[i].rows, *rows[c.Key])
	}
	for _, g := range all {
		slices.SortStableFunc(g.rows, func(a, b row) int {
			return slices.Compare(r.place(a.cell), r.place(b.cell))
		})
	}
	return all
}

// rows gathers what is known of cells.
func (r Report) rows(cells []experiment.Cell, metric string) map[experiment.CellKey]*row {
	rows := make(map[experiment.CellKey]*row, len(cells))
	for _, c := range cells {
		rows[c.Key] = &row{cell: c, metric: metric, intervals: map[string]experiment.Interval{}, compared: map[string]experiment.Comparison{}}
	}
	for _, run := range r.Sweep.Runs {
		if x := rows[run.Cell]; x != nil && run.State == experiment.StateOK {
			x.n++
		}
	}
	for _, i := range r.Results.Intervals {
		if x := rows[i.Cell]; x != nil {
			x.intervals[i.Metric] = i
		}
	}
	for _, c := range r.Results.Comparisons {
		if x := rows[c.Cell]; x != nil {
			x.compared[c.Metric] = c
		}
	}
	for _, x := range rows {
		if i, ok := x.intervals[metric]; ok {
			x.n = i.N
		}
	}
	return rows
}

// progress tells how many rounds of the group are done: "3 of 5", "7 of at most 30".
func (r Report) progress(g group) string {
	analysed := false
	for _, x := range g.rows {
		states := make([]string, 0, len(x.compared)+len(x.intervals))
		for _, c := range x.compared {
			states = append(states, c.State)
		}
		for _, i := range x.intervals {
			states = append(states, i.State)
		}
		for _, s := range states {
			for _, prefix := range []string{experiment.ResultsInterim, experiment.ResultsStopped} {
				if rounds, ok := strings.CutPrefix(s, prefix); ok {
					return rounds
				}
			}
			analysed = analysed || s != ""
		}
	}
	done := r.Results.RoundsDone
	if analysed {
		done = max(done, r.planned())
	}
	return r.of(done)
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
func label(c experiment.Cell) string { return short(Plain(c.Label())) }

// fullLabel names a cell among all of the sweep.
func (r Report) fullLabel(c experiment.Cell) string {
	return labelIn(c, titleOf(c.Stage, c.Condition, manyStages(r.Sweep.Cells)))
}

func labelIn(c experiment.Cell, title string) string {
	if title != "" {
		return label(c) + " (" + Plain(title) + ")"
	}
	return label(c)
}

// interim reports whether planned rounds are still to be done.
func (r Report) interim() bool { return r.Results.RoundsDone < r.planned() && r.accepted() == "" }

func (r Report) planned() int { return cmp.Or(r.Results.Planned, r.Sweep.Rounds) }

// secondary is a metric that the table shows beside the primary one.
type secondary struct {
	metric string
	spare  int // left out for want of width, highest first
}

// secondaries lists those that were measured, those that the matrix brings among them.
// Processor time is that of the services of the matrix which use most, at the baseline.
func (r Report) secondaries() []secondary {
	have := map[string]bool{}
	for _, i := range r.Results.Intervals {
		have[i.Metric] = have[i.Metric] || known(i.Estimate)
	}
	all := []secondary{{experiment.DefaultMetric, 1}, {"latency_p50", 5}, {"latency_p99", 2}, {"error_rate", 3}}
	primary := experiment.SplitMetricName(r.primary())
	for i := range all {
		base := all[i].metric
		for _, of := range []string{experiment.MetricName{Phase: primary.Phase, Base: base}.String(), primary.Of(base)} {
			if have[of] { // of the same phase, and of the same request if it is known apart
				all[i].metric = of
			}
		}
		// Who counts from the real send alone knows no latencies.
		if of := strings.Replace(all[i].metric, "latency_", "service_time_", 1); !have[all[i].metric] && have[of] {
			all[i].metric = of
		}
	}
	for _, m := range r.Sweep.Declared { // who makes a metric wants to see it more than who collects many
		spare := 2
		if strings.Contains(m.Name, ".") {
			spare = 7
		}
		all = append(all, secondary{m.Name, spare})
	}
	for i, m := range r.busiest(2) {
		all = append(all, secondary{m, 4 + 2*i})
	}
	return slices.DeleteFunc(all, func(s secondary) bool { return !have[s.metric] || s.metric == r.primary() })
}

// busiest lists the processor time of the services that use most of it, in the phase that
// is judged.
func (r Report) busiest(n int) []string {
	used := map[string]float64{}
	phase := experiment.SplitMetricName(r.primary()).Phase
	for _, i := range r.Results.Intervals {
		m := experiment.SplitMetricName(i.Metric)
		service, isCPU := strings.CutSuffix(m.Base, ".cpu")
		c, _ := r.Sweep.Cell(i.Cell)
		if !isCPU || m.Phase != phase || reserved(service) || !known(i.Estimate) || i.Metric == r.primary() {
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
