package analysis

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/ceteris/ceteris/experiment"
)

// Climb is a ladder of a sweep with what became of each rung.
type Climb struct {
	Cell    experiment.Cell // of the ladder as a whole
	Rungs   []ClimbedRung   // the lowest first
	Ceiling Ceiling         // of the rungs' means; Plateau is that of one ladder, not the estimate
	Known   bool            // there is a ceiling to speak of: some rung has run
	Tail    string          // the metric that is the tail
}

// ClimbedRung is a rung, means over its counting runs.
type ClimbedRung struct {
	Rung
	Cell   experiment.Cell
	Level  string // of the condition that rises
	N      int    // counting runs
	Broken string // why it is not sustained; empty if it is, or if nothing is known
}

// known reports whether anything became of the rung.
func (r ClimbedRung) known() bool { return r.N > 0 || r.Failed }

// Climbs gives the ladders of a sweep, in order of declaration, over the rounds in
// which no cell is still to come; with a rule of stopping, over those at its last look.
func Climbs(s experiment.Sweep, set experiment.Settings) ([]Climb, error) {
	s, err := without(s, set.Without)
	if err != nil {
		return nil, fmt.Errorf("climb the ladders of sweep %d: %w", s.ID, err)
	}
	a, err := arrange(s)
	if err != nil {
		return nil, fmt.Errorf("climb the ladders of sweep %d: %w", s.ID, err)
	}
	a.await(s.Stopping, set.AcceptRounds)
	ladders, err := a.ladders(s, set)
	if err != nil {
		return nil, fmt.Errorf("climb the ladders of sweep %d: %w", s.ID, err)
	}
	var out []Climb
	for _, l := range ladders {
		out = append(out, l.climb())
	}
	return out, nil
}

// ladder is one of a sweep with the runs of its rungs.
type ladder struct {
	experiment.Ladder
	stage *stage
	rungs []*cellRuns
	scale rungScale
}

// rungScale says how a run becomes a rung.
type rungScale struct {
	rule       LadderRule
	objectives []experiment.Objective
	cores      int // of the generator; 0: not known
	tail       string
}

func scaleOf(s experiment.Sweep, set experiment.Settings) rungScale {
	out := rungScale{rule: DefaultLadderRule(), objectives: set.Objectives, cores: len(s.Placement.Load), tail: "latency_p99"}
	switch g := set.Guards["generator-cpu"]; {
	case g.Off:
		out.rule.Generator = 0
	case g.Above != nil:
		out.rule.Generator = *g.Above
	}
	if len(set.Objectives) > 0 {
		out.tail = set.Objectives[0].Metric
	}
	return out
}

// ladders finds the runs of every ladder.
func (a arranged) ladders(s experiment.Sweep, set experiment.Settings) ([]ladder, error) {
	cells := make(map[experiment.CellKey]*cellRuns)
	stages := make(map[string]*stage)
	for _, f := range a.families {
		stages[f.stage.name] = f.stage
		for _, c := range f.cells {
			cells[c.cell.Key] = c
		}
	}
	scale := scaleOf(s, set)
	var out []ladder
	for _, declared := range s.Ladders {
		l := ladder{Ladder: declared, stage: stages[declared.Cell.Stage], scale: scale}
		for _, key := range declared.Rungs {
			c, ok := cells[key]
			if !ok {
				return nil, fmt.Errorf("ladder %s: the sweep has no cell %q", declared.Cell.Key, key)
			}
			l.rungs = append(l.rungs, c)
		}
		if l.stage == nil || len(l.rungs) == 0 {
			return nil, fmt.Errorf("ladder %s has no rungs", declared.Cell.Key)
		}
		out = append(out, l)
	}
	return out, nil
}

// rung is what one run makes of a rung; false if it does not tell enough.
func (r rungScale) rung(values map[string]float64) (Rung, bool) {
	offered, ok1 := values["offered"]
	achieved, ok2 := values["throughput"]
	g := Rung{
		Offered: offered, Achieved: achieved, Dropped: values["dropped"], Errors: values["error_rate"],
		Median: values["latency_p50"], Tail: values[r.tail],
	}
	if r.cores > 0 {
		g.Generator = values[experiment.GeneratorName+".cpu"] / float64(r.cores)
	}
	for _, o := range r.objectives {
		if v, ok := values[o.Metric]; ok && v > o.Limit && enough(values, o.Metric) {
			g.Missed = true
		}
	}
	return g, ok1 && ok2 && checkFinite([]float64{g.Offered, g.Achieved, g.Dropped, g.Errors, g.Median, g.Tail, g.Generator}) == nil
}

// enough reports whether a run has the requests that a quantile needs.
func enough(values map[string]float64, metric string) bool {
	m, _ := experiment.MetricByName(metric)
	requests, known := countingRun{values: values}.requestsBehind(metric)
	return m.Q == 0 || !known || requests >= fewestRequests(m.Q)
}

// climb looks at the means of every rung.
func (l ladder) climb() Climb {
	out := Climb{Cell: l.Cell, Tail: l.scale.tail}
	var rungs []Rung
	var at []int // positions of those about which something is known
	for i, c := range l.rungs {
		r := ClimbedRung{Cell: c.cell, Level: l.level(c.cell)}
		r.Rung, r.N = l.scale.mean(c)
		r.Failed = r.N == 0 && len(c.failed) > 0
		if r.known() {
			r.Broken = l.scale.rule.Broken(r.Rung)
			rungs, at = append(rungs, r.Rung), append(at, i)
		}
		out.Rungs = append(out.Rungs, r)
	}
	ceiling, err := FindCeiling(rungs, l.scale.rule)
	if err != nil {
		return out
	}
	for _, position := range []*int{&ceiling.Sustained, &ceiling.Broken, &ceiling.TailFirst, &ceiling.MedianFirst} {
		if *position >= 0 {
			*position = at[*position]
		}
	}
	out.Ceiling, out.Known = ceiling, true
	return out
}

// mean gives the rung of the mean of every metric over the runs that count.
func (r rungScale) mean(c *cellRuns) (Rung, int) {
	sums := make(map[string][]float64)
	n := 0
	for _, run := range c.counting {
		if _, ok := r.rung(run.values); !ok {
			continue
		}
		n++
		for metric, v := range run.values {
			sums[metric] = append(sums[metric], v)
		}
	}
	means := make(map[string]float64, len(sums))
	for metric, v := range sums {
		means[metric] = stat.Mean(v, nil)
	}
	g, _ := r.rung(means)
	return g, n
}

// level is that of the condition by which the rung differs from its ladder.
func (l ladder) level(rung experiment.Cell) string {
	for _, s := range rung.Settings {
		if _, ok := l.Cell.Lookup(s.Factor); !ok {
			return s.Level
		}
	}
	return ""
}

// runs gives the ladder the form of a cell: one run for each round in which the
// whole ladder was climbed, with the plateau as its value. A round without a ceiling
// of the subject has no value, and none of the ladder may then be tested: what is left
// out would be its best rounds, or its strangest.
func (l ladder) runs() *cellRuns {
	out := &cellRuns{cell: l.Cell, failed: make(map[int]bool), absent: "no round with the whole ladder"}
	for _, round := range l.stage.rounds {
		rungs, whole := l.inRound(round)
		if !whole {
			continue
		}
		c, err := FindCeiling(rungs, l.scale.rule)
		if err != nil {
			continue
		}
		if c.Broken >= 0 && !c.Reached {
			out.failed[round] = true
			continue
		}
		run := countingRun{round: round, values: map[string]float64{}}
		switch {
		case c.Broken < 0:
			out.unfit = "above " + rate(rungs[len(rungs)-1].Offered)
		case c.Status == LadderClientLimited:
			out.unfit = "the generator breaks first"
		case c.Status == LadderNonMonotone: // one bad rung among the broken ones says nothing about the plateau
			out.unfit = string(LadderNonMonotone)
		default:
			run.values[experiment.MetricCeiling] = c.Plateau
		}
		out.counting = append(out.counting, run)
	}
	if len(out.counting) == 0 && len(out.failed) > 0 {
		out.absent = "no ladder with a plateau"
	}
	return out
}

// inRound gives the rungs of one round; whole is false if one is missing.
func (l ladder) inRound(round int) (rungs []Rung, whole bool) {
	for _, c := range l.rungs {
		i := slices.IndexFunc(c.counting, func(r countingRun) bool { return r.round == round })
		switch {
		case i >= 0:
			g, ok := l.scale.rung(c.counting[i].values)
			if !ok {
				return nil, false
			}
			rungs = append(rungs, g)
		case c.failed[round]:
			rungs = append(rungs, Rung{Failed: true})
		default:
			return nil, false
		}
	}
	return rungs, true
}

// rate prints a rate as people name the rungs of a ladder.
func rate(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f/s", v)
	}
	return fmt.Sprintf("%.3g/s", v)
}
