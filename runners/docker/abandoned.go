package docker

import (
	"context"
	"errors"
)

// abandon closes an environment that was never handed out. One that cannot be closed,
// because the engine is gone, is closed when leftovers are looked for.
func (r *Runner) abandon(ctx context.Context, e *env) error {
	err := e.Close(ctx)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.abandoned = append(r.abandoned, e)
	}
	return err
}

// closeAbandoned tries once more.
func (r *Runner) closeAbandoned(ctx context.Context) error {
	r.mu.Lock()
	all := r.abandoned
	r.abandoned = nil
	r.mu.Unlock()
	var errs []error
	for _, e := range all {
		errs = append(errs, r.abandon(ctx, e))
	}
	return errors.Join(errs...)
}
