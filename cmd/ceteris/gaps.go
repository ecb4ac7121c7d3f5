package main

import (
	"fmt"
	"slices"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

// cellRounds are the rounds of one cell in which a run stands.
type cellRounds struct {
	settled map[int]bool // whatever came of it
	counts  map[int]bool // unless it is invalid: that the subject failed is a result
	skipped bool         // at least once, for the cell is suspended
}

// roundsOf gathers the rounds of every cell of a sweep.
func roundsOf(s experiment.Sweep) map[experiment.CellKey]*cellRounds {
	all := make(map[experiment.CellKey]*cellRounds, len(s.Cells))
	for _, c := range s.Cells {
		all[c.Key] = &cellRounds{settled: map[int]bool{}, counts: map[int]bool{}}
	}
	for _, r := range s.Runs {
		c, known := all[r.Cell]
		if !known || !r.State.Settled() {
			continue
		}
		c.settled[r.Round] = true
		c.counts[r.Round] = c.counts[r.Round] || r.State != experiment.StateInvalid
		c.skipped = c.skipped || r.State == experiment.StateSkipped
	}
	return all
}

// gaps names the cells that lack rounds which the others have gone through, and those
// that are suspended. whole says that the last round was gone through to its end: no
// cell lacks the rest of a round that was cut short, it is run again.
func gaps(s experiment.Sweep, whole bool) (lacking, suspended []string) {
	rounds := roundsOf(s)
	through := map[string]int{} // by stage
	for _, c := range s.Cells {
		for round := range rounds[c.Key].settled {
			through[c.Stage] = max(through[c.Stage], round)
		}
	}
	if !whole {
		for stage, last := range through {
			cut := func(c experiment.Cell) bool { return c.Stage == stage && !rounds[c.Key].settled[last] }
			if slices.ContainsFunc(s.Cells, cut) {
				through[stage]--
			}
		}
	}
	for _, c := range s.Cells {
		have := 0
		for round := range rounds[c.Key].counts {
			if rounds[c.Key].counts[round] && round <= through[c.Stage] {
				have++
			}
		}
		switch {
		case rounds[c.Key].skipped:
			suspended = append(suspended, nameOf(c))
		case have < through[c.Stage]:
			lacking = append(lacking, fmt.Sprintf("%s has %d of %d", nameOf(c), have, through[c.Stage]))
		}
	}
	return lacking, suspended
}

// nameOf is the label of a cell with its stage and condition, where it has them.
func nameOf(c experiment.Cell) string {
	name := c.Label()
	if c.Stage != experiment.MainStage && c.Stage != "" {
		name = c.Stage + ": " + name
	}
	if c.Condition != "" {
		name += " at " + c.Condition
	}
	return report.Plain(name)
}
