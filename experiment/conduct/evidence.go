package conduct

import (
	"cmp"
	"context"
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
// has ended, or does not answer over HTTP; else that of what carries the question.
func (r *oneRun) blame(ctx context.Context, service string, s experiment.Step, err error) error {
	if !s.Image.IsZero() {
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
