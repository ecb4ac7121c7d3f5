package conduct

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// maxInfraFailures is how many infrastructure failures in a row end an invocation.
const maxInfraFailures = 5

// maxAttempts is how often an invocation tries a run that the infrastructure fails.
const maxAttempts = 2

// suspendAfter is after how many rounds in a row a failing subject's cell is
// suspended.
const suspendAfter = 2

// rounds executes the pending runs, round by round.
func (s *sweep) rounds(ctx context.Context) (Ending, error) {
	round := 0 // the one under way
	for {
		pending, err := s.Store.Pending(ctx, s.head.ID)
		if err != nil {
			return EndedAborted, fmt.Errorf("read the plan: %w", err)
		}
		if round != 0 && (len(pending) == 0 || pending[0].Round != round) {
			if err := s.endRound(ctx, round); err != nil {
				return EndedAborted, err
			}
		}
		if len(pending) == 0 {
			return EndedDone, nil
		}
		round = pending[0].Round
		for _, run := range pending {
			if run.Round != round {
				break
			}
			if ending, err := s.step(ctx, run); ending != "" || err != nil {
				return ending, err
			}
		}
	}
}

// endRound judges the sweep so far and folds the log into the file.
func (s *sweep) endRound(ctx context.Context, round int) error {
	if _, err := s.judge(ctx); err != nil {
		return err
	}
	if err := s.Store.Checkpoint(ctx); err != nil {
		s.Log.Warn("checkpoint", "err", err)
	}
	s.Events(Event{Kind: EventRound, Sweep: s.head.ID, Round: round, Rounds: s.head.Rounds})
	return nil
}

// step executes one run, unless the invocation is to end first.
func (s *sweep) step(ctx context.Context, run experiment.Run) (Ending, error) {
	if ctx.Err() != nil {
		return EndedAborted, nil
	}
	select {
	case <-s.req.Drain:
		return EndedDrained, nil
	default:
	}
	state, err := s.one(ctx, run)
	switch {
	case err != nil:
		return EndedAborted, err
	case state == experiment.StateInterrupted:
		return EndedAborted, nil
	case s.infra >= maxInfraFailures:
		return EndedInfrastructure, nil
	}
	return "", nil
}

// one executes one run, or skips it if its cell is suspended, and stores it.
func (s *sweep) one(ctx context.Context, run experiment.Run) (experiment.RunState, error) {
	plan := s.plans[run.Cell]
	run.Invocation = s.head.Invocation
	run.Began = s.Now()
	run, err := s.Store.BeginRun(ctx, run)
	if err != nil {
		return "", fmt.Errorf("begin run: %w", err)
	}
	s.Events(s.event(EventRunBegan, run, plan))
	var o experiment.Outcome
	if s.suspended(plan.Cell) {
		run.State, run.Reason = experiment.StateSkipped, "suspended"
		o = experiment.Outcome{Run: run, Plan: plan, Placement: s.placement, Host: s.host, Images: s.images}
	} else {
		o = s.execute(ctx, run, plan)
	}
	o.Run.Ended = s.Now()
	s.finite(&o)
	findings := s.judgeRun(&o)
	// The record of a run outlives the wish to stop.
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := s.Store.EndRun(keep, o, findings); err != nil {
		return "", fmt.Errorf("store run %d: %w", run.ID, err)
	}
	if err := s.account(keep, o.Run); err != nil {
		return "", err
	}
	e := s.event(EventRunEnded, o.Run, plan)
	e.Findings = findings
	e.Value, e.HasValue = o.Observed(s.req.Matrix.Judge.Metric)
	s.Events(e)
	return o.Run.State, nil
}

// finite leaves out what is no number, and says so: a faulty tool must not cost the
// rest of the run.
func (s *sweep) finite(o *experiment.Outcome) {
	isFinite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	o.Observations = slices.DeleteFunc(o.Observations, func(x experiment.Observation) bool {
		if isFinite(x.Value) {
			return false
		}
		s.Log.Warn("left out: no finite number", "run", o.Run.ID, "metric", x.Metric)
		return true
	})
	o.Series = slices.DeleteFunc(o.Series, func(x experiment.SeriesPoint) bool { return !isFinite(x.Value) })
	o.Result.Observations, o.Result.Series = nil, nil // they stand among those of the run
}

// judgeRun asks the guards about a run that was measured or failed; an invalid
// finding excludes it by rule.
func (s *sweep) judgeRun(o *experiment.Outcome) []experiment.Finding {
	if o.Run.State == experiment.StateInterrupted || o.Run.State == experiment.StateSkipped {
		return nil
	}
	findings := s.Judge.JudgeRun(*o, s.req.Matrix.Judge)
	for i := range findings {
		findings[i].Run, findings[i].Cell = o.Run.ID, o.Run.Cell
		if findings[i].Severity == experiment.SeverityInvalid && o.Run.State == experiment.StateOK {
			o.Run.State, o.Run.Reason = experiment.StateInvalid, findings[i].Code
		}
	}
	return findings
}

// account keeps the books after a run: who is retried, who is suspended.
func (s *sweep) account(ctx context.Context, run experiment.Run) error {
	s.counts[run.State]++
	s.tried[place{run.Cell, run.Round}]++
	s.progress.ran(run.Ended.Sub(run.Began))
	switch run.State {
	case experiment.StateFailedInfra:
		s.infra++
		if s.tried[place{run.Cell, run.Round}] == maxAttempts {
			s.missing++
			return nil
		}
		// At the end of the round: pending runs are ordered by round, then by when
		// they were planned.
		s.progress.done--
		again := experiment.Run{Cell: run.Cell, Round: run.Round, Attempt: run.Attempt + 1, State: experiment.StatePending}
		if err := s.Store.Reschedule(ctx, s.head.ID, experiment.Reschedule{Add: []experiment.Run{again}}); err != nil {
			return fmt.Errorf("plan another attempt: %w", err)
		}
	case experiment.StateFailedSubject:
		s.infra = 0
		s.failed[run.Cell]++
	case experiment.StateSkipped:
	default:
		s.infra = 0
		s.failed[run.Cell] = 0
	}
	return nil
}

func (s *sweep) suspended(c experiment.Cell) bool {
	return c.Role != experiment.RoleBaseline && c.Role != experiment.RoleControl && s.failed[c.Key] >= suspendAfter
}

// judge analyses the whole sweep and replaces its results.
func (s *sweep) judge(ctx context.Context) (experiment.Results, error) {
	sw, err := s.Store.LoadSweep(ctx, s.head.ID)
	if err != nil {
		return experiment.Results{}, fmt.Errorf("load sweep: %w", err)
	}
	set := s.req.Matrix.Judge
	r, err := s.Analyst.Analyse(sw, set)
	if err != nil {
		return r, fmt.Errorf("analyse: %w", err)
	}
	r.Findings = s.Judge.JudgeSweep(sw, r, set)
	if err := s.Store.ReplaceResults(ctx, s.head.ID, r); err != nil {
		return r, fmt.Errorf("store results: %w", err)
	}
	return r, nil
}
