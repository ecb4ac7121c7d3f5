package conduct

import "context"

// unloaded ends a run without load: starts and jobs are what was measured. Of services
// that still run the memory is read, too, and what is collected at the end is asked.
func (r *oneRun) unloaded(ctx context.Context) error {
	r.counters.levels(ctx, r.observe)
	r.newCollector(ctx).once(ctx)
	exits := r.watch.exits()
	r.outcome.Exits = exits
	if err := firstFailure(exits, "during the run"); err != nil {
		return err
	}
	return r.outOfSight()
}
