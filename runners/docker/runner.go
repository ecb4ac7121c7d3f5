package docker

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/gobuild"
)

// Name is the runner's name in matrices and results.
const Name = "docker"

// The labels of everything that is started. LabelEnv is unique to one Open.
const (
	LabelOwner   = "ceteris.owner"
	LabelSweep   = "ceteris.sweep"
	LabelRun     = "ceteris.run"
	LabelEnv     = "ceteris.env"
	LabelService = "ceteris.service"
)

// Options of a Runner.
type Options struct {
	Owner   string           // label of what is opened under a key without an owner
	Builder *gobuild.Builder // compiles Go packages; nil: one with defaults
	Log     *slog.Logger     // nil: none
}

// Runner is the experiment.Runner for a Docker engine, and its experiment.Cleaner.
type Runner struct {
	owner   string
	builder *gobuild.Builder
	log     *slog.Logger

	mu       sync.Mutex
	provider *testcontainers.DockerProvider // nil until the engine answered once
	host     experiment.Host                // zero until the first Check
	images   experiment.Images

	openFiles int64 // 0: left to the engine, which has refused it
}

var (
	_ experiment.Runner  = (*Runner)(nil)
	_ experiment.Cleaner = (*Runner)(nil)
)

// New makes a Runner. It does not ask the engine anything yet (see Check), but
// settles testcontainers for the whole process (see configureLibrary), so it must
// come before any other use of that library.
func New(o Options) (*Runner, error) {
	r := &Runner{owner: o.Owner, builder: o.Builder, log: o.Log, images: experiment.Images{}, openFiles: experiment.OpenFiles}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.builder == nil {
		r.builder = gobuild.New(gobuild.Options{Log: r.log})
	}
	if err := configureLibrary(r.log); err != nil {
		return nil, fmt.Errorf("docker: %w", err)
	}
	return r, nil
}

// configureLibrary settles what testcontainers takes from the environment of the
// process, and reads once. The reaper stays off: its image may not be to be had,
// and what is left behind is found by our own labels. Inside a container
// (/.dockerenv) the library would take the default gateway for the engine's host
// and dial it; nothing here needs such an address. Its chatter goes to our log.
func configureLibrary(log *slog.Logger) error {
	if err := os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true"); err != nil {
		return err
	}
	const override = "TESTCONTAINERS_HOST_OVERRIDE"
	if _, set := os.LookupEnv(override); !set {
		if _, err := os.Stat("/.dockerenv"); err == nil {
			if err := os.Setenv(override, "127.0.0.1"); err != nil {
				return err
			}
		}
	}
	tclog.SetDefault(libraryLog{log})
	return nil
}

type libraryLog struct{ log *slog.Logger }

func (l libraryLog) Printf(format string, v ...any) {
	l.log.Debug("testcontainers", "says", fmt.Sprintf(format, v...))
}

// Name gives "docker".
func (r *Runner) Name() string { return Name }

// connect finds the engine (DOCKER_HOST, the usual sockets) on first use.
func (r *Runner) connect() (*testcontainers.DockerProvider, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.provider == nil {
		// The library goes on to the usual sockets when DOCKER_HOST does not answer,
		// and then speaks of the last of them: nobody wants to measure on an engine
		// that was not meant.
		want := os.Getenv(client.EnvOverrideHost)
		if err := checkHost(want); err != nil {
			return nil, noRuntime(err)
		}
		p, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(libraryLog{r.log}))
		switch {
		case want == "" && err != nil:
			return nil, noRuntime(err)
		case want != "" && (err != nil || want != p.Client().DaemonHost()):
			return nil, noRuntime(fmt.Errorf("nothing at %s=%s", client.EnvOverrideHost, want))
		}
		r.provider = p
	}
	return r.provider, nil
}

// checkHost wants DOCKER_HOST to be an address; empty is its absence.
func checkHost(host string) error {
	if host == "" {
		return nil
	}
	if _, err := client.ParseHostURL(host); err != nil {
		return fmt.Errorf("%s=%s is no address (as in unix:///var/run/docker.sock or tcp://127.0.0.1:2375)", client.EnvOverrideHost, host)
	}
	return nil
}

func (r *Runner) client() (client.APIClient, error) {
	p, err := r.connect()
	if err != nil {
		return nil, err
	}
	return bounded{p.Client()}, nil
}

func noRuntime(err error) error {
	return experiment.WithHint(fmt.Errorf("docker: %w: %w", experiment.ErrNoRuntime, err),
		"start a Docker engine or point DOCKER_HOST at one; --runner process needs none")
}

// facts gives the host as the first Check found it.
func (r *Runner) facts(ctx context.Context) (experiment.Host, error) {
	r.mu.Lock()
	host := r.host
	r.mu.Unlock()
	if host.OS != "" {
		return host, nil
	}
	return r.Check(ctx)
}

// limits says which limits the engine puts into force, and how many open files to
// ask for.
func (r *Runner) limits() (experiment.Enforces, int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.host.Enforces, r.openFiles
}

// leaveOpenFiles reports whether a start failed because the engine may not set
// the limit of open files, in which case it is not asked for it again.
func (r *Runner) leaveOpenFiles(err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil || r.openFiles == 0 || !strings.Contains(err.Error(), "rlimit") {
		return false
	}
	r.log.Warn("the engine refuses to set the limit of open files; its own stands", "asked", r.openFiles)
	r.openFiles = 0
	return true
}
