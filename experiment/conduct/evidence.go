package conduct

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ceteris/ceteris/experiment"
)

// confirm asks every service whether its settings arrived: before any load, which a
// mismatch prevents, or after it, when a mismatch excludes what was measured.
func (r *oneRun) confirm(ctx context.Context, when string) error {
	var found []experiment.Confirmation
	for _, svc := range r.running {
		for _, s := range svc.Confirm {
			if cmp.Or(s.When, experiment.ConfirmBefore) != when {
				continue
			}
			replies, err := r.ask(ctx, svc.Name, s)
			if err != nil {
				return r.blame(ctx, named(s, svc.Name), s, fmt.Errorf("confirm %w", err))
			}
			for _, a := range replies {
				found = append(found, a.Confirmed(a.service)...)
			}
		}
	}
	r.outcome.Confirmations = append(r.outcome.Confirmations, found...)
	for _, c := range found {
		if !c.OK {
			return &failure{experiment.StateInvalid, "setting-ineffective"}
		}
	}
	return nil
}

// blame says whose failure it is that a service could not be asked: its own if it
// has ended, does not answer over HTTP, lacks the command, or a command in it, or beside
// it, does not end in time; else that of what carries the question. An engine that is at fault for it is
// asked after the run.
func (r *oneRun) blame(ctx context.Context, service string, s experiment.Step, err error) error {
	switch {
	case ctx.Err() != nil:
		return err
	case errors.Is(err, experiment.ErrNoCommand):
		return &failure{experiment.StateFailedSubject, err.Error()}
	case len(s.Run) > 0 && errors.Is(err, context.DeadlineExceeded) && r.watch.lost() == nil:
		return &failure{experiment.StateFailedSubject, fmt.Sprintf("%v (it had %v)", err, cmp.Or(s.Within, experiment.DefaultConfirmWithin))}
	case !s.Image.IsZero():
		return err
	}
	if exit, ended := r.watch.endOf(ctx, service, settle); ended {
		return &failure{experiment.StateFailedSubject, fmt.Sprintf("%v: it ended with %d", err, exit.Code)}
	}
	if !s.HTTP.IsZero() && r.watch.lost() == nil {
		return &failure{experiment.StateFailedSubject, err.Error()}
	}
	return err
}
