package conduct

import (
	"cmp"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// slack is added to the hard limit of a run, for starting, for counting logs, and for
// removing.
const slack = 30 * time.Second

// hardLimit is the longest that a run may take: all that its matrix allows, and slack.
func hardLimit(p experiment.CellPlan) time.Duration {
	limit := p.Load.Duration() + slack
	for _, s := range p.Services {
		limit += serviceLimit(s)
	}
	for _, step := range p.Prepare {
		limit += cmp.Or(step.Within, experiment.DefaultJobWithin)
	}
	return limit + collectLimit(p.Collect)
}

// serviceLimit is what the matrix allows one service: to get ready, or to do its job;
// to be prepared, asked and collected from.
func serviceLimit(s experiment.Service) time.Duration {
	copies := time.Duration(max(s.Replicas, 1)) // started and asked one after another
	limit := copies * collectLimit(s.Collect)
	if s.Ready != nil {
		limit += copies * cmp.Or(s.Ready.Within, experiment.DefaultReadyWithin)
	}
	if s.Job {
		limit += cmp.Or(s.JobWithin, experiment.DefaultJobWithin)
	}
	for _, step := range s.Prepare.Steps {
		limit += copies * cmp.Or(step.Within, experiment.DefaultJobWithin)
	}
	if s.Prepare.Snapshot { // made, restored, and started once more
		limit += 2 * snapshotLimit
		if s.Ready != nil {
			limit += cmp.Or(s.Ready.Within, experiment.DefaultReadyWithin)
		}
	}
	for _, step := range s.Confirm {
		limit += copies * cmp.Or(step.Within, experiment.DefaultConfirmWithin)
	}
	return limit
}

// collectLimit is for the questions at the ends of the window: those inside it take no
// time of their own.
func collectLimit(all []experiment.Collect) time.Duration {
	var limit time.Duration
	for _, c := range all {
		within := cmp.Or(c.Within, experiment.DefaultConfirmWithin)
		if len(c.Moments) == 0 {
			limit += within
		}
		for _, m := range c.Moments {
			if m != experiment.MomentDuring {
				limit += within
			}
		}
	}
	return limit
}
