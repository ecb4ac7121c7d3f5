package conduct

import (
	"context"
	"fmt"
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// rule is the rule by which rounds are enough.
func (s *sweep) rule() experiment.Stopping { return s.req.Matrix.Repeat.Stopping }

// planned gives the rounds of each stage; with a rule, at most.
func (s *sweep) planned() int {
	if s.rule().Until == experiment.StopFixed {
		return s.head.Rounds
	}
	return min(s.head.Rounds, s.rule().AtMost)
}

// reach notes up to which round each stage has come.
func (s *sweep) reach(runs []experiment.Run) {
	for _, r := range runs {
		if stage := s.plans[r.Cell].Cell.Stage; r.State.Settled() {
			s.reached[stage] = max(s.reached[stage], r.Round)
		}
	}
}

// looks reports whether the rule looks at the stage of a block that is done, whose other
// runs are pending. Rounds that are run again come first: then all of them are done.
func (s *sweep) looks(b block, pending []experiment.Run) bool {
	s.reached[b.stage] = max(s.reached[b.stage], b.round)
	return !s.repeats(b.stage, pending) && s.rule().LastLook(s.reached[b.stage]) >= b.round
}

// repeats reports whether earlier rounds of a stage are still to be run again.
func (s *sweep) repeats(stage string, pending []experiment.Run) bool {
	return slices.ContainsFunc(pending, func(r experiment.Run) bool {
		return s.blockOf(r).stage == stage && r.Round <= s.reached[stage]
	})
}

// enough drops the pending runs of a stage whose rule is met, and gives the others.
func (s *sweep) enough(ctx context.Context, stage string, pending []experiment.Run) ([]experiment.Run, error) {
	var drop []int64
	left := slices.DeleteFunc(slices.Clone(pending), func(r experiment.Run) bool {
		if s.blockOf(r).stage != stage {
			return false
		}
		drop = append(drop, r.ID)
		return true
	})
	if len(drop) == 0 {
		return left, nil
	}
	if err := s.Store.Reschedule(ctx, s.head.ID, experiment.Reschedule{Drop: drop}); err != nil {
		return nil, fmt.Errorf("drop the rounds that are not needed: %w", err)
	}
	s.progress.total -= len(drop)
	s.Events(Event{Kind: EventEnough, Sweep: s.head.ID, Stage: stage, Round: s.reached[stage], Rounds: s.planned(), AtMost: true})
	return left, nil
}

// resumed drops what is pending of stages whose rule is met already: it was met just
// before a kill, or is another one since.
func (s *sweep) resumed(ctx context.Context, met []string) error {
	if len(met) == 0 {
		return nil
	}
	pending, err := s.pending(ctx)
	for _, stage := range met {
		if err == nil && !s.repeats(stage, pending) {
			pending, err = s.enough(ctx, stage, pending)
		}
	}
	return err
}

// finish makes a sweep with a rule, all stages of which are done, one of the rounds that
// were enough.
func (s *sweep) finish(ctx context.Context, r experiment.Results) error {
	if s.rule().Until == experiment.StopFixed || r.RoundsDone < r.Planned || r.RoundsDone >= s.head.Rounds {
		return nil
	}
	return s.Store.FinishRounds(ctx, s.head.ID, r.RoundsDone)
}
