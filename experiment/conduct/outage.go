package conduct

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// While the engine is gone it is asked again and again, with pauses that double.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
	// enginePatience is how long an engine may be gone before the invocation ends.
	enginePatience = 10 * time.Minute
	// firstRest is how long an invocation rests after an infrastructure failure; twice
	// as long after the next one in a row, and so on. An engine that is shutting down
	// answers, and fails whatever it is asked for, as fast as it can be asked.
	firstRest = time.Second
	// shutdownPatience is how long an engine is looked at that may be on its way down: it
	// ends the services first, answers until the last of them is gone, and gives them
	// 15 s by default.
	shutdownPatience = 15 * time.Second
	// checkTimeout bounds one question: an engine that does not answer is gone, too.
	checkTimeout = 10 * time.Second
)

var errRestarted = errors.New("the container engine was started anew")

// engineLost asks, after a run that did not end well, whether the engine is still
// there, and gives its error if not. What ended then is no result about the subject:
// an engine that goes takes the services with it. One that is back by now is another
// incarnation than the one before the run.
func (s *sweep) engineLost(ctx context.Context, before string, o *experiment.Outcome) error {
	run := &o.Run
	if run.State == experiment.StateOK || run.State == experiment.StateInterrupted {
		return nil
	}
	gone, why := s.askSame(ctx, before)
	if before != "" && mayBeTheEngine(o) {
		until := time.Now().Add(shutdownPatience)
		for why == nil && time.Now().Before(until) && s.pause(ctx, firstPause) == "" {
			gone, why = s.askSame(ctx, before)
		}
	}
	if why == nil || ctx.Err() != nil {
		return nil
	}
	s.Log.Warn("the engine was lost during a run", "run", run.ID, "err", why)
	if run.State != experiment.StateFailedInfra {
		run.State, run.Reason = experiment.StateFailedInfra, fmt.Sprintf("%v (before that: %s)", why, run.Reason)
	}
	return gone
}

// askSame asks whether the engine is there, and whether it is still the same: why says
// what it is not.
func (s *sweep) askSame(ctx context.Context, before string) (gone, why error) {
	if gone = s.askEngine(ctx); gone != nil {
		return gone, gone
	}
	if now := s.incarnation(ctx); before != "" && now != "" && now != before {
		return nil, errRestarted
	}
	return nil, nil
}

// mayBeTheEngine reports whether a run ended as by an engine on its way down, which
// sends signals to all services: one of them ended by it, or the output of the generator
// breaks off.
func mayBeTheEngine(o *experiment.Outcome) bool {
	const terminated, killed = 128 + 15, 128 + 9
	for _, exit := range o.Exits {
		if (exit.Code == terminated || exit.Code == killed) && !exit.OOMKilled {
			return true
		}
	}
	return o.Run.State == experiment.StateInvalid && o.Run.Reason == "result-incomplete"
}

// incarnation names the engine as long as it lives; empty if nobody can tell.
func (s *sweep) incarnation(ctx context.Context) string {
	engine, ok := s.Runner.(experiment.Incarnate)
	if !ok {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	name, err := engine.Incarnation(ctx)
	if err != nil {
		s.Log.Debug("which engine answers is not known", "err", err)
		return ""
	}
	return name
}

func (s *sweep) askEngine(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	_, err := s.Runner.Check(ctx)
	return err
}

// awaitEngine waits until an engine that was lost is back, and removes what could
// not be removed without it. The ending is empty if the sweep goes on.
func (s *sweep) awaitEngine(ctx context.Context, lost error) Ending {
	began := time.Now()
	s.Log.Warn("the engine is gone", "err", lost)
	s.Events(Event{Kind: EventEngineGone, Sweep: s.head.ID, Why: lost.Error()})
	for pause := firstPause; lost != nil; pause = min(2*pause, longestPause) {
		left := enginePatience - time.Since(began)
		if left <= 0 {
			s.why = fmt.Sprintf("the engine did not come back within %v: %v", enginePatience, lost)
			return EndedEngineGone
		}
		if ending := s.pause(ctx, min(pause, left)); ending != "" {
			return ending
		}
		lost = s.askEngine(ctx)
	}
	waited := time.Since(began)
	s.Log.Info("the engine is back", "after", waited)
	s.Events(Event{Kind: EventEngineBack, Sweep: s.head.ID, Waited: waited})
	s.closeRest(ctx)
	if err := s.removeLeftovers(ctx, false); err != nil {
		s.Log.Warn("leftovers may stay", "err", err)
	}
	return ""
}

// rest lets what ails the host pass, or become plain: the engine may be gone by then.
// The ending is empty if the sweep goes on.
func (s *sweep) rest(ctx context.Context) Ending {
	if ending := s.pause(ctx, firstRest<<(s.infra-1)); ending != "" {
		return ending
	}
	if lost := s.askEngine(ctx); lost != nil && ctx.Err() == nil {
		return s.awaitEngine(ctx, lost)
	}
	return ""
}

// pause waits, unless the invocation is to end meanwhile.
func (s *sweep) pause(ctx context.Context, d time.Duration) Ending {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ""
	case <-s.req.Drain:
		return EndedDrained
	case <-ctx.Done():
		return EndedAborted
	}
}

// closeEnv removes an environment; one that cannot be removed now is kept for
// closeRest.
func (s *sweep) closeEnv(ctx context.Context, env experiment.Env) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	err := env.Close(ctx)
	if err != nil {
		s.unclosed = append(s.unclosed, env)
	}
	return err
}

// closeRest tries once more to remove the environments of earlier runs that could
// not be removed at their end.
func (s *sweep) closeRest(ctx context.Context) {
	rest := s.unclosed
	s.unclosed = nil
	var errs []error
	for _, env := range rest {
		errs = append(errs, s.closeEnv(ctx, env))
	}
	if err := errors.Join(errs...); err != nil {
		s.Log.Error("environments of earlier runs stay", "err", err)
	}
}
