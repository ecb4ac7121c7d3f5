//go:build integration

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"
)

// requireEnv makes a missing engine a fault instead of a reason to skip.
const requireEnv = "CETERIS_REQUIRE_DOCKER"

// patience bounds what takes seconds on an idle host.
const patience = 5 * time.Minute

// engine gives a client of the engine, or skips the test where none answers.
func engine(t *testing.T) *client.Client {
	t.Helper()
	api, err := client.New(client.FromEnv)
	if err == nil {
		t.Cleanup(func() { _ = api.Close() })
		_, err = api.Ping(t.Context(), client.PingOptions{})
	}
	if err == nil {
		return api
	}
	if os.Getenv(requireEnv) == "1" {
		t.Fatalf("no engine answers, and %s=1: %v", requireEnv, err)
	}
	t.Skipf("no engine answers: %v", err)
	return nil
}

// program gives the path of the program of the tests (see TestMain).
func program(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ceteris")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// sandbox is a place in which ceteris runs apart from any other on this host: with
// a state directory, a cache of its own and a lock of the host that nobody else has.
type sandbox struct {
	program string
	dir     string
	env     []string
}

func newSandbox(t *testing.T, program string) *sandbox {
	t.Helper()
	s := &sandbox{program: program, dir: t.TempDir()}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains([]string{"CETERIS_DB", "CETERIS_LIBEXEC"}, name) {
			s.env = append(s.env, kv)
		}
	}
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatalf("go env GOCACHE: %v", err)
	}
	s.env = append(s.env, "GOCACHE="+string(bytes.TrimSpace(cache)))
	for name, dir := range map[string]string{"XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "cache", "TMPDIR": "tmp", locksVar: "locks"} {
		path := filepath.Join(s.dir, dir)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		s.env = append(s.env, name+"="+path)
	}
	return s
}

// output gives what ceteris prints.
func (s *sandbox) output(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.program, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ceteris %s: %v\n%s%s", strings.Join(args, " "), err, out, said.Bytes())
	}
	return string(out)
}

// child is ceteris at work.
type child struct {
	cmd   *exec.Cmd
	said  string // file of its standard error
	ended chan struct{}
}

// start starts ceteris with its standard error in a file, which outlives it.
func (s *sandbox) start(t *testing.T, args ...string) *child {
	t.Helper()
	said, err := os.CreateTemp(s.dir, "stderr-")
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	c := &child{cmd: exec.Command(s.program, args...), said: said.Name(), ended: make(chan struct{})}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = s.dir, s.env, said
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.ended)
		_ = c.cmd.Wait() // the exit code is asked for
	}()
	t.Cleanup(func() { c.kill() })
	return c
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// over reports whether it has ended.
func (c *child) over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// kill is kill -9; it reports whether ceteris was still at work.
func (c *child) kill() bool {
	worked := !c.over() && c.cmd.Process.Kill() == nil
	<-c.ended
	return worked
}

// wait gives the exit code.
func (c *child) wait(t *testing.T, within time.Duration) int {
	t.Helper()
	select {
	case <-c.ended:
	case <-time.After(within):
		t.Fatalf("ceteris has not ended after %v; it said:\n%s", within, c.stderr(t))
	}
	return c.cmd.ProcessState.ExitCode()
}

func (c *child) stderr(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(c.said)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// saw waits until something holds, as often as possible, and reports whether it did
// before ceteris ended.
func (c *child) saw(t *testing.T, what string, holds func() bool) bool {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(50 * time.Microsecond) {
		if c.over() {
			return false
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v; ceteris said:\n%s", what, patience, c.stderr(t))
		}
	}
	return true
}
