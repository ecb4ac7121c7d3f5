package fake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Runner is the scripted runner. It is an experiment.Runner.
type Runner struct {
	script Script

	mu     sync.Mutex
	opened int
	live   int
	events []string
	engine engine
}

var (
	_ experiment.Runner    = (*Runner)(nil)
	_ experiment.Incarnate = (*Runner)(nil)
)

// New makes a runner that keeps to the script. The functions of the script may be
// called from several goroutines, but never two at a time.
func New(s Script) *Runner { return &Runner{script: s, engine: engine{envs: map[*env]bool{}}} }

// Events lists what was asked of the runner, in order: "prepare", "open 1",
// "open 2 in vain" (without the engine), "launch 1 app", "end 1 app 0" (its exit code), "save 1 db", "restore 1 db", "close 1";
// runs are numbered as they were opened.
func (r *Runner) Events() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Live counts environments that are open and services that live.
func (r *Runner) Live() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live
}

// happened notes an event, and by how much it changes what is live.
func (r *Runner) happened(live int, format string, a ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live += live
	r.events = append(r.events, fmt.Sprintf(format, a...))
}

// ask calls a function of the script.
func (r *Runner) ask(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// Name implements experiment.Runner.
func (r *Runner) Name() string { return experiment.RunnerFake }

// Check implements experiment.Runner.
func (r *Runner) Check(ctx context.Context) (experiment.Host, error) {
	if err := errors.Join(r.answer(ctx), r.script.CheckFault); err != nil {
		return experiment.Host{}, err
	}
	if r.script.Host != nil {
		return *r.script.Host, nil
	}
	return experiment.Host{
		Name: "fake", OS: "fake", Arch: "amd64", Kernel: "0", CPU: "fake", Cores: experiment.CoreSet{0, 1, 2, 3},
		Memory: 8 << 30, Boot: "fake",
	}, nil
}

// Prepare implements experiment.Runner.
func (r *Runner) Prepare(ctx context.Context, all []experiment.Service) (experiment.Images, error) {
	r.happened(0, "prepare")
	if err := errors.Join(r.answer(ctx), r.script.PrepareFault); err != nil {
		return nil, err
	}
	images := experiment.Images{}
	for _, s := range all {
		images[s.Source()] = "fake:" + s.Source()
	}
	return images, nil
}

// Open implements experiment.Runner. Without the engine nobody knows what was made, and
// the environment is given beside the error.
func (r *Runner) Open(ctx context.Context, key experiment.RunKey) (experiment.Env, error) {
	e := &env{runner: r, procs: map[string]*proc{}, run: Run{Key: key}}
	r.ask(func() {
		r.opened++
		e.run.N = r.opened
	})
	r.plan(e.run.N)
	if err := r.answer(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		r.happened(1, "open %d in vain", e.run.N)
		return e, err
	}
	var err error
	r.ask(func() {
		if r.script.Open != nil {
			err = r.script.Open(e.run)
		}
		if err == nil {
			r.engine.envs[e] = true
		}
	})
	if err != nil {
		return nil, err
	}
	r.happened(1, "open %d", e.run.N)
	return e, nil
}

type env struct {
	runner *Runner

	mu     sync.Mutex
	closed bool
	run    Run
	procs  map[string]*proc
}

// Launch implements experiment.Env.
func (e *env) Launch(ctx context.Context, s experiment.Service) (experiment.Proc, error) {
	p, err := e.start(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("start service %s: %w", s.Name, err)
	}
	if err := p.ready(ctx); err != nil {
		if stopErr := p.Stop(context.WithoutCancel(ctx)); stopErr != nil {
			err = errors.Join(err, stopErr)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.procs, s.Name)
		return nil, fmt.Errorf("start service %s: %w", s.Name, err)
	}
	return p, nil
}

func (e *env) start(ctx context.Context, s experiment.Service) (*proc, error) {
	if err := e.runner.answer(ctx); err != nil {
		return nil, err
	}
	s = s.Resolve(func(ref experiment.Ref) (string, bool) { return resolve(s, ref) })
	_, environment, err := s.Texts()
	if err != nil {
		return nil, err
	}
	files, err := s.FileTexts()
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errors.New("the run is closed")
	}
	if err := e.makeRoom(s.Name); err != nil {
		return nil, err
	}
	e.run.Services = append(e.run.Services, s)
	var b Behaviour
	if script := e.runner.script.Service; script != nil {
		e.runner.ask(func() { b = script(e.run, s) })
	}
	if b.Fault != nil {
		return nil, b.Fault
	}
	if s.Job && b.Exit == nil {
		b.Exit = &Exit{}
	}
	maps.Copy(files, b.Files)
	p := &proc{
		runner: e.runner, n: e.run.N, service: s, behaviour: b, files: files,
		began: time.Now(), out: newOutput(), ended: make(chan struct{}),
	}
	if err := p.servePages(ctx); err != nil {
		return nil, err
	}
	e.runner.happened(1, "launch %d %s", p.n, s.Name)
	e.procs[s.Name] = p
	p.out.write(false, b.Stdout)
	p.out.write(true, b.Stderr)
	if b.Exit != nil {
		exit := *b.Exit
		p.timer = time.AfterFunc(exit.After, func() { p.end(exit.Code, exit.OOMKilled) })
	}
	if spec, ok := environ(environment, experiment.GeneratorEnv); ok && s.Role == experiment.RoleLoad {
		if err := p.generate(e.run, spec); err != nil {
			p.end(1, false)
			delete(e.procs, s.Name)
			return nil, err
		}
	}
	return p, nil
}

// Close implements experiment.Env.
func (e *env) Close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.runner.answer(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("close %d: %w", e.run.N, err)
	}
	var stopping sync.WaitGroup
	for _, p := range e.procs {
		stopping.Go(func() { _ = p.Stop(ctx) }) // never fails here
	}
	stopping.Wait()
	for _, p := range e.procs {
		p.working.Wait()
	}
	if !e.closed {
		e.runner.happened(-1, "close %d", e.run.N)
		e.runner.ask(func() { delete(e.runner.engine.envs, e) })
	}
	e.closed = true
	return nil
}
