package conduct

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// job is a service that ends by itself, when its work is done.
type job struct {
	experiment.Proc
	exit *experiment.Exit // nil: it was not waited for to its end
}

// awaitJob waits for the end of a job, so that those that need it find its work done.
// A job that does not end in time, or not with 0, is a failure of the subject.
func (r *oneRun) awaitJob(ctx context.Context, svc experiment.Service, proc experiment.Proc) error {
	within := cmp.Or(svc.JobWithin, experiment.DefaultJobWithin)
	waiting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	stop := r.watch.onEnd(cancel) // whatever it works on has ended
	defer stop()
	r.jobs[svc.Name] = job{Proc: proc}
	var last experiment.Exit
	for _, m := range membersOf(svc.Name, proc) {
		exit, err := m.proc.Wait(waiting)
		if err != nil {
			return r.unfinished(ctx, waiting, svc.Name, within, err)
		}
		if exit.At.After(last.At) || exit.Code != 0 {
			last = exit
		}
		if exit.Code != 0 {
			break
		}
	}
	r.jobs[svc.Name] = job{proc, &last}
	switch {
	case last.OOMKilled:
		return &failure{experiment.StateFailedSubject, "oom: " + svc.Name}
	case last.Code != 0:
		return &failure{experiment.StateFailedSubject, fmt.Sprintf("job %s ended with %d", svc.Name, last.Code)}
	default:
		return nil
	}
}

// unfinished says why a job was not waited for to its end.
func (r *oneRun) unfinished(ctx, waiting context.Context, name string, within time.Duration, err error) error {
	exits := r.watch.exits()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(exits) > 0:
		r.outcome.Exits = exits
		return firstFailure(exits, "while job "+name+" worked")
	case r.watch.lost() != nil:
		return r.outOfSight()
	case waiting.Err() != nil:
		return &failure{experiment.StateFailedSubject, fmt.Sprintf("job %s did not end within %v", name, within)}
	default:
		return fmt.Errorf("wait for job %s: %w", name, err)
	}
}
