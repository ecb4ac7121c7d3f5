//go:build integration

package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
)

// sleeper is a service that lives and never gets ready.
func sleeper() experiment.Service {
	return experiment.Service{
		Name: "sleeper", Image: "debian:bookworm-slim", Ports: []int{80},
		Command: []experiment.Template{experiment.Literal("sleep"), experiment.Literal("600")},
		Ready:   &experiment.Step{Port: 80, Within: 10 * time.Minute},
	}
}

func redisService() experiment.Service {
	return experiment.Service{
		Name: "redis", Image: "redis:7", Ports: []int{6379},
		Ready: &experiment.Step{Port: 6379, Within: 30 * time.Second},
	}
}

// openEnv opens an environment on the engine, or skips; a missing engine is a
// fault elsewhere (TestConformance).
func openEnv(t *testing.T, s experiment.Service) (*Runner, *env) {
	t.Helper()
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Check(t.Context()); err != nil {
		t.Skipf("no engine answers: %v", err)
	}
	if _, err := r.Prepare(t.Context(), []experiment.Service{s}); err != nil {
		t.Fatal(err)
	}
	owner, err := experiment.ThisOwner("engine-" + rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	opened, err := r.Open(t.Context(), experiment.RunKey{Owner: owner.String(), Sweep: 1, Run: 1})
	if err != nil {
		t.Fatal(err)
	}
	e := opened.(*env)
	t.Cleanup(func() {
		if err := e.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return r, e
}

// Where containers cannot be dialled, their ports are published, on the loopback
// interface alone.
func TestPublishedOnLoopbackWhereContainersAreOutOfReach(t *testing.T) {
	s := redisService()
	_, e := openEnv(t, s)
	e.direct = false
	p, err := e.Launch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := e.api.ContainerInspect(t.Context(), p.(*proc).id, client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for port, bindings := range seen.Container.NetworkSettings.Ports {
		for _, b := range bindings {
			n++
			if b.HostIP.String() != "127.0.0.1" {
				t.Errorf("port %s is published on %s", port, b.HostIP)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d ports are published, want 1", n)
	}
	addr, err := p.Addr(6379, experiment.FromConductor)
	if err != nil || !strings.HasPrefix(addr, "127.0.0.1:") {
		t.Fatalf("address: got %q, %v", addr, err)
	}
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, len("+PONG"))
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "+PONG" {
		t.Errorf("redis answers %q, %v", answer, err)
	}
}

func TestEngineThatRefusesTheLimitOfOpenFiles(t *testing.T) {
	s := redisService()
	r, e := openEnv(t, s)
	r.openFiles = 1 << 30 // above what any kernel allows by default
	if _, err := e.Launch(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if r.openFiles != 0 {
		t.Errorf("asks for %d open files still", r.openFiles)
	}
}

// cable leads from a socket to the engine's, and can be cut.
type cable struct {
	listener net.Listener
	mu       sync.Mutex
	conns    []net.Conn
}

func layCable(t *testing.T, engine string) *cable {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(t.TempDir(), "engine.sock"))
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{listener: l}
	t.Cleanup(c.cut)
	ctx := t.Context()
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := (&net.Dialer{}).DialContext(ctx, "unix", engine)
			if err != nil {
				_ = near.Close()
				continue
			}
			c.mu.Lock()
			c.conns = append(c.conns, near, far)
			c.mu.Unlock()
			go func() { _, _ = io.Copy(near, far) }()
			go func() { _, _ = io.Copy(far, near) }()
		}
	}()
	return c
}

func (c *cable) cut() {
	_ = c.listener.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}

func TestEngineLostWhileAServiceIsAwaited(t *testing.T) {
	s := sleeper()
	r, e := openEnv(t, s)
	socket, local := strings.CutPrefix(e.api.DaemonHost(), "unix://")
	if !local {
		t.Skip("the engine is not behind a socket file")
	}
	line := layCable(t, socket)
	through, err := client.New(client.WithHost("unix://" + line.listener.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	defer through.Close()
	healthy := e.api
	e.provider.SetClient(through)
	e.api = through
	defer func() {
		e.provider.SetClient(healthy)
		e.api = healthy
	}()

	launched := make(chan error, 1)
	go func() {
		_, err := e.Launch(t.Context(), s)
		launched <- err
	}()
	awaitRunning(t, healthy, e.name)
	line.cut()
	select {
	case err = <-launched:
	case <-time.After(time.Minute):
		t.Fatal("the launch goes on without an engine")
	}
	if err == nil || errors.Is(err, experiment.ErrNotReady) || errors.Is(err, experiment.ErrExited) {
		t.Errorf("got %v, want an error that does not blame the service", err)
	}
	if _, err := r.Check(t.Context()); !errors.Is(err, experiment.ErrNoRuntime) {
		t.Errorf("check: got %v, want %v", err, experiment.ErrNoRuntime)
	}
}

func awaitRunning(t *testing.T, api client.APIClient, env string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		list, err := api.ContainerList(ctx, client.ContainerListOptions{Filters: labelled(LabelEnv, env)})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) > 0 {
			return
		}
		pause(ctx, removePoll)
	}
}
