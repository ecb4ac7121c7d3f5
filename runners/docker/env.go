package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"golang.org/x/sync/errgroup"

	"github.com/ceteris/ceteris/experiment"
)

const (
	// createTimeout bounds the making of a network or a container. It is not cut
	// short by the caller: the engine would go on making what nobody knows.
	createTimeout = 30 * time.Second
	// removeTimeout bounds the removal of one thing.
	removeTimeout = 30 * time.Second
	// closeTimeout bounds the removal of an environment.
	closeTimeout = time.Minute
	// removePoll is how often a removal under way is looked at.
	removePoll = 10 * time.Millisecond
)

// env is the environment of one run: a network and what is on it.
type env struct {
	r        *Runner
	provider *testcontainers.DockerProvider
	api      client.APIClient
	name     string // of the network; the value of LabelEnv
	labels   map[string]string
	direct   bool // containers are dialled at their own address

	mu        sync.Mutex
	closed    bool
	launched  map[string]*proc // by service; nil while it starts
	anonymous []string         // volumes of all containers there were
	renewed   map[string]int   // how often a volume was made anew beside an old one
}

// Open makes the network of a run. What is left of one that was made half gives the
// environment beside the error.
func (r *Runner) Open(ctx context.Context, key experiment.RunKey) (experiment.Env, error) {
	provider, err := r.connect()
	if err != nil {
		return nil, err
	}
	if key.Owner == "" {
		key.Owner = r.owner
	}
	if key.Owner == "" {
		return nil, fmt.Errorf("open run %d: no owner is named, and nobody could clean up after it", key.Run)
	}
	suffix := make([]byte, 4)
	_, _ = rand.Read(suffix) // never fails
	e := &env{
		r: r, provider: provider, api: bounded{provider.Client()},
		name:     fmt.Sprintf("ceteris-%d-%s", key.Run, hex.EncodeToString(suffix)),
		launched: map[string]*proc{}, renewed: map[string]int{},
	}
	e.labels = map[string]string{
		LabelOwner: key.Owner,
		LabelSweep: strconv.FormatInt(key.Sweep, 10),
		LabelRun:   strconv.FormatInt(key.Run, 10),
		LabelEnv:   e.name,
	}
	if err := e.makeNetwork(ctx); err != nil {
		err = fmt.Errorf("open run %d: %w", key.Run, err)
		if closeErr := e.Close(ctx); closeErr != nil { // as without the engine
			return e, errors.Join(err, closeErr)
		}
		return nil, err
	}
	return e, nil
}

func (e *env) makeNetwork(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	if _, err := e.api.NetworkCreate(whole, e.name, client.NetworkCreateOptions{Driver: "bridge", Labels: e.labels}); err != nil {
		return experiment.WithHint(err, "many unused networks exhaust the engine's addresses: ceteris clean, docker network prune")
	}
	made, err := e.api.NetworkInspect(whole, e.name, client.NetworkInspectOptions{})
	if err != nil {
		return fmt.Errorf("inspect network: %w", err)
	}
	e.direct = reachable(made.Network)
	return ctx.Err()
}

// reserve marks a service as being launched. It gives the one of the same name that
// was launched before and has ended.
func (e *env) reserve(service string) (old *proc, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, fmt.Errorf("service %s: the environment is closed", service)
	}
	old, taken := e.launched[service]
	if taken && (old == nil || !old.hasEnded()) {
		return nil, fmt.Errorf("service %s: launched before, and not stopped", service)
	}
	e.launched[service] = nil
	return old, nil
}

// settle notes how a launch ended: with a proc, or with nothing left.
func (e *env) settle(service string, p *proc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p == nil {
		delete(e.launched, service)
		return
	}
	e.launched[service] = p
}

// Close removes the containers of the run, its volumes, named and anonymous, and its
// network, and looks whether anything is left. Services are killed, not asked.
func (e *env) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	e.mu.Lock()
	e.closed = true
	procs := make([]*proc, 0, len(e.launched))
	for _, p := range e.launched {
		if p != nil {
			procs = append(procs, p)
		}
	}
	anonymous := e.anonymous
	e.mu.Unlock()

	err := e.removeAll(ctx, anonymous)
	for _, p := range procs {
		p.stopWatch()
		<-p.ended
	}
	if err != nil {
		return fmt.Errorf("close %s: %w", e.name, err)
	}
	return nil
}

func (e *env) removeAll(ctx context.Context, volumes []string) error {
	list, err := e.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: labelled(LabelEnv, e.name)})
	if err != nil {
		return fmt.Errorf("list containers: %w", err)
	}
	var all errgroup.Group
	for _, c := range list.Items {
		all.Go(func() error { return removeContainer(ctx, e.api, c.ID) })
	}
	if err := all.Wait(); err != nil {
		return err
	}
	named, err := e.ownVolumes(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, v := range append(named, volumes...) {
		errs = append(errs, removeVolume(ctx, e.api, v))
	}
	errs = append(errs, removeNetwork(ctx, e.api, e.name), e.verifyGone(ctx))
	return errors.Join(errs...)
}

func (e *env) verifyGone(ctx context.Context) error {
	containers, err := e.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: labelled(LabelEnv, e.name)})
	if err != nil {
		return fmt.Errorf("list containers: %w", err)
	}
	networks, err := e.api.NetworkList(ctx, client.NetworkListOptions{Filters: labelled(LabelEnv, e.name)})
	if err != nil {
		return fmt.Errorf("list networks: %w", err)
	}
	volumes, err := e.ownVolumes(ctx)
	if err != nil {
		return err
	}
	if c, n, v := len(containers.Items), len(networks.Items), len(volumes); c+n+v > 0 {
		return fmt.Errorf("%d containers, %d networks and %d volumes are left", c, n, v)
	}
	return nil
}

func labelled(label, value string) client.Filters {
	if value != "" {
		label += "=" + value
	}
	return client.Filters{}.Add("label", label)
}

// removeContainer kills a container and removes it with its anonymous volumes,
// and comes back when it is gone, whoever removed it. None is no error.
func removeContainer(ctx context.Context, api client.APIClient, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	for {
		_, err := api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err == nil || errdefs.IsNotFound(err) {
			return nil
		}
		// A removal already under way is a conflict until it is done.
		if !errdefs.IsConflict(err) || !pause(ctx, removePoll) {
			return fmt.Errorf("remove container %s: %w", short(id), err)
		}
	}
}

// removeNetwork removes a network, for whose endpoints the engine may need a
// moment after their containers are gone. None is no error.
func removeNetwork(ctx context.Context, api client.APIClient, id string) error {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	for began := time.Now(); ; {
		_, err := api.NetworkRemove(ctx, id, client.NetworkRemoveOptions{})
		if err == nil || errdefs.IsNotFound(err) {
			return nil
		}
		busy := errdefs.IsConflict(err) || errdefs.IsPermissionDenied(err) // "has active endpoints"
		if !busy || time.Since(began) > patience || !pause(ctx, removePoll) {
			return fmt.Errorf("remove network %s: %w", id, err)
		}
	}
}

// pause waits, and reports whether ctx still holds.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func short(id string) string { return id[:min(12, len(id))] }
