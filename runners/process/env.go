package process

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/step"
)

// env is the environment of one run: a directory, a state file, and ports.
type env struct {
	runner *Runner
	key    experiment.RunKey
	files  files

	mu     sync.Mutex
	closed bool
	state  runState
	procs  map[string]*proc
	ports  []port
}

// Open implements experiment.Runner.
func (r *Runner) Open(_ context.Context, key experiment.RunKey) (experiment.Env, error) {
	f, err := r.newRun(key)
	if err != nil {
		return nil, err
	}
	return &env{
		runner: r, key: key, files: f, procs: map[string]*proc{},
		state: runState{Owner: key.Owner, Sweep: key.Sweep, Run: key.Run},
	}, nil
}

// Launch implements experiment.Env.
func (e *env) Launch(ctx context.Context, s experiment.Service) (experiment.Proc, error) {
	p, err := e.start(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("start service %s: %w", s.Name, err)
	}
	if s.Ready == nil || s.Job {
		return p, nil
	}
	err = step.Await(ctx, *p.service.Ready, p.target(), experiment.DefaultReadyPoll)
	if err == nil {
		return p, nil
	}
	if errors.Is(err, experiment.ErrExited) || errors.Is(err, experiment.ErrNotReady) {
		if last := p.files.last(); last != "" {
			err = fmt.Errorf("%w; its last output: %s", err, last)
		}
	}
	if stopErr := e.discard(context.WithoutCancel(ctx), p); stopErr != nil {
		err = errors.Join(err, stopErr)
	}
	return nil, err
}

// start starts a service and writes down what was started.
func (e *env) start(ctx context.Context, s experiment.Service) (*proc, error) {
	program, err := e.runner.program(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
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
	ports, err := e.takePorts(ctx, s)
	if err != nil {
		return nil, err
	}
	p, err := newProc(e, s, program, ports)
	if err != nil {
		return nil, err
	}
	if err := e.furnish(p.service, p.places); err != nil {
		return nil, errors.Join(err, p.remove())
	}
	e.state.Processes = append(e.state.Processes, processState{Service: s.Name, Executable: program})
	entry := &e.state.Processes[len(e.state.Processes)-1]
	err = e.state.save(e.files.state)
	if err == nil {
		err = p.start()
	}
	if err != nil {
		e.state.Processes = e.state.Processes[:len(e.state.Processes)-1]
		return nil, errors.Join(err, p.remove())
	}
	e.procs[s.Name] = p
	*entry = p.describe(program)
	if err := e.state.save(e.files.state); err != nil {
		delete(e.procs, s.Name)
		return nil, errors.Join(err, p.Stop(context.WithoutCancel(ctx)), p.remove())
	}
	return p, nil
}

// makeRoom removes what is left of a service that has ended, so that it can be started
// again. None of the name is no error.
func (e *env) makeRoom(service string) error {
	old := e.procs[service]
	if old == nil {
		return nil
	}
	if _, gone := old.gone(); !gone {
		return errors.New("it was started before, and not stopped")
	}
	return old.remove()
}

// takePorts gives a real port for each that the service declares, the same as before
// if it is started again. They are held until the run is closed.
func (e *env) takePorts(ctx context.Context, s experiment.Service) (map[int]int, error) {
	ports := map[int]int{}
	for _, declared := range s.Ports {
		if old := e.procs[s.Name]; old != nil && old.ports[declared] != 0 {
			ports[declared] = old.ports[declared]
			continue
		}
		p, err := e.runner.ports.take(ctx)
		if err != nil {
			return nil, err
		}
		e.ports = append(e.ports, p)
		ports[declared] = p.number
	}
	return ports, nil
}

// discard stops a service whose launch failed, and forgets it.
func (e *env) discard(ctx context.Context, p *proc) error {
	err := p.Stop(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		return err // Close will try again
	}
	delete(e.procs, p.service.Name)
	return p.remove()
}

// Close implements experiment.Env. It ends all services at once, each with its own
// StopTimeout.
func (e *env) Close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	errs := make(chan error, len(e.procs))
	for _, p := range e.procs {
		go func() { errs <- p.Stop(ctx) }()
	}
	var all []error
	for range e.procs {
		all = append(all, <-errs)
	}
	all = append(all, killMarked(func(m marker) bool {
		return m.owner == e.key.Owner && m.sweep == e.key.Sweep && m.run == e.key.Run
	}))
	for _, p := range e.ports {
		all = append(all, p.release())
	}
	e.ports = nil
	if err := errors.Join(all...); err != nil {
		return fmt.Errorf("close run: %w", err)
	}
	e.procs = nil
	return e.runner.removeRun(e.files)
}

// defaultStopTimeout is how long a service may take after SIGTERM.
const defaultStopTimeout = 2 * time.Second
