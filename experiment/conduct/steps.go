package conduct

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/step"
)

// reply is what one step came to at one service, replica or image.
type reply struct {
	service string
	step.Answer
}

// stepsOf lists all steps of a service.
func stepsOf(svc experiment.Service) []experiment.Step {
	var all []experiment.Step
	if svc.Ready != nil {
		all = append(all, *svc.Ready)
	}
	all = append(append(all, svc.Prepare.Steps...), svc.Confirm...)
	for _, c := range svc.Collect {
		all = append(all, c.Step)
	}
	return all
}

// StepImages gives a service for each step of a plan that has an image of its own, so
// that the image is there when the step is done.
func StepImages(p experiment.CellPlan) []experiment.Service {
	var steps []experiment.Step
	for _, svc := range p.Services {
		steps = append(steps, stepsOf(svc)...)
	}
	steps = append(steps, p.Prepare...)
	for _, c := range p.Collect {
		steps = append(steps, c.Step)
	}
	return imagesOf(steps)
}

func imagesOf(steps []experiment.Step) []experiment.Service {
	var out []experiment.Service
	for _, s := range steps {
		if image, ok := s.Image.Literal(); ok && image != "" {
			out = append(out, experiment.Service{Name: "step", Image: image, Job: true})
		}
	}
	return out
}

// named gives the service that a step asks, which is the one under which it is
// written unless it says otherwise.
func named(s experiment.Step, owner string) string { return cmp.Or(s.In, owner) }

// ask asks a step of the service, of each of its replicas, or of an image of its own.
// The error is for what could not be asked, and names service and step.
func (r *oneRun) ask(ctx context.Context, owner string, s experiment.Step) ([]reply, error) {
	if !s.Image.IsZero() {
		one, err := r.oneShot(ctx, owner, s)
		return []reply{one}, err
	}
	name := named(s, owner)
	proc, ok := r.proc(name)
	if !ok {
		return nil, fmt.Errorf("%s asks service %q, which does not run", step.Describe(s), name)
	}
	var out []reply
	for _, m := range membersOf(name, proc) {
		of := s
		if places, ok := m.proc.(experiment.Resolver); ok {
			of = s.Resolve(places.Resolve)
		}
		a, err := step.Ask(ctx, of, targetOf(m))
		if err != nil {
			return nil, err
		}
		out = append(out, reply{m.name, a})
	}
	return out, nil
}

// proc finds a launched service, be it a job that has ended.
func (r *oneRun) proc(name string) (experiment.Proc, bool) {
	if p, ok := r.procs[name]; ok {
		return p, true
	}
	j, ok := r.jobs[name]
	return j.Proc, ok
}

func targetOf(m member) step.Target {
	target := step.Target{
		Name: m.name,
		Addr: func(port int) (string, error) { return m.proc.Addr(port, experiment.FromConductor) },
		Logs: logsOf(m.proc),
	}
	if e, ok := m.proc.(experiment.Execer); ok {
		target.Exec = e
	}
	return target
}

// maxOutput bounds what is read of the output of a one-shot, in bytes.
const maxOutput = 1 << 20

// oneShot runs the command of a step in a container of its own, on the cores of the
// backing services, and takes its output for the answer. ${self:PORT} is there the
// address of the service under which the step is written.
func (r *oneRun) oneShot(ctx context.Context, owner string, s experiment.Step) (reply, error) {
	s = s.Resolve(func(ref experiment.Ref) (string, bool) {
		proc, runs := r.procs[owner]
		if ref.Kind != experiment.RefSelf || !runs {
			return "", false
		}
		addr, err := proc.Addr(ref.Port, experiment.FromService)
		return addr, err == nil
	})
	image, _ := s.Image.Literal()
	svc := experiment.Service{
		Name: fmt.Sprintf("step-%d", r.shots.Add(1)), Image: image, Command: s.Run, Job: true,
		Role: experiment.RoleBacking, Cores: r.placement.For(experiment.RoleBacking),
	}
	out := reply{service: cmp.Or(owner, image)}
	within := cmp.Or(s.Within, experiment.DefaultConfirmWithin)
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	proc, err := r.env.Launch(ctx, svc)
	if err != nil {
		return out, fmt.Errorf("%s of %s: %w", step.Describe(s), image, err)
	}
	exit, err := proc.Wait(ctx)
	if err != nil {
		r.discard(ctx, svc.Name, proc)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("it did not end within %v: %w", within, ctx.Err())
		}
		return out, fmt.Errorf("%s of %s: %w", step.Describe(s), image, err)
	}
	body, err := output(ctx, proc)
	if err != nil {
		return out, fmt.Errorf("%s of %s: read its output: %w", step.Describe(s), image, err)
	}
	fault := step.CommandFault(step.Describe(s), experiment.ExecResult{Code: exit.Code, Output: body})
	if out.Answer = (step.Answer{Body: body, Fault: fault}); fault == "" {
		out.Answer = step.Judge(s, out.service, body)
	}
	return out, nil
}

func output(ctx context.Context, p experiment.Proc) ([]byte, error) {
	logs, err := p.Logs(ctx, false)
	if err != nil {
		return nil, err
	}
	defer logs.Close()
	return io.ReadAll(io.LimitReader(logs, maxOutput))
}

// discard stops what nobody waits for any more.
func (r *oneRun) discard(ctx context.Context, name string, p experiment.Proc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		r.Log.Warn("not stopped", "run", r.outcome.Run.ID, "service", name, "err", err)
	}
}

// Pauses between two tries of a ready step that the conductor asks.
const (
	readyTry   = 2 * time.Second // for one answer
	readyPause = 50 * time.Millisecond
)

// awaitElsewhere waits until a ready step holds that asks another service, or an image
// of its own: only the conductor knows them.
func (r *oneRun) awaitElsewhere(ctx context.Context, service string, s experiment.Step) error {
	within := cmp.Or(s.Within, experiment.DefaultReadyWithin)
	waiting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if s.Image.IsZero() {
		s.Within = readyTry
	}
	var last error
	for {
		replies, err := r.ask(waiting, service, s)
		for _, a := range replies {
			err = cmp.Or(err, a.Err())
		}
		if err == nil {
			return nil
		}
		if last == nil || waiting.Err() == nil { // the end of the waiting is no answer
			last = err
		}
		pause := time.NewTimer(readyPause)
		select {
		case <-pause.C:
		case <-waiting.Done():
			pause.Stop()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("service %s: %w within %v: %w", service, experiment.ErrNotReady, within, last)
		}
	}
}

// elsewhere reports whether a step asks something else than its own service.
func elsewhere(s *experiment.Step, service string) bool {
	return s != nil && (!s.Image.IsZero() || named(*s, service) != service)
}
