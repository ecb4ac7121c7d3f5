package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// cellRuns is what a cell contributes: its counting runs in round order, and the
// rounds in which the subject failed instead.
type cellRuns struct {
	cell     experiment.Cell
	counting []countingRun
	failed   map[int]bool
	silent   bool   // it has counting runs, and in none of them a request succeeded
	unfit    string // why its values may not be tested
	absent   string // why it has no counting run; empty: there is no valid one
}

type countingRun struct {
	id     int64
	round  int
	seq    int // executed order; 0 if it is not known
	values map[string]float64
}

// hasRound reports whether a counting run stands in the round.
func (c *cellRuns) hasRound(round int) bool {
	return slices.ContainsFunc(c.counting, func(r countingRun) bool { return r.round == round })
}

// interim reports whether rounds are still to come: there are no verdicts yet.
func interim(state string) bool { return strings.HasPrefix(state, experiment.ResultsInterim) }

// stage is the cells that share rounds.
type stage struct {
	name   string
	cells  []*cellRuns
	rounds []int // done, ascending; none for runs without rounds
	paired bool
	state  string
}

// family is the cells of a stage under one condition, with their baseline.
type family struct {
	stage    *stage
	cells    []*cellRuns // baseline and control too, in order of declaration
	baseline *cellRuns   // nil if none is declared
}

// arranged is a sweep sorted for analysis.
type arranged struct {
	families []*family
	units    map[string]experiment.Unit // of every metric seen in a measured window
	zero     map[string]bool            // metrics of which a counting run of a cell that is compared has a value that is zero or negative
	done     int                        // rounds, of the stage that has fewest
}

// arrange sorts runs by stage, cell and round, and leaves out rounds in which a
// cell is still to come. Two counting runs for one cell and round are an error.
func arrange(s experiment.Sweep) (arranged, error) {
	byCell := make(map[experiment.CellKey][]experiment.RunRecord)
	for _, c := range s.Cells {
		byCell[c.Key] = nil
	}
	out := arranged{units: make(map[string]experiment.Unit), zero: make(map[string]bool)}
	for _, r := range s.Runs {
		if _, ok := byCell[r.Cell]; !ok {
			return out, fmt.Errorf("run %d: the sweep has no cell %q", r.ID, r.Cell)
		}
		byCell[r.Cell] = append(byCell[r.Cell], r)
		for _, o := range r.Observations {
			if o.Phase == experiment.PhaseMeasure && out.units[o.Metric] == "" {
				out.units[o.Metric] = o.Unit
			}
		}
	}
	stages, err := stagesOf(s, byCell)
	if err != nil {
		return out, err
	}
	for i, st := range stages {
		if i == 0 || len(st.rounds) < out.done {
			out.done = len(st.rounds)
		}
		out.families = append(out.families, st.families()...)
		for _, c := range st.cells {
			c.silent = len(c.counting) > 0 && !slices.ContainsFunc(c.counting, countingRun.succeeds)
		}
	}
	for _, f := range out.families {
		for _, c := range f.cells {
			if !f.silenced(c) { // it fails, and is not compared
				c.findZero(out.zero)
			}
		}
	}
	return out, nil
}

// findZero marks the metrics of which a counting run has no positive value.
func (c *cellRuns) findZero(zero map[string]bool) {
	for _, r := range c.counting {
		for metric, v := range r.values {
			if v <= 0 {
				zero[metric] = true
			}
		}
	}
}

// succeeds reports whether a request succeeded in the measured window, or one of its
// phases; or whether nothing tells.
func (r countingRun) succeeds() bool {
	if v, ok := r.values[experiment.DefaultMetric]; ok {
		return v != 0
	}
	told := false
	for metric, v := range r.values {
		if strings.HasSuffix(metric, ":"+experiment.DefaultMetric) {
			if v != 0 {
				return true
			}
			told = true
		}
	}
	return !told
}

// accept takes the rounds that there are for all that there will be.
func (a arranged) accept() {
	for _, f := range a.families {
		if rounds, open := strings.CutPrefix(f.stage.state, experiment.ResultsInterim); open {
			f.stage.state = experiment.ResultsStopped + rounds
		}
	}
}

// stagesOf sorts cells into stages and finds the rounds of each that are done.
func stagesOf(s experiment.Sweep, byCell map[experiment.CellKey][]experiment.RunRecord) ([]*stage, error) {
	var stages []*stage
	for _, c := range s.Cells {
		i := slices.IndexFunc(stages, func(st *stage) bool { return st.name == c.Stage })
		if i < 0 {
			i = len(stages)
			stages = append(stages, &stage{name: c.Stage})
		}
		stages[i].cells = append(stages[i].cells, &cellRuns{cell: c, failed: make(map[int]bool)})
	}
	for _, st := range stages {
		if err := st.settle(byCell, s.Rounds); err != nil {
			return nil, err
		}
	}
	return stages, nil
}

// settle finds which rounds are done and which runs count.
func (st *stage) settle(byCell map[experiment.CellKey][]experiment.RunRecord, planned int) error {
	seen, open, whole := make(map[int]bool), make(map[int]bool), false
	for _, c := range st.cells {
		for round, runs := range byRound(byCell[c.cell.Key]) {
			seen[round] = true
			whole = whole || round > 0
			if unsettled(runs) {
				open[round] = true
			}
		}
	}
	if seen[0] && whole {
		return fmt.Errorf("stage %s: some runs have a round and some have none", st.name)
	}
	st.paired = !seen[0]
	for round := range seen {
		if !open[round] && round > 0 {
			st.rounds = append(st.rounds, round)
		}
	}
	slices.Sort(st.rounds)
	st.state = experiment.ResultsFinal
	if len(st.rounds) < planned && st.paired {
		st.state = fmt.Sprintf(experiment.ResultsInterim+"%d of %d", len(st.rounds), planned)
	}
	for _, c := range st.cells {
		if err := c.count(byCell[c.cell.Key], open, st.paired); err != nil {
			return err
		}
	}
	return nil
}

func byRound(runs []experiment.RunRecord) map[int][]experiment.RunRecord {
	out := make(map[int][]experiment.RunRecord)
	for _, r := range runs {
		out[r.Round] = append(out[r.Round], r)
	}
	return out
}

// unsettled reports whether a cell is still to come in a round: a run is planned
// or under way, or the last one is to be replaced and no other stands for it. A
// cell whose attempts all failed by infrastructure is missing, which is settled.
func unsettled(runs []experiment.RunRecord) bool {
	settled := false
	var last experiment.RunRecord
	for _, r := range runs {
		switch {
		case r.State == experiment.StatePending, r.State == experiment.StateRunning:
			return true
		case r.State.Settled():
			settled = true
		}
		if r.ID >= last.ID {
			last = r
		}
	}
	return !settled && last.State != experiment.StateFailedInfra
}

// count collects the counting runs of the rounds that are done.
func (c *cellRuns) count(runs []experiment.RunRecord, open map[int]bool, paired bool) error {
	at := make(map[int]int64)
	for _, r := range runs {
		if open[r.Round] && paired {
			continue
		}
		switch r.State {
		case experiment.StateFailedSubject, experiment.StateSkipped:
			c.failed[r.Round] = true
		case experiment.StateOK:
			if other, ok := at[r.Round]; ok && paired {
				return fmt.Errorf("cell %s, round %d: run %d and run %d both count", c.cell.Label(), r.Round, other, r.ID)
			}
			at[r.Round] = r.ID
			values, err := measured(r)
			if err != nil {
				return err
			}
			c.counting = append(c.counting, countingRun{id: r.ID, round: r.Round, seq: r.Seq, values: values})
		default: // it does not count
		}
	}
	for round := range at {
		delete(c.failed, round)
	}
	slices.SortStableFunc(c.counting, func(a, b countingRun) int { return cmp.Compare(a.round, b.round) })
	return nil
}

// measured gives the values of the measured window by metric.
func measured(r experiment.RunRecord) (map[string]float64, error) {
	values := make(map[string]float64, len(r.Observations))
	for _, o := range r.Observations {
		if o.Phase != experiment.PhaseMeasure {
			continue
		}
		if before, twice := values[o.Metric]; twice {
			return nil, fmt.Errorf("run %d: %s is given twice, as %v and %v", r.ID, o.Metric, before, o.Value)
		}
		values[o.Metric] = o.Value
	}
	return values, nil
}

// families sorts the cells of a stage by condition.
func (st *stage) families() []*family { return familiesOf(st, st.cells) }

// ladderFamilies sorts ladders as if they were cells.
func ladderFamilies(all []ladder) []*family {
	var out []*family
	for i, l := range all {
		if slices.ContainsFunc(all[:i], func(o ladder) bool { return o.stage == l.stage }) {
			continue
		}
		var cells []*cellRuns
		for _, o := range all[i:] {
			if o.stage == l.stage {
				cells = append(cells, o.runs())
			}
		}
		out = append(out, familiesOf(l.stage, cells)...)
	}
	return out
}

func familiesOf(st *stage, cells []*cellRuns) []*family {
	var out []*family
	for _, c := range cells {
		i := slices.IndexFunc(out, func(f *family) bool { return f.cells[0].cell.Condition == c.cell.Condition })
		if i < 0 {
			i = len(out)
			out = append(out, &family{stage: st})
		}
		out[i].cells = append(out[i].cells, c)
		if c.cell.Role == experiment.RoleBaseline && out[i].baseline == nil {
			out[i].baseline = c
		}
	}
	return out
}
