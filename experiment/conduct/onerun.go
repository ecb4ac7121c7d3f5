package conduct

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// failure ends a run early: what state it gets, and why.
type failure struct {
	state  experiment.RunState
	reason string
}

// Error gives the reason.
func (f *failure) Error() string { return f.reason }

// closeTimeout bounds the removal of an environment.
const closeTimeout = time.Minute

// oneRun is a run under way.
type oneRun struct {
	*sweep
	plan     experiment.CellPlan
	env      experiment.Env
	procs    map[string]experiment.Proc
	began    map[string]time.Time // when a service was launched
	running  []experiment.Service // in their order, addresses resolved
	links    *linkServer
	watch    *watch
	counters *sampler
	outcome  experiment.Outcome

	jobs  map[string]job              // launched, and in no network any more
	ready map[string]*experiment.Step // ready steps that ask something else than their service
	shots atomic.Int64                // steps with an image of their own
}

// execute runs one cell once, in a fresh environment, and says what came of it.
// Nothing of the run is left when it returns.
func (s *sweep) execute(ctx context.Context, run experiment.Run, p experiment.CellPlan) experiment.Outcome {
	s.closeRest(ctx)
	r := &oneRun{
		sweep: s, plan: p, procs: map[string]experiment.Proc{}, began: map[string]time.Time{},
		jobs: map[string]job{}, ready: map[string]*experiment.Step{},
	}
	r.counters = newSampler(r.procs, s.Log)
	r.outcome = experiment.Outcome{
		Run: run, Plan: p, Generator: s.generator(p.Load),
		Placement: s.placement, Host: s.host, Images: s.images, Exits: map[string]experiment.Exit{},
	}
	r.outcome.Run.ConfigHash = s.configHash(p)
	limited, cancel := context.WithTimeoutCause(ctx, hardLimit(p), errHardLimit)
	defer cancel()
	ticker := startTicker(s.clocks())
	err := r.measure(limited)
	ticker.stop()
	r.outcome.Clocks = ticker.check(r.counters.window())
	r.outcome.Run.State, r.outcome.Run.Reason = classify(ctx, limited, err)
	s.secrets.mask(&r.outcome)
	return r.outcome
}

var errHardLimit = errors.New("hard limit")

// classify turns what ended a run into its state.
func classify(ctx, limited context.Context, err error) (experiment.RunState, string) {
	var f *failure
	switch {
	case err == nil:
		return experiment.StateOK, ""
	case ctx.Err() != nil:
		return experiment.StateInterrupted, "aborted"
	case errors.Is(context.Cause(limited), errHardLimit):
		return experiment.StateFailedInfra, "hard limit of the run: " + err.Error()
	case errors.As(err, &f):
		return f.state, f.reason
	case errors.Is(err, experiment.ErrNotReady), errors.Is(err, experiment.ErrExited):
		return experiment.StateFailedSubject, err.Error()
	default:
		return experiment.StateFailedInfra, err.Error()
	}
}

// configHash identifies everything effective in a cell, the host included: two
// hashes in one cell mean that something besides the varied factor moved.
func (s *sweep) configHash(p experiment.CellPlan) string {
	return experiment.HashJSON(struct {
		Services  []experiment.Service
		Links     []experiment.Link
		Load      experiment.Load
		Placement experiment.Placement
		Images    experiment.Images
		Runner    string
		Host      []string
	}{p.Services, p.Links, p.Load, s.placement, s.images, s.Runner.Name(), []string{s.host.Name, s.host.CPU, s.host.Kernel, s.host.Engine}})
}

// measure is the way of one run, from an empty environment to its removal.
func (r *oneRun) measure(ctx context.Context) (err error) {
	r.env, err = r.Runner.Open(ctx, experiment.RunKey{Owner: r.req.Invocation.Owner, Sweep: r.head.ID, Run: r.outcome.Run.ID})
	if err != nil {
		if r.env != nil {
			r.unclosed = append(r.unclosed, r.env)
		}
		return fmt.Errorf("open an environment: %w", err)
	}
	r.watch = newWatch()
	defer func() {
		r.watch.stop()
		if closeErr := r.closeEnv(ctx, r.env); closeErr != nil {
			r.Log.Error("the environment was not removed", "run", r.outcome.Run.ID, "err", closeErr)
			err = errors.Join(err, fmt.Errorf("remove the environment: %w", closeErr))
		}
	}()
	measured := false
	defer func() {
		r.observeLives()
		if measured {
			r.derive() // of how long jobs took, too
		}
		r.keepLogs(ctx)
	}()
	if err := r.launch(ctx); err != nil {
		return err
	}
	if err := r.prepareAll(ctx); err != nil {
		return err
	}
	if err := r.confirm(ctx, experiment.ConfirmBefore); err != nil {
		return err
	}
	switch {
	case r.plan.Load.None:
		err = r.unloaded(ctx)
	case r.plan.Load.External != nil:
		err = r.external(ctx)
	default:
		err = r.load(ctx)
	}
	if err != nil {
		return err
	}
	measured = true
	return r.confirm(ctx, experiment.ConfirmAfter)
}

// launch starts the link proxy and the services, each after those it needs.
func (r *oneRun) launch(ctx context.Context) error {
	if len(r.plan.Links) > 0 {
		svc := r.linkProxy(r.req.Matrix.Subject.Links)
		svc.Cores = r.placement.For(svc.Role)
		proc, err := r.start(ctx, svc)
		if err != nil {
			// The proxy is ours: its failure is no result about the subject.
			return &failure{experiment.StateFailedInfra, err.Error()}
		}
		r.links = &linkServer{proc: proc, links: r.plan.Links}
	}
	for _, svc := range r.plan.Services {
		svc, err := r.addressed(svc)
		if err != nil {
			return err
		}
		if elsewhere(svc.Ready, svc.Name) {
			r.ready[svc.Name], svc.Ready = svc.Ready, nil
		}
		proc, err := r.startPrepared(ctx, svc)
		if err != nil {
			return err
		}
		r.running = append(r.running, svc)
		if r.links != nil {
			if err := r.links.open(ctx, svc.Name, proc); err != nil {
				return err
			}
		}
	}
	return nil
}

// start launches one service, with all its replicas, and watches it from then on; a
// job is waited for.
func (r *oneRun) start(ctx context.Context, svc experiment.Service) (experiment.Proc, error) {
	began := time.Now()
	proc, took, err := r.launchCopies(ctx, svc)
	if err != nil {
		return nil, err // it names the service
	}
	r.began[svc.Name] = began
	if svc.Job && svc.Role != experiment.RoleLoad { // the end of a generator is waited for under load
		return proc, r.awaitJob(ctx, svc, proc)
	}
	r.procs[svc.Name] = proc
	r.watch.add(svc.Name, proc)
	if ready := r.ready[svc.Name]; ready != nil {
		if err := r.awaitElsewhere(ctx, svc.Name, *ready); err != nil {
			return nil, err
		}
		took = time.Since(began)
	}
	r.observe(svc.Name+".ready_seconds", experiment.PhaseMeasure, took.Seconds(), experiment.UnitSeconds)
	return proc, nil
}

// observeLives gives how long each service lived, and the exit code of those that
// ended by themselves, as jobs do: of these it is a result, of all others it follows
// from the length of the run.
func (r *oneRun) observeLives() {
	exits, now := r.watch.exits(), time.Now()
	for name, j := range r.jobs {
		if j.exit != nil {
			exits[name] = *j.exit
		}
	}
	for name, began := range r.began {
		phase, end := experiment.PhaseDrain, now
		if exit, ended := exits[name]; ended {
			end = exit.At
			if name != experiment.GeneratorName {
				phase = experiment.PhaseMeasure
			}
			r.observe(name+".exit", phase, float64(exit.Code), experiment.UnitCount)
		}
		r.observe(name+".duration", phase, max(end.Sub(began), 0).Seconds(), experiment.UnitSeconds)
	}
}

func (r *oneRun) observe(metric string, phase experiment.Phase, value float64, unit experiment.Unit) {
	r.outcome.Observations = append(r.outcome.Observations,
		experiment.Observation{Metric: metric, Phase: phase, Value: value, Unit: unit})
}

// addressed puts into a service the addresses of those that run and for which it asks,
// and the caller's variables.
func (r *oneRun) addressed(svc experiment.Service) (experiment.Service, error) {
	var failed error
	out := r.secrets.service(svc).Resolve(r.addresses(svc.Name, &failed))
	return out, failed
}

// addresses resolves addresses as from reaches them.
func (r *oneRun) addresses(from string, failed *error) func(experiment.Ref) (string, bool) {
	return func(ref experiment.Ref) (string, bool) {
		if ref.Kind != experiment.RefAddr {
			return "", false
		}
		addr, err := r.address(from, ref.Name, ref.Port)
		*failed = errors.Join(*failed, err)
		return addr, true
	}
}

// address is how from reaches a port of to: through the link, if there is one.
func (r *oneRun) address(from, to string, port int) (string, error) {
	if addr, linked, err := r.links.addr(from, to, port); linked {
		return addr, err
	}
	proc, ok := r.procs[to]
	if !ok {
		return "", fmt.Errorf("%s asks for the address of %s, which does not run", from, to)
	}
	return proc.Addr(port, experiment.FromService)
}
