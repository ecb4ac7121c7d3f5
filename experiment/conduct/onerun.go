package conduct

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/step"
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
}

// execute runs one cell once, in a fresh environment, and says what came of it.
// Nothing of the run is left when it returns.
func (s *sweep) execute(ctx context.Context, run experiment.Run, p experiment.CellPlan) experiment.Outcome {
	s.closeRest(ctx)
	r := &oneRun{sweep: s, plan: p, procs: map[string]experiment.Proc{}, began: map[string]time.Time{}}
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
	defer func() {
		r.observeLives()
		r.keepLogs(ctx)
	}()
	if err := r.launch(ctx); err != nil {
		return err
	}
	if err := r.confirm(ctx); err != nil {
		return err
	}
	return r.load(ctx)
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
		proc, err := r.start(ctx, svc)
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

// start launches one service and watches it from then on.
func (r *oneRun) start(ctx context.Context, svc experiment.Service) (experiment.Proc, error) {
	began := time.Now()
	proc, err := r.env.Launch(ctx, svc)
	if err != nil {
		return nil, err // it names the service
	}
	r.observe(svc.Name+".ready_seconds", experiment.PhaseReady, time.Since(began).Seconds(), experiment.UnitSeconds)
	r.procs[svc.Name], r.began[svc.Name] = proc, began
	r.watch.add(svc.Name, proc)
	return proc, nil
}

// observeLives gives how long each service lived, and the exit code of those that
// ended by themselves.
func (r *oneRun) observeLives() {
	exits, now := r.watch.exits(), time.Now()
	for name, began := range r.began {
		end := now
		if exit, ended := exits[name]; ended {
			end = exit.At
			r.observe(name+".exit", experiment.PhaseDrain, float64(exit.Code), experiment.UnitCount)
		}
		r.observe(name+".duration", experiment.PhaseDrain, max(end.Sub(began), 0).Seconds(), experiment.UnitSeconds)
	}
}

func (r *oneRun) observe(metric string, phase experiment.Phase, value float64, unit experiment.Unit) {
	r.outcome.Observations = append(r.outcome.Observations,
		experiment.Observation{Metric: metric, Phase: phase, Value: value, Unit: unit})
}

// addressed puts the addresses of services that run into those that ask for them.
func (r *oneRun) addressed(svc experiment.Service) (experiment.Service, error) {
	var failed error
	out := svc.Resolve(func(ref experiment.Ref) (string, bool) {
		if ref.Kind != experiment.RefAddr {
			return "", false
		}
		addr, err := r.address(svc.Name, ref.Name, ref.Port)
		failed = errors.Join(failed, err)
		return addr, true
	})
	return out, failed
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

// confirm asks every service whether its settings arrived. A mismatch ends the run
// before any load.
func (r *oneRun) confirm(ctx context.Context) error {
	for _, svc := range r.running {
		for _, s := range svc.Confirm {
			found, err := step.Confirm(ctx, s, confirmTarget(svc.Name, r.procs[svc.Name]))
			if err != nil {
				return r.blame(ctx, svc.Name, s, err)
			}
			r.outcome.Confirmations = append(r.outcome.Confirmations, found...)
		}
	}
	for _, c := range r.outcome.Confirmations {
		if !c.OK {
			return &failure{experiment.StateInvalid, "setting-ineffective"}
		}
	}
	return nil
}

func confirmTarget(name string, proc experiment.Proc) step.Target {
	target := step.Target{
		Name: name,
		Addr: func(port int) (string, error) { return proc.Addr(port, experiment.FromConductor) },
		Logs: logsOf(proc),
	}
	if e, ok := proc.(experiment.Execer); ok {
		target.Exec = e
	}
	return target
}

// blame says whose failure it is that a service could not be asked: its own if it
// has ended, or does not answer over HTTP; else that of what carries the question.
func (r *oneRun) blame(ctx context.Context, service string, s experiment.Step, err error) error {
	if exit, ended := r.watch.endOf(ctx, service, settle); ended {
		return &failure{experiment.StateFailedSubject, fmt.Sprintf("%v: it ended with %d", err, exit.Code)}
	}
	if !s.HTTP.IsZero() && r.watch.lost() == nil {
		return &failure{experiment.StateFailedSubject, err.Error()}
	}
	return err
}

// generator describes the load generator as a service. It holds on after its
// result, until its counters are read and it is stopped.
func (s *sweep) generator(l experiment.Load) experiment.Service {
	spec, err := json.Marshal(l)
	if err != nil {
		panic("conduct: load: " + err.Error()) // a broken invariant: plain data only
	}
	return experiment.Service{
		Name: experiment.GeneratorName, Build: &s.Generator, Role: experiment.RoleLoad, Cores: s.placement.Load,
		Command: []experiment.Template{experiment.Literal("-hold"), experiment.Literal("1m")},
		Env:     []experiment.EnvVar{{Name: experiment.GeneratorEnv, Value: experiment.Literal(string(spec))}},
	}
}
