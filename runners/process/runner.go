package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/gobuild"
)

// Builder compiles what a service runs. It gives the same path for the same
// build as long as the runner lives.
type Builder interface {
	Binary(ctx context.Context, b experiment.Build, goos, goarch string) (path string, err error)
}

// Options of a runner. Builder may be nil if no service has to be built.
type Options struct {
	StateDir string // absolute; DefaultStateDir gives the usual one
	Builder  Builder
	Log      *slog.Logger // nil: nothing is logged
}

// Runner runs services as processes. It is an experiment.Runner and an
// experiment.Cleaner.
type Runner struct {
	stateDir string
	builder  Builder
	log      *slog.Logger
	cores    experiment.CoreSet // that this process could use when the runner was made
	coresErr error
	ports    *portRange
	filing   sync.Mutex // held while directories of owners come and go
}

var (
	_ experiment.Runner  = (*Runner)(nil)
	_ experiment.Cleaner = (*Runner)(nil)
)

// New makes a runner. It notes the cores that the calling process may use, which
// are those of unpinned services: make it before ceteris pins itself.
func New(o Options) *Runner {
	r := &Runner{stateDir: o.StateDir, builder: o.Builder, log: o.Log, ports: &portRange{}}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	r.cores, r.coresErr = allowedCores()
	return r
}

// DefaultStateDir is where the state of runs is kept: ceteris in
// $XDG_STATE_HOME, in ~/.local/state or, without a home, in the directory of
// temporary files.
func DefaultStateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "ceteris")
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "ceteris")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("ceteris-%d", os.Getuid()))
}

// Name implements experiment.Runner.
func (r *Runner) Name() string { return experiment.RunnerProcess }

// Check describes this host. It fails with ErrCannotRun where processes cannot be
// watched or no ports are free for them.
func (r *Runner) Check(ctx context.Context) (experiment.Host, error) {
	if r.coresErr != nil {
		return experiment.Host{}, fmt.Errorf("%w: allowed cores: %w", experiment.ErrCannotRun, r.coresErr)
	}
	if !filepath.IsAbs(r.stateDir) {
		return experiment.Host{}, fmt.Errorf("%w: the state directory %q is not absolute", experiment.ErrCannotRun, r.stateDir)
	}
	if err := os.MkdirAll(r.runsDir(), 0o700); err != nil {
		return experiment.Host{}, fmt.Errorf("%w: state directory: %w", experiment.ErrCannotRun, err)
	}
	if _, _, err := ephemeral(); err != nil {
		return experiment.Host{}, err
	}
	info, err := host.InfoWithContext(ctx)
	if err != nil {
		return experiment.Host{}, fmt.Errorf("describe host: %w", err)
	}
	memory, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return experiment.Host{}, fmt.Errorf("describe host: memory: %w", err)
	}
	boot, err := experiment.BootID()
	if err != nil {
		return experiment.Host{}, fmt.Errorf("describe host: %w", err)
	}
	h := experiment.Host{
		Name: info.Hostname, OS: strings.TrimSpace(info.Platform + " " + info.PlatformVersion), Arch: runtime.GOARCH,
		Kernel: info.KernelVersion, Cores: r.cores, Memory: int64(memory.Total),
		Boot: boot, Local: true,
		Enforces: experiment.Enforces{Cores: true}, StateDir: r.stateDir,
	}
	if cpus, err := cpu.InfoWithContext(ctx); err == nil && len(cpus) > 0 {
		h.CPU = cpus[0].ModelName
	}
	return h, nil
}

// Prepare builds what is to be built and gives the digests of all executables.
// Services that have a command alone share one key, whose value covers all of
// their programs. A service that has an image alone is an error.
func (r *Runner) Prepare(ctx context.Context, all []experiment.Service) (experiment.Images, error) {
	images := experiment.Images{}
	var commands []string
	var errs []error
	for _, s := range all {
		if _, done := images[s.Source()]; done {
			continue
		}
		path, err := r.program(ctx, s)
		if err == nil {
			var id string
			if id, err = gobuild.Digest(path); err == nil && s.Build == nil {
				commands = append(commands, path+" "+id)
			} else if err == nil {
				images[s.Source()] = id
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("prepare service %s: %w", s.Name, err))
		}
	}
	if len(commands) > 0 {
		slices.Sort(commands)
		images[experiment.Service{}.Source()] = experiment.HashJSON(slices.Compact(commands))
	}
	return images, errors.Join(errs...)
}

// processForm is advice for a service that has only a form for containers.
const processForm = "give the service a process section with build or command, or use runner: docker"

// program gives the path of what a service executes.
func (r *Runner) program(ctx context.Context, s experiment.Service) (string, error) {
	switch {
	case s.Build != nil && s.Build.Binary != "":
		return s.Build.Binary, nil
	case s.Build != nil && s.Build.Context != "":
		return "", experiment.WithHint(fmt.Errorf("%w: what a Dockerfile builds cannot be run as a process", experiment.ErrCannotRun), processForm)
	case s.Build != nil && r.builder == nil:
		return "", fmt.Errorf("%w: nothing here builds %s", experiment.ErrCannotRun, s.Build.Go)
	case s.Build != nil:
		return r.builder.Binary(ctx, *s.Build, runtime.GOOS, runtime.GOARCH)
	case s.Image != "" || len(s.Command) == 0:
		return "", experiment.WithHint(fmt.Errorf("%w: an image cannot be run as a process", experiment.ErrCannotRun), processForm)
	}
	name, ok := s.Command[0].Literal()
	if !ok {
		return "", fmt.Errorf("command: %s is not resolved", s.Command[0].Refs()[0])
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", experiment.WithHint(fmt.Errorf("%w: %w", experiment.ErrCannotRun, err), "install it, or put it on PATH")
	}
	return filepath.Abs(path)
}
