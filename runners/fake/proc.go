package fake

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// defaultStopTimeout is how long a stubborn service has before it is killed.
const defaultStopTimeout = 2 * time.Second

type proc struct {
	runner    *Runner
	n         int // of its run
	service   experiment.Service
	behaviour Behaviour
	files     map[string]string
	pages     string // HOST:PORT of its server; empty: none
	began     time.Time
	out       *output
	timer     *time.Timer // of the end that the script plans
	working   sync.WaitGroup

	ending sync.Once
	ended  chan struct{} // closed when exit is set
	exit   experiment.Exit
	lost   error // the engine went, and nobody knows how it ended
}

var (
	_ experiment.Proc     = (*proc)(nil)
	_ experiment.Execer   = (*proc)(nil)
	_ experiment.Resolver = (*proc)(nil)
)

// ready waits as long as the script says, but not longer than the ready step.
func (p *proc) ready(ctx context.Context) error {
	within := time.Duration(experiment.DefaultReadyWithin)
	if p.service.Ready == nil || p.service.Job {
		return nil
	}
	if p.service.Ready.Within > 0 {
		within = p.service.Ready.Within
	}
	ready := time.NewTimer(p.behaviour.ReadyAfter)
	defer ready.Stop()
	late := time.NewTimer(within)
	defer late.Stop()
	exited := func() error {
		if p.lost != nil {
			return p.lost
		}
		return fmt.Errorf("%w with code %d before it was ready", experiment.ErrExited, p.exit.Code)
	}
	if x := p.behaviour.Exit; x != nil && x.After <= min(p.behaviour.ReadyAfter, within) {
		select { // the other timers may be due at the same instant
		case <-p.ended:
			return exited()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	select {
	case <-p.ended:
		return exited()
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return fmt.Errorf("%w within %v", experiment.ErrNotReady, within)
	case <-ready.C:
		return nil
	}
}

// end ends the service once.
func (p *proc) end(code int, oom bool) {
	p.ending.Do(func() {
		p.exit = experiment.Exit{Code: code, OOMKilled: oom, At: time.Now()}
		p.out.close()
		p.runner.happened(-1, "end %d %s %d", p.n, p.service.Name, code)
		close(p.ended)
	})
}

// until waits for a moment; false if the service ends first.
func (p *proc) until(at time.Time) bool {
	if p.runner.script.Instant {
		at = time.Now()
	}
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.ended:
		return false
	}
}

// address is the same for all vantages: nobody listens there, unless there are pages.
func address(s experiment.Service, port int) (string, bool) {
	return net.JoinHostPort(s.Name+".invalid", strconv.Itoa(port)), slices.Contains(s.Ports, port)
}

// resolve gives what a reference stands for in a service: files are at their own
// paths.
func resolve(s experiment.Service, ref experiment.Ref) (string, bool) {
	switch ref.Kind {
	case experiment.RefSelf:
		return address(s, ref.Port)
	case experiment.RefFile:
		return ref.Name, true
	default:
		return "", false
	}
}

// Resolve implements experiment.Resolver.
func (p *proc) Resolve(ref experiment.Ref) (string, bool) { return resolve(p.service, ref) }

// Addr implements experiment.Proc.
func (p *proc) Addr(port int, _ experiment.Vantage) (string, error) {
	addr, ok := address(p.service, port)
	if !ok {
		return "", fmt.Errorf("service %s declares no port %d", p.service.Name, port)
	}
	return cmp.Or(p.pages, addr), nil
}

// Logs implements experiment.Proc.
func (p *proc) Logs(ctx context.Context, follow bool) (io.ReadCloser, error) {
	if follow {
		return newFollower(ctx, p.out), nil
	}
	if err := p.runner.answer(ctx); err != nil {
		return nil, err
	}
	return io.NopCloser(p.out.snapshot()), nil
}

// Usage implements experiment.Proc.
func (p *proc) Usage(ctx context.Context) (experiment.Usage, error) {
	if err := p.runner.answer(ctx); err != nil {
		return experiment.Usage{}, err
	}
	at := time.Now()
	select {
	case <-p.ended:
		at = p.exit.At
	default:
	}
	counters := map[experiment.Counter]float64{
		experiment.CounterCPU:        p.behaviour.CPU * at.Sub(p.began).Seconds(),
		experiment.CounterMemory:     1 << 20,
		experiment.CounterMemoryPeak: 1 << 20,
	}
	maps.Copy(counters, p.behaviour.Counters)
	return experiment.Usage{At: at, Counters: counters}, nil
}

// Wait implements experiment.Proc.
func (p *proc) Wait(ctx context.Context) (experiment.Exit, error) {
	select {
	case <-p.ended:
		return p.exit, p.lost
	case <-ctx.Done():
		return experiment.Exit{}, fmt.Errorf("wait for service %s: %w", p.service.Name, ctx.Err())
	}
}

// Stop implements experiment.Proc.
func (p *proc) Stop(ctx context.Context) error {
	if p.timer != nil {
		p.timer.Stop()
	}
	code := 0
	if p.behaviour.Stubborn {
		patience := p.service.StopTimeout
		if patience == 0 {
			patience = defaultStopTimeout
		}
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-p.ended:
		case <-timer.C:
		case <-ctx.Done():
		}
		code = 137
	}
	p.end(code, false)
	return nil
}

// Exec implements experiment.Execer.
func (p *proc) Exec(ctx context.Context, argv []string) (experiment.ExecResult, error) {
	select {
	case <-p.ended:
		if p.lost == nil {
			return experiment.ExecResult{}, fmt.Errorf("exec in service %s: it has ended", p.service.Name)
		}
	default:
	}
	if err := p.runner.answer(ctx); err != nil {
		return experiment.ExecResult{}, err
	}
	var out experiment.ExecResult
	if p.behaviour.Exec != nil {
		p.runner.ask(func() { out = p.behaviour.Exec(argv) })
	}
	return out, ctx.Err()
}

// ReadFile implements experiment.Execer.
func (p *proc) ReadFile(_ context.Context, path string) ([]byte, error) {
	text, ok := p.files[path]
	if !ok {
		return nil, fmt.Errorf("read %s in service %s: %w", path, p.service.Name, fs.ErrNotExist)
	}
	return []byte(text), nil
}
