package conduct

import (
	"maps"

	"github.com/ceteris/ceteris/experiment"
)

// block is one round of one stage: the runs that are shuffled together and stand or
// fall together.
type block struct {
	stage string
	round int
}

// byStage parts cells, stages in order of declaration.
func byStage(cells []experiment.Cell) [][]experiment.Cell {
	var stages [][]experiment.Cell
	at := map[string]int{}
	for _, c := range cells {
		i, known := at[c.Stage]
		if !known {
			i = len(stages)
			at[c.Stage] = i
			stages = append(stages, nil)
		}
		stages[i] = append(stages[i], c)
	}
	return stages
}

// mend says how the plan of a sweep must change before an invocation goes on:
//
//   - what was running when its invocation died is interrupted;
//   - a round in which every cell is settled stays;
//   - a round that nothing has touched keeps its pending runs, or gets them;
//   - a round that is split, some cells settled and some not, is run again whole,
//     so that all its runs share a time: its old runs are superseded;
//   - runs of rounds that are planned no more are dropped;
//   - a cell whose run the host disturbed is not settled as long as another attempt is
//     owed to it: the invocation ended before it was made, and one that is made now
//     would not share the time of its round, which is thereby split.
//
// Each stage has rounds of its own, and by a rule one may have come further than is
// planned for all: these of its rounds are mended as well. Runs are added in the order in
// which they are to come: stage by stage, round by round.
func mend(runs []experiment.Run, cells []experiment.Cell, rounds int, seed uint64) experiment.Reschedule {
	stageOf := make(map[experiment.CellKey]string, len(cells))
	last := map[string]int{}
	for _, c := range cells {
		stageOf[c.Key], last[c.Stage] = c.Stage, rounds
	}
	blocks := map[block][]experiment.Run{}
	for _, r := range runs {
		b := block{stageOf[r.Cell], r.Round}
		blocks[b] = append(blocks[b], r)
		if r.State.Settled() {
			last[b.stage] = max(last[b.stage], r.Round)
		}
	}
	var out experiment.Reschedule
	for _, r := range runs {
		switch over := r.Round > last[stageOf[r.Cell]]; {
		case over && r.State == experiment.StatePending:
			out.Drop = append(out.Drop, r.ID)
		case over && r.State == experiment.StateRunning:
			out.Interrupted = append(out.Interrupted, r.ID)
		}
	}
	for _, stage := range byStage(cells) {
		for round := 1; round <= last[stage[0].Stage]; round++ {
			mendRound(&out, blocks[block{stage[0].Stage, round}], stage, round, seed)
		}
	}
	return out
}

func mendRound(out *experiment.Reschedule, runs []experiment.Run, cells []experiment.Cell, round int, seed uint64) {
	settled, pending := map[experiment.CellKey]bool{}, map[experiment.CellKey]bool{}
	attempts := map[experiment.CellKey]int{}
	touched := false
	var standing []experiment.Run
	var planned []int64
	owed := owedAttempts(runs)
	for _, r := range runs {
		attempts[r.Cell] = max(attempts[r.Cell], r.Attempt)
		switch {
		case r.State == experiment.StatePending:
			pending[r.Cell] = true
			planned = append(planned, r.ID)
		case r.State == experiment.StateRunning:
			touched = true
			out.Interrupted = append(out.Interrupted, r.ID)
		case r.State.Settled():
			touched = true
			settled[r.Cell] = !owed[r.Cell]
			standing = append(standing, r)
		default:
			touched = true
		}
	}
	maps.DeleteFunc(settled, func(_ experiment.CellKey, is bool) bool { return !is })
	switch {
	case len(settled) == len(cells):
		out.Drop = append(out.Drop, planned...)
		return
	case !touched && len(pending) == len(cells) && len(planned) == len(cells):
		return
	}
	for _, r := range standing {
		r.Reason = r.SupersededReason()
		r.State = experiment.StateSuperseded
		out.Superseded = append(out.Superseded, r)
	}
	out.Drop = append(out.Drop, planned...)
	for _, r := range experiment.ScheduleRound(cells, round, seed) {
		r.Attempt = attempts[r.Cell] + 1
		if !touched {
			r.Attempt = 1
		}
		out.Add = append(out.Add, r)
	}
}

// owedAttempts gives the cells of a round whose last result the host disturbed, and
// which the invocation that made it has tried less often than it would have, or in vain
// since. Runs are in order of their ids.
func owedAttempts(runs []experiment.Run) map[experiment.CellKey]bool {
	type trier struct {
		cell       experiment.CellKey
		invocation int64
	}
	tried := map[trier]int{}
	owed := map[experiment.CellKey]bool{}
	for _, r := range runs {
		by := trier{r.Cell, r.Invocation}
		switch {
		case r.State == experiment.StateFailedInfra:
			tried[by]++
		case r.State.Settled():
			tried[by]++
			owed[r.Cell] = again(r) && tried[by] < maxAttempts
		}
	}
	return owed
}
