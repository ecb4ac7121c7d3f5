package conduct

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// maxInfraFailures is how many infrastructure failures in a row end an invocation.
const maxInfraFailures = 5

// maxAttempts is how often an invocation tries a run that the infrastructure fails or
// the host disturbs.
const maxAttempts = 2

// suspendAfter is after how many rounds in a row a failing subject's cell is
// suspended.
const suspendAfter = 2

// rounds executes the pending runs, stage by stage and round by round.
func (s *sweep) rounds(ctx context.Context) (Ending, error) {
	pending, err := s.pending(ctx)
	for len(pending) > 0 && err == nil {
		b := s.blockOf(pending[0])
		if until := s.req.Until; !until.IsZero() && !s.Now().Before(until) {
			return EndedUntil, nil
		}
		for n := s.leading(pending, b); n > 0; n = s.leading(pending, b) {
			for _, run := range pending[:n] {
				if ending, err := s.step(ctx, run); ending != "" || err != nil {
					return ending, err
				}
			}
			pending = pending[n:]
			if s.replanned { // what is tried again stands at the end of its round
				if pending, err = s.pending(ctx); err != nil {
					return EndedAborted, err
				}
			}
		}
		enough, err := s.endRound(ctx, b, pending)
		if err == nil && enough {
			pending, err = s.enough(ctx, b.stage, pending)
		}
		if err != nil {
			return EndedAborted, err
		}
	}
	return EndedDone, err
}

// pending reads the plan.
func (s *sweep) pending(ctx context.Context) ([]experiment.Run, error) {
	s.replanned = false
	runs, err := s.Store.Pending(ctx, s.head.ID)
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	return runs, nil
}

func (s *sweep) blockOf(r experiment.Run) block { return block{s.plans[r.Cell].Cell.Stage, r.Round} }

// leading counts the runs of a block at the front of the plan.
func (s *sweep) leading(runs []experiment.Run, b block) int {
	n := slices.IndexFunc(runs, func(r experiment.Run) bool { return s.blockOf(r) != b })
	if n < 0 {
		return len(runs)
	}
	return n
}

// endRound judges the sweep so far, if that is due, and folds the log into the file.
// After the last round the end of the invocation judges. It reports whether the stage has
// rounds enough by the sweep's rule, which misses no look, however long that takes.
func (s *sweep) endRound(ctx context.Context, b block, pending []experiment.Run) (enough bool, err error) {
	look := s.looks(b, pending)
	if len(pending) > 0 && (look || s.interim.due(time.Now())) {
		r, err := s.judge(ctx)
		if err != nil {
			return false, err
		}
		enough = look && slices.Contains(r.Stop.MetIn, b.stage)
	}
	if err := s.Store.Checkpoint(ctx); err != nil {
		s.Log.Warn("checkpoint", "err", err)
	}
	s.Events(Event{Kind: EventRound, Sweep: s.head.ID, Stage: b.stage, Round: b.round, Rounds: s.planned(), AtMost: s.rule().Until != experiment.StopFixed})
	return enough, nil
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
	if err := s.roomLeft(); err != nil {
		return s.stopFull(err)
	}
	state, lost, err := s.one(ctx, run)
	switch {
	case err != nil:
		return EndedAborted, err
	case state == experiment.StateInterrupted:
		return EndedAborted, nil
	case s.infra >= maxInfraFailures:
		return EndedInfrastructure, nil
	case lost != nil:
		return s.awaitEngine(ctx, lost), nil
	case state == experiment.StateFailedInfra:
		return s.rest(ctx), nil
	}
	return "", nil
}

// one executes one run, or skips it if its cell is suspended, and stores it. The
// error of an engine that was lost meanwhile stands beside it.
func (s *sweep) one(ctx context.Context, run experiment.Run) (state experiment.RunState, lost, err error) {
	plan := s.plans[run.Cell]
	run.Invocation = s.head.Invocation
	run.Began = s.Now()
	s.forget(run.ID) // of another database in the same place
	run, err = s.Store.BeginRun(ctx, run)
	if err != nil {
		return "", nil, fmt.Errorf("begin run: %w", err)
	}
	s.Events(s.event(EventRunBegan, run, plan))
	var o experiment.Outcome
	if s.suspended(plan.Cell) {
		run.State, run.Reason = experiment.StateSkipped, "suspended"
		o = experiment.Outcome{Run: run, Plan: plan, Placement: s.placement, Host: s.host, Images: s.images}
	} else {
		engine := s.incarnation(ctx)
		o = s.execute(ctx, run, plan)
		lost = s.engineLost(ctx, engine, &o)
	}
	o.Run.Ended = s.Now()
	s.sound(&o)
	findings := s.judgeRun(&o)
	// The record of a run outlives the wish to stop.
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := s.Store.EndRun(keep, o, findings); err != nil {
		return "", lost, fmt.Errorf("store run %d: %w", run.ID, err)
	}
	s.forget(run.ID)
	if err := s.account(keep, o.Run); err != nil {
		return "", lost, err
	}
	e := s.event(EventRunEnded, o.Run, plan)
	e.Findings = findings
	e.Value, e.HasValue = o.Observed(s.req.Matrix.Judge.Metric)
	s.Events(e)
	return o.Run.State, lost, nil
}

// account keeps the books after a run: who is retried, who is suspended.
func (s *sweep) account(ctx context.Context, run experiment.Run) error {
	s.counts[run.State]++
	s.tried[place{run.Cell, run.Round}]++
	s.progress.ran(run.Ended.Sub(run.Began))
	retried := again(run) && s.tried[place{run.Cell, run.Round}] < maxAttempts
	switch run.State {
	case experiment.StateFailedInfra:
		s.infra++
	case experiment.StateFailedSubject:
		s.infra = 0
		s.failed[run.Cell]++
	case experiment.StateSkipped:
	default:
		s.infra = 0
		if !retried { // its round is still open
			s.failed[run.Cell] = 0
		}
	}
	switch {
	case retried:
		return s.retry(ctx, run)
	case run.State == experiment.StateFailedInfra:
		s.missing++
	}
	return nil
}

// again reports whether a run deserves another attempt: where the infrastructure
// failed, and where the host disturbed the measurement, which says nothing about the
// cell. What is invalid for any other reason would be so again.
func again(run experiment.Run) bool {
	switch run.State {
	case experiment.StateFailedInfra:
		return true
	case experiment.StateInvalid:
		return run.Reason == "host-noise" || run.Reason == "host-suspended" || run.Reason == "conductor-paused"
	default:
		return false
	}
}

// retry plans another attempt at the end of the round: the pending runs of a round
// are ordered by when they were planned.
func (s *sweep) retry(ctx context.Context, run experiment.Run) error {
	s.progress.done--
	s.replanned = true
	next := experiment.Run{Cell: run.Cell, Round: run.Round, Attempt: run.Attempt + 1, State: experiment.StatePending}
	if err := s.Store.Reschedule(ctx, s.head.ID, experiment.Reschedule{Add: []experiment.Run{next}}); err != nil {
		return fmt.Errorf("plan another attempt: %w", err)
	}
	return nil
}

func (s *sweep) suspended(c experiment.Cell) bool {
	return c.Role != experiment.RoleBaseline && c.Role != experiment.RoleControl && s.failed[c.Key] >= suspendAfter
}
