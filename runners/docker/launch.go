package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/step"
)

const (
	// readyPoll is how often readiness is tried.
	readyPoll = 5 * time.Millisecond
	// pingTimeout bounds the question whether the engine still answers.
	pingTimeout = 5 * time.Second
	// defaultStopTimeout is what a service has after SIGTERM unless it says otherwise.
	defaultStopTimeout = 2 * time.Second
)

// Launch starts a service and waits until it is ready, which a job never is. After an
// error its container is gone. What is left of a service of the same name that has
// ended goes first.
func (e *env) Launch(ctx context.Context, s experiment.Service) (experiment.Proc, error) {
	old, err := e.reserve(s.Name)
	if err != nil {
		return nil, err
	}
	if old != nil {
		if err := old.remove(ctx); err != nil {
			e.settle(s.Name, old)
			return nil, fmt.Errorf("start service %s: %w", s.Name, err)
		}
	}
	s = s.Resolve(inside)
	p, err := e.launch(ctx, s)
	if e.r.leaveOpenFiles(err) {
		p, err = e.launch(ctx, s)
	}
	e.settle(s.Name, p)
	if err != nil {
		return nil, fmt.Errorf("start service %s: %w", s.Name, err)
	}
	return p, nil
}

func (e *env) launch(ctx context.Context, s experiment.Service) (*proc, error) {
	p := &proc{env: e, api: e.api, service: s, ended: make(chan struct{}), stopWatch: func() {}}
	err := e.start(ctx, p)
	if err == nil {
		err = p.awaitReady(ctx)
	}
	if err == nil {
		return p, nil
	}
	if p.started {
		err = p.blame(ctx, err)
	}
	if known := cmp.Or(p.id, p.name); known != "" {
		err = errors.Join(err, removeContainer(ctx, e.api, known))
	}
	p.stopWatch()
	if p.started {
		<-p.ended
	}
	return nil, err
}

// start creates and starts the container, watches its end, and learns its
// address.
func (e *env) start(ctx context.Context, p *proc) error {
	ctr, err := e.create(ctx, p)
	if err != nil {
		return err
	}
	if err := p.putFiles(ctx); err != nil {
		return err
	}
	if err := startContainer(ctx, ctr); err != nil {
		return e.startFault(ctx, p, err)
	}
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.started, p.stopWatch = true, cancel
	go p.watch(watching)

	seen, err := e.api.ContainerInspect(ctx, p.id, client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	e.noteVolumes(seen.Container.Mounts)
	p.locate(seen.Container)
	if p.service.Job {
		go p.keepReading()
	}
	return nil
}

func (e *env) create(ctx context.Context, p *proc) (testcontainers.Container, error) {
	s := p.service
	argv, environ, err := s.Texts()
	if err != nil {
		return nil, err
	}
	image, ok := e.r.image(s)
	if !ok {
		return nil, fmt.Errorf("%s was not prepared", s.Source())
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := e.makeVolumes(ctx, s); err != nil {
		return nil, err
	}
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	p.name = e.name + "-" + s.Name
	ctr, err := e.provider.CreateContainer(whole, e.request(p.name, image, s, argv, environ))
	if ctr != nil {
		p.id = ctr.GetContainerID()
	}
	return ctr, err
}

// inside says where a container must listen, everywhere in itself, and where its
// files are: at their own paths.
func inside(r experiment.Ref) (string, bool) {
	switch r.Kind {
	case experiment.RefSelf:
		return "0.0.0.0:" + strconv.Itoa(r.Port), true
	case experiment.RefFile:
		return r.Name, true
	default:
		return "", false
	}
}

// request describes the container. The library publishes every declared port, or
// else those that the image exposes, on all interfaces; the hook, which comes
// after that, has the last word.
func (e *env) request(name, image string, s experiment.Service, argv, environ []string) testcontainers.ContainerRequest {
	labels := maps.Clone(e.labels)
	labels[LabelService] = s.Name
	var host *container.HostConfig
	req := testcontainers.ContainerRequest{
		Name:           name,
		Image:          image,
		ImagePlatform:  s.Container.Platform,
		Cmd:            argv,
		Labels:         labels,
		Networks:       []string{e.name},
		NetworkAliases: map[string][]string{e.name: aliases(s)},
		ConfigModifier: func(c *container.Config) {
			c.Hostname = s.Name
			c.Env = environ
			c.User = s.Container.User
		},
		HostConfigModifier: func(h *container.HostConfig) {
			host = h
			e.configure(h, s)
		},
		LifecycleHooks: []testcontainers.ContainerLifecycleHooks{{
			PreCreates: []testcontainers.ContainerRequestHook{func(context.Context, testcontainers.ContainerRequest) error {
				host.PortBindings = e.bindings(s.Ports)
				return nil
			}},
		}},
	}
	for _, port := range s.Ports {
		req.ExposedPorts = append(req.ExposedPorts, strconv.Itoa(port)+"/tcp")
	}
	return req
}

// configure sets limits and the log driver. A limit that the engine cannot
// enforce is left out: Host.Enforces says so.
func (e *env) configure(h *container.HostConfig, s experiment.Service) {
	can, files := e.r.limits()
	h.NetworkMode = container.NetworkMode(e.name)
	h.RestartPolicy = container.RestartPolicy{Name: container.RestartPolicyDisabled}
	h.LogConfig = logConfig()
	if len(s.Cores) > 0 && can.Cores {
		h.CpusetCpus = s.Cores.String()
	}
	if s.Limits.CPUs > 0 && can.CPUs {
		h.NanoCPUs = int64(s.Limits.CPUs * 1e9)
	}
	if s.Limits.Memory > 0 && can.Memory {
		h.Memory = s.Limits.Memory
		h.MemorySwap = s.Limits.Memory // memory and swap together: no swap
	}
	if s.Limits.PIDs > 0 && can.PIDs {
		h.PidsLimit = &s.Limits.PIDs
	}
	if files > 0 && !limitsFiles(s) {
		h.Ulimits = []*container.Ulimit{{Name: "nofile", Soft: files, Hard: files}}
	}
	contain(h, s.Container)
	h.Mounts = e.mounts(s)
}

// aliases are the names under which other services of the run find this one: its own,
// and the one that it shares with its replicas.
func aliases(s experiment.Service) []string {
	if s.Alias == "" {
		return []string{s.Name}
	}
	return []string{s.Name, s.Alias}
}

// bindings publishes nothing where containers can be dialled, else the declared
// ports on the loopback interface.
func (e *env) bindings(ports []int) network.PortMap {
	out := network.PortMap{}
	if e.direct {
		return out
	}
	for _, port := range ports {
		if p, ok := network.PortFrom(uint16(port), network.TCP); ok {
			out[p] = []network.PortBinding{{HostIP: netip.MustParseAddr("127.0.0.1"), HostPort: "0"}}
		}
	}
	return out
}

// startFault tells a command that cannot be executed (126, 127: as a shell would
// say, the service's own fault) from what the engine could not do.
func (e *env) startFault(ctx context.Context, p *proc, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingTimeout)
	defer cancel()
	seen, inspectErr := e.api.ContainerInspect(ctx, p.id, client.ContainerInspectOptions{})
	if inspectErr != nil || seen.Container.State == nil {
		return err
	}
	if code := seen.Container.State.ExitCode; code == 126 || code == 127 {
		return fmt.Errorf("%w with code %d: the command cannot be executed: %w", experiment.ErrExited, code, err)
	}
	return err
}

// awaitReady waits for the service's readiness step. A watch that was lost ends
// the waiting too: the engine is gone, and that is not the service's fault.
func (p *proc) awaitReady(ctx context.Context) error {
	if p.service.Ready == nil || p.service.Job {
		return ctx.Err()
	}
	err := step.Await(ctx, *p.service.Ready, step.Target{
		Name:   p.service.Name,
		Addr:   func(port int) (string, error) { return p.Addr(port, experiment.FromConductor) },
		Exec:   p,
		Logs:   p.output,
		Follow: p.followAll,
		Gone: func() (experiment.Exit, bool) {
			exit, ended, _ := p.end()
			return exit, ended
		},
	}, readyPoll)
	if _, ended, lost := p.end(); err != nil && ended && lost != nil {
		return lost
	}
	return err
}

// blame makes sure that an error which accuses the service is deserved, and adds
// its last words.
func (p *proc) blame(ctx context.Context, err error) error {
	if !errors.Is(err, experiment.ErrNotReady) && !errors.Is(err, experiment.ErrExited) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingTimeout)
	defer cancel()
	if _, pingErr := p.api.Ping(ctx, client.PingOptions{}); pingErr != nil {
		// It must not pass for a failure of the service: its error is text only.
		return fmt.Errorf("the engine does not answer: %w (before that: %s)", pingErr, err.Error())
	}
	if exit, _, _ := p.end(); exit.OOMKilled {
		err = fmt.Errorf("%w, out of memory", err)
	}
	if words := p.lastWords(ctx); words != "" {
		err = fmt.Errorf("%w; its last output: %s", err, words)
	}
	return err
}

func (p *proc) lastWords(ctx context.Context) string {
	const most = 1000
	var b strings.Builder
	if err := p.copyLogs(ctx, &b, &b, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: "10"}); err != nil {
		return ""
	}
	words := strings.TrimSpace(b.String())
	if len(words) <= most {
		return strings.ToValidUTF8(words, "")
	}
	return "..." + strings.ToValidUTF8(words[len(words)-most:], "")
}
