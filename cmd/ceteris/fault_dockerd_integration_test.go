//go:build integration

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"
)

// ownEngine is a Docker engine that a test may stop and kill as it likes. It has a
// network and mounts of its own, as the test that started it has from then on: an
// engine would take away what another one has set up on the host's network, and what
// is killed here leaves neither interfaces nor mounts behind.
type ownEngine struct {
	*testing.T
	dir    string
	api    *client.Client
	daemon *exec.Cmd
}

// newOwnEngine starts an engine, or skips the test where that is not possible. The
// test's own goroutine must start whatever is to reach its containers.
func newOwnEngine(t *testing.T) *ownEngine {
	t.Helper()
	e := &ownEngine{T: t}
	if err := e.isolate(); err != nil {
		e.unavailable(err)
	}
	e.dir = t.TempDir()
	var err error
	if e.api, err = client.New(client.WithHost(e.host())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.remove)
	if err := e.start(); err != nil {
		e.unavailable(err)
	}
	return e
}

func (e *ownEngine) unavailable(err error) {
	e.Helper()
	if os.Getenv(requireEnv) == "1" {
		e.Fatalf("no engine can be started, and %s=1: %v", requireEnv, err)
	}
	e.Skipf("no engine can be started: %v", err)
}

// isolate gives this goroutine, and what is started from it, a network and mounts of
// its own. Its thread ends with it.
func (e *ownEngine) isolate() error {
	if _, err := exec.LookPath("dockerd"); err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("leave the host's network: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("leave the host's mounts: %w", err)
	}
	// The sockets of those who keep containers lie there, whatever an engine is told.
	if err := os.MkdirAll(shims, 0o711); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", shims, "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("hide %s: %w", shims, err)
	}
	return raiseLoopback()
}

const shims = "/run/containerd"

func raiseLoopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo)
}

func (e *ownEngine) in(name string) string { return filepath.Join(e.dir, name) }
func (e *ownEngine) host() string          { return "unix://" + e.in("docker.sock") }

// start starts the engine and waits until it answers.
func (e *ownEngine) start() error {
	// The pid of a daemon that was killed may be taken: by others, or by its remains.
	for _, path := range []string{"pid", "exec/containerd/containerd.pid"} {
		if err := os.Remove(e.in(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	said, err := os.OpenFile(e.in("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer said.Close()
	e.daemon = exec.Command("dockerd", "--data-root", e.in("data"), "--exec-root", e.in("exec"), "--pidfile", e.in("pid"),
		"--host", e.host(), "--bridge", "none", "--iptables=false", "--ip-masq=false", "--userland-proxy=false",
		"--default-address-pool", "base=10.200.0.0/16,size=24")
	e.daemon.Stdout, e.daemon.Stderr = said, said
	e.daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := e.daemon.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err = e.api.Ping(e.Context(), client.PingOptions{}); err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("dockerd does not answer: %w; it said:\n%s", err, e.said())
		}
	}
}

// said is the latest of what the engine said.
func (e *ownEngine) said() []byte {
	text, _ := os.ReadFile(e.in("log")) // a comment on a fault; it need not be there
	return text[max(len(text)-8000, 0):]
}

// An engineEnd is a way in which an engine goes.
type engineEnd func(*ownEngine)

// byStop: as the machine's administrator does it; the engine ends its containers.
func byStop(e *ownEngine) {
	e.Helper()
	_ = e.daemon.Process.Signal(syscall.SIGTERM)
	_ = e.daemon.Wait() // however it ends
}

// byCrash: the daemons are dead, and the containers live on without them.
func byCrash(e *ownEngine) {
	e.Helper()
	daemons, _ := e.processes()
	killPIDs(daemons)
	_ = e.daemon.Wait()
}

// byBlackout: everything is dead.
func byBlackout(e *ownEngine) {
	e.Helper()
	daemons, contained := e.processes()
	killPIDs(slices.Concat(daemons, contained))
	_ = e.daemon.Wait()
}

func killPIDs(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

// processes finds the daemons, and the containers with those who keep them.
func (e *ownEngine) processes() (daemons, contained []int) {
	e.Helper()
	parents := map[int]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		e.Fatal(err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		command, err1 := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		stat, err2 := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if errors.Join(err1, err2) != nil {
			continue // it has ended
		}
		var state string
		var parent int
		if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent); err != nil {
			e.Fatal(err)
		}
		parents[pid] = parent
		name, _, _ := bytes.Cut(command, []byte{0})
		switch {
		case !bytes.Contains(command, []byte(e.dir)):
		case strings.Contains(string(name), "shim"):
			contained = append(contained, pid)
		default:
			daemons = append(daemons, pid)
		}
	}
	for i := 0; i < len(contained); i++ { // it grows meanwhile
		for pid, parent := range parents {
			if parent == contained[i] {
				contained = append(contained, pid)
			}
		}
	}
	return daemons, contained
}

// remove ends the engine and leaves nothing but files.
func (e *ownEngine) remove() {
	if e.Failed() {
		e.Logf("dockerd said at last:\n%s", e.said())
	}
	if e.daemon != nil && e.daemon.Process != nil {
		byBlackout(e)
	}
	mounts, err := os.ReadFile("/proc/thread-self/mounts")
	if err != nil {
		e.Error(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if at := strings.Fields(line)[1]; strings.HasPrefix(at, e.dir) {
			_ = unix.Unmount(at, unix.MNT_DETACH) // what stays in the way of the directory is told
		}
	}
	_ = e.api.Close()
}
