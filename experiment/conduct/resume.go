package conduct

import "github.com/ceteris/ceteris/experiment"

// mend says how the plan of a sweep must change before an invocation goes on:
//
//   - what was running when its invocation died is interrupted;
//   - a round in which every cell is settled stays;
//   - a round that nothing has touched keeps its pending runs, or gets them;
//   - a round that is split, some cells settled and some not, is run again whole,
//     so that all its runs share a time: its old runs are superseded.
func mend(runs []experiment.Run, cells []experiment.Cell, rounds int, seed uint64) experiment.Reschedule {
	byRound := map[int][]experiment.Run{}
	for _, r := range runs {
		byRound[r.Round] = append(byRound[r.Round], r)
	}
	var out experiment.Reschedule
	for round := 1; round <= rounds; round++ {
		mendRound(&out, byRound[round], cells, round, seed)
	}
	return out
}

func mendRound(out *experiment.Reschedule, runs []experiment.Run, cells []experiment.Cell, round int, seed uint64) {
	settled, pending := map[experiment.CellKey]bool{}, map[experiment.CellKey]bool{}
	attempts := map[experiment.CellKey]int{}
	touched := false
	var standing []experiment.Run
	var planned []int64
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
			settled[r.Cell] = true
			standing = append(standing, r)
		default:
			touched = true
		}
	}
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
