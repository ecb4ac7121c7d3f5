package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/step"
)

// proc is a service that was started.
type proc struct {
	service experiment.Service // own ports and paths of files resolved
	marker  marker
	ports   map[int]int // declared to real
	cores   experiment.CoreSet
	dir     string // where it runs
	places  places
	environ []string // all of its environment
	files   *outputs
	log     *slog.Logger
	cmd     *exec.Cmd
	group   int

	ended chan struct{} // closed when exit and final are set
	exit  experiment.Exit
	err   error
	final experiment.Usage

	reaping sync.Mutex // held while the group is signalled and while its number is given up
	reaped  bool

	reading sync.Mutex
	last    map[experiment.Counter]float64 // counters only grow
}

var (
	_ experiment.Proc     = (*proc)(nil)
	_ experiment.Execer   = (*proc)(nil)
	_ experiment.LogMeter = (*proc)(nil)
	_ experiment.Resolver = (*proc)(nil)
)

// newProc makes the directory of a service and its command.
func newProc(e *env, s experiment.Service, program string, ports map[int]int) (*proc, error) {
	p := &proc{
		ports: ports, places: e.places(s), cores: s.Cores, ended: make(chan struct{}),
		marker: marker{owner: e.key.Owner, sweep: e.key.Sweep, run: e.key.Run, service: s.Name},
		dir:    filepath.Join(e.files.dir, s.Name), log: e.runner.log,
	}
	if len(p.cores) == 0 {
		p.cores = e.runner.cores
	}
	s = s.Resolve(p.Resolve)
	p.service = s
	argv, own, err := s.Texts()
	if err != nil {
		return nil, err
	}
	if s.Build != nil {
		argv = append([]string{program}, argv...)
	}
	temp := filepath.Join(p.dir, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, err
	}
	p.environ = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + temp}, own...)
	p.environ = append(p.environ, markerEnv+"="+p.marker.String())
	p.files = newOutputs(e.files.dir, s)
	p.cmd = &exec.Cmd{Path: program, Args: argv, Env: p.environ, Dir: p.dir}
	return p, nil
}

// Resolve implements experiment.Resolver.
func (p *proc) Resolve(ref experiment.Ref) (string, bool) {
	switch ref.Kind {
	case experiment.RefSelf:
		port, ok := p.ports[ref.Port]
		return loopback(port), ok
	case experiment.RefFile:
		return p.places.of(ref.Name), true
	default:
		return "", false
	}
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// start starts the command and watches it to its end.
func (p *proc) start() error {
	if err := p.files.attach(p.cmd); err != nil {
		return err
	}
	err := errors.Join(start(p.cmd, p.cores), p.files.detach())
	if err != nil {
		return err
	}
	p.group = p.cmd.Process.Pid // it leads its group
	go p.watch()
	return nil
}

// remove removes the files of a service that does not run.
func (p *proc) remove() error { return errors.Join(p.files.remove(), os.RemoveAll(p.dir)) }

// describe gives what is kept of the process for others to recognise it.
func (p *proc) describe(program string) processState {
	s := processState{Service: p.service.Name, Executable: program, PID: p.group, Group: p.group}
	if now, err := readProcess(p.group); err == nil {
		s.Started = now.start
	}
	if exe, err := executable(p.group); err == nil {
		s.Executable = exe
	}
	return s
}

// watch waits for the main process, kills what it leaves, and only then lets go of
// its number: as long as the dead process is not reaped, its number stands for no
// other process and no other group.
func (p *proc) watch() {
	defer close(p.ended)
	quit := make(chan struct{})
	var capping sync.WaitGroup
	capping.Go(func() { p.files.capping(p.service, quit, p.log) })
	defer func() {
		close(quit)
		capping.Wait()
	}()
	for {
		err := unix.Waitid(unix.P_PID, p.group, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break // it ended; any other error is Wait's to tell
		}
	}
	p.exit.At = time.Now()
	if err := p.signal(unix.SIGKILL); err != nil {
		p.err = err
	}
	if err := killMarked(func(m marker) bool { return m == p.marker }); err != nil {
		p.err = errors.Join(p.err, err)
	}
	var failed *exec.ExitError
	p.reaping.Lock()
	err := p.cmd.Wait() // returns at once
	p.reaped = true
	p.reaping.Unlock()
	if err != nil && !errors.As(err, &failed) {
		p.err = errors.Join(p.err, fmt.Errorf("wait for service %s: %w", p.service.Name, err))
		return
	}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.exit.Code = 128 + int(status.Signal())
	} else {
		p.exit.Code = p.cmd.ProcessState.ExitCode()
	}
	p.final = p.finalUsage()
}

// signal sends a signal to the group. It is sent only while the main process is
// not reaped, so the group is the service's.
func (p *proc) signal(sig unix.Signal) error {
	p.reaping.Lock()
	defer p.reaping.Unlock()
	if p.reaped {
		return nil
	}
	if err := unix.Kill(-p.group, sig); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("send %s to service %s: %w", unix.SignalName(sig), p.service.Name, err)
	}
	return nil
}

// gone says whether the service has ended, and how.
func (p *proc) gone() (experiment.Exit, bool) {
	select {
	case <-p.ended:
		return p.exit, true
	default:
		return experiment.Exit{}, false
	}
}

// Addr implements experiment.Proc. All vantages are on this host.
func (p *proc) Addr(port int, _ experiment.Vantage) (string, error) {
	mapped, ok := p.ports[port]
	if !ok {
		return "", fmt.Errorf("service %s declares no port %d", p.service.Name, port)
	}
	return loopback(mapped), nil
}

// Wait implements experiment.Proc. OOMKilled is never set.
func (p *proc) Wait(ctx context.Context) (experiment.Exit, error) {
	select {
	case <-p.ended:
		return p.exit, p.err
	case <-ctx.Done():
		return experiment.Exit{}, fmt.Errorf("wait for service %s: %w", p.service.Name, ctx.Err())
	}
}

// Stop implements experiment.Proc: SIGTERM to the group, SIGKILL after the
// service's StopTimeout or when ctx ends.
func (p *proc) Stop(ctx context.Context) error {
	if _, gone := p.gone(); gone {
		return p.err
	}
	all, err := processes()
	if err != nil {
		return fmt.Errorf("stop service %s: %w", p.service.Name, err)
	}
	if err := p.terminate(ctx); err != nil {
		return err
	}
	// What left the group and cleared its environment has lost its parent by now.
	return errors.Join(p.err, killAll(family(all, p.group)))
}

// terminate ends the main process and its group.
func (p *proc) terminate(ctx context.Context) error {
	patience := p.service.StopTimeout
	if patience <= 0 {
		patience = defaultStopTimeout
	}
	if err := p.signal(unix.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.ended:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	if err := p.signal(unix.SIGKILL); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(killPatience):
		return fmt.Errorf("stop service %s: process %d survives SIGKILL", p.service.Name, p.group)
	}
}

// target is the service as its steps see it.
func (p *proc) target() step.Target {
	return step.Target{
		Name:   p.service.Name,
		Addr:   func(port int) (string, error) { return p.Addr(port, experiment.FromConductor) },
		Exec:   p,
		Logs:   func(ctx context.Context) (io.ReadCloser, error) { return p.Logs(ctx, false) },
		Follow: p.followAll,
		Gone:   p.gone,
		Owns:   p.owns,
	}
}
