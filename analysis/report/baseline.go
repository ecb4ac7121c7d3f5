package report

import "github.com/ceteris/ceteris/experiment"

// Incomparable says why nothing can be compared in a family of a sweep whose
// rounds are done: its baseline gives no value to compare with. last is the reason
// of the last run of that baseline that does not count, if there is one. Both are
// empty where every family can be compared.
func (r Report) Incomparable() (why, last string) {
	r = r.judgedOnly()
	for _, g := range r.judged() {
		if why = r.incomparable(g); why == "" {
			continue
		}
		base, _ := g.baseline()
		for _, run := range r.Sweep.Runs {
			if run.Cell == base.cell.Key && run.State.Settled() && run.Reason != "" {
				last = run.Reason
			}
		}
		return why, last
	}
	return "", ""
}

func (r Report) incomparable(g group) string {
	base, ok := g.baseline()
	if !ok {
		return ""
	}
	counting, failed, invalid, settled := 0, 0, 0, 0
	for _, run := range r.Sweep.Runs {
		switch {
		case run.Cell != base.cell.Key || !run.State.Settled():
			continue
		case run.State == experiment.StateOK:
			counting++
		case run.State == experiment.StateFailedSubject:
			failed++
		case run.State == experiment.StateInvalid:
			invalid++
		}
		settled++
	}
	if g.ladders {
		return "" // the reasons stand in the rows
	}
	m := r.metric(g.metric)
	value, measured := base.intervals[m.Name]
	switch {
	case settled == 0:
		return ""
	case failed == settled:
		return "the baseline fails in every round"
	case invalid == settled:
		return "every run of the baseline is invalid"
	case counting == 0:
		return "no run of the baseline counts"
	case measured && value.N == 0 && base.noSuccess(),
		m.Scale == experiment.ScaleRatio && base.allZero(m.Name) && base.noSuccess():
		return "the baseline has no successful request"
	case measured && value.N == 0:
		return "no run of the baseline has a value of " + m.Name
	case m.Scale == experiment.ScaleRatio && base.allZero(m.Name):
		return m.Name + " is zero in every run of the baseline"
	default:
		return ""
	}
}

// baseline gives the row of the baseline.
func (g group) baseline() (row, bool) {
	for _, x := range g.rows {
		if x.cell.Role == experiment.RoleBaseline {
			return x, true
		}
	}
	return row{}, false
}
