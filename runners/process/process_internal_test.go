package process

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestServicePorts(t *testing.T) {
	for _, tc := range []struct {
		name, ephemeral string
		lo, hi          int // 0: none
	}{
		{"default", "32768\t60999\n", 20000, 32767},
		{"wide", "15000 65535", 2232, 14999},
		{"low begin", "2000 65535", 1024, 1999},
		{"above only", "1024 60000", 60001, 65535},
		{"next to nothing above", "1024 65472", 0, 0},
		{"all", "1 65535", 0, 0},
		{"unreadable", "many", 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lo, hi, err := servicePorts(tc.ephemeral)
			if lo != tc.lo || hi != tc.hi || (err != nil) != (tc.lo == 0) {
				t.Errorf("got %d to %d, %v, want %d to %d", lo, hi, err, tc.lo, tc.hi)
			}
		})
	}
}

func TestPortsAreNotSharedAndNotTaken(t *testing.T) {
	first, err := (&portRange{}).take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Two others want the same port: a ceteris beside this one, and one for which
	// something listens on the next port.
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(first.number+1))
	if err != nil {
		t.Skipf("the next port is not free: %v", err)
	}
	defer l.Close()
	other, err := (&portRange{next: first.number}).take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.release() }()
	if other.number == first.number || other.number == first.number+1 {
		t.Errorf("got port %d, which is taken", other.number)
	}
	if err := first.release(); err != nil {
		t.Fatal(err)
	}
	again, err := (&portRange{next: first.number}).take(t.Context())
	if err != nil || again.number != first.number {
		t.Errorf("after release: got %d, %v, want %d", again.number, err, first.number)
	}
	_ = again.release()
}

func TestListeners(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:4E20 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 0 100 0 0 10 0
   1: 00000000:4E21 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 222 1 0 100 0 0 10 0
   2: 00000000:4E20 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 333 1 0 100 0 0 10 0
   3: 0100007F:4E20 0100007F:8235 01 00000000:00000000 00:00000000 00000000     0        0 444 1 0 20 4 30 10 -1
`
	if diff := cmp.Diff(listeners(strings.NewReader(table), 20000), []string{"111", "333"}); diff != "" {
		t.Errorf("inodes (-got +want):\n%s", diff)
	}
}

func TestSocketsOfOthersAreNotOwned(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	own := &proc{group: syscall.Getpgrp()}
	stranger := &proc{group: sleeper(t).Process.Pid}
	if !own.owns(l.Addr().String()) {
		t.Error("the socket of this process is not its own")
	}
	if stranger.owns(l.Addr().String()) {
		t.Error("the socket of this process counts as another's")
	}
	closed := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if own.owns(closed) {
		t.Error("a socket that was closed counts")
	}
}

// sleeper starts a process in a group of its own, without a marker.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// The last lines of a log are read alone: of a sparse file of a terabyte, nobody
// could read more.
func TestLastOutput(t *testing.T) {
	long := strings.Repeat("x", 500)
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"the last three lines", "one\ntwo\nthree\nfour\n", "two | three | four"},
		{"the end of a long line", long + "the end", "..." + long[:393] + "the end"},
		{"cut inside a character", "\u00e4" + long[:399], "..." + long[:399]},
	} {
		for size, before := range map[string]int64{"all of it": 0, "after a terabyte": 1 << 40} {
			t.Run(tc.name+", "+size, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "app.output")
				f, err := os.Create(path)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if _, err := f.WriteAt([]byte("\n"+tc.text), before); err != nil {
					t.Skipf("no file of %d bytes here: %v", before, err)
				}
				got := (&outputs{paths: []string{filepath.Join(t.TempDir(), "none"), path}}).last()
				got = strings.Trim(strings.TrimPrefix(got, "...\x00"), "\x00 |\n") // without the terabyte
				if got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			})
		}
	}
}

func TestMarker(t *testing.T) {
	want := marker{owner: "boot/4026/17/99/db-1", sweep: 3, run: 14, service: "app"}
	if got, ok := parseMarker(want.String()); got != want || !ok {
		t.Errorf("got %+v, %v, want %+v", got, ok, want)
	}
	for _, s := range []string{"", "owner", "owner#", "owner#1/2", "owner#a/2/app", "owner#1/b/app"} {
		if got, ok := parseMarker(s); ok {
			t.Errorf("%q: got %+v, want none", s, got)
		}
	}
}

// TestOnlyAFullMatchIsKilled has a state file of a dead owner that names a process
// which lives, with one detail changed in each case.
func TestOnlyAFullMatchIsKilled(t *testing.T) {
	owner := deadOwner(t)
	for _, tc := range []struct {
		name   string
		change func(*processState)
		killed bool
	}{
		{"all as written", func(*processState) {}, true},
		{"another start", func(s *processState) { s.Started += "0" }, false},
		{"another executable", func(s *processState) { s.Executable += "2" }, false},
		{"another process", func(s *processState) { s.PID = os.Getpid() }, false},
		{"not started yet", func(s *processState) { s.PID, s.Started = 0, "" }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := New(Options{StateDir: t.TempDir()})
			cmd := sleeper(t)
			state := describe(t, cmd.Process.Pid)
			tc.change(&state)
			f, err := r.newRun(experiment.RunKey{Owner: owner, Sweep: 1, Run: 2})
			if err != nil {
				t.Fatal(err)
			}
			s := runState{Owner: owner, Sweep: 1, Run: 2, Processes: []processState{state}}
			if err := s.save(f.state); err != nil {
				t.Fatal(err)
			}
			removeAll(t, r)
			if got := killed(t, cmd); got != tc.killed {
				t.Errorf("killed: got %v, want %v", got, tc.killed)
			}
			if left, err := filepath.Glob(filepath.Join(r.stateDir, "*", "*")); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// TestNothingOutlivesItsBoot has the state files of a dead owner from before the
// machine was started again: what they name is another process now.
func TestNothingOutlivesItsBoot(t *testing.T) {
	o, err := experiment.ParseOwner(deadOwner(t))
	if err != nil {
		t.Fatal(err)
	}
	o.Boot = "before"
	r := New(Options{StateDir: t.TempDir()})
	cmd := sleeper(t)
	f, err := r.newRun(experiment.RunKey{Owner: o.String(), Sweep: 1, Run: 2})
	if err != nil {
		t.Fatal(err)
	}
	s := runState{Owner: o.String(), Sweep: 1, Run: 2, Processes: []processState{describe(t, cmd.Process.Pid)}}
	if err := s.save(f.state); err != nil {
		t.Fatal(err)
	}
	removeAll(t, r)
	if killed(t, cmd) {
		t.Error("a process of this boot was killed")
	}
	if left, err := filepath.Glob(filepath.Join(r.stateDir, "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestKillChecksWhomItMeets(t *testing.T) {
	for _, tc := range []struct {
		name   string
		kill   func(process) error
		killed bool
	}{
		{"the one that was seen", func(p process) error { return killAll([]process{p}) }, true},
		{"another under its number", func(p process) error { p.start = "1"; return killAll([]process{p}) }, false},
		{"one that is not meant", func(p process) error { return kill(p, func(process) bool { return false }) }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := sleeper(t)
			p, err := readProcess(cmd.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			if err := tc.kill(p); err != nil {
				t.Fatal(err)
			}
			if got := killed(t, cmd); got != tc.killed {
				t.Errorf("killed: got %v, want %v", got, tc.killed)
			}
			if err := tc.kill(p); err != nil {
				t.Errorf("when it is gone: %v", err)
			}
		})
	}
}

// killed ends a process by SIGTERM and says whether SIGKILL had been sent before:
// one that waits is acted upon first.
func killed(t *testing.T, cmd *exec.Cmd) bool {
	t.Helper()
	_ = cmd.Process.Signal(syscall.SIGTERM) // fails if it has ended already
	_ = cmd.Wait()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		t.Fatalf("ended with %v, not by a signal", cmd.ProcessState)
	}
	return status.Signal() == syscall.SIGKILL
}

// describe gives the full state of a process once it executes what it was started
// for.
func describe(t *testing.T, pid int) processState {
	t.Helper()
	now, err := readProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := executable(pid)
	if err != nil {
		t.Fatal(err)
	}
	return processState{Service: "app", Executable: exe, PID: pid, Group: pid, Started: now.start}
}

func deadOwner(t *testing.T) string {
	t.Helper()
	cmd := sleeper(t)
	owner, err := experiment.ThisOwner("test")
	if err != nil {
		t.Fatal(err)
	}
	owner.PID = cmd.Process.Pid
	if owner.Started, err = experiment.ProcessStart(owner.PID); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	return owner.String()
}

// removeAll removes everything in the state directory whose owner is dead.
func removeAll(t *testing.T, r *Runner) {
	t.Helper()
	all, err := r.Leftovers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if l.Fate != experiment.OwnerDead {
			continue
		}
		if err := r.Remove(t.Context(), l); err != nil {
			t.Errorf("remove %+v: %v", l, err)
		}
	}
}

func TestRemoveRefuses(t *testing.T) {
	r := New(Options{StateDir: t.TempDir()})
	elsewhere := t.TempDir()
	owner := deadOwner(t)
	for _, l := range []experiment.Leftover{
		{Kind: kindDirectory, ID: elsewhere, Owner: owner},
		{Kind: kindDirectory, ID: r.ownersDir(), Owner: owner},
		{Kind: "container", ID: "1", Owner: owner},
		{Kind: kindProcess, ID: "1@1", Owner: "nonsense"},
	} {
		if err := r.Remove(t.Context(), l); err == nil {
			t.Errorf("remove %+v: no error", l)
		}
	}
	if _, err := os.Stat(elsewhere); err != nil {
		t.Error(err)
	}
}

// TestHalfAState has an owner that died inside the first write of its state.
func TestHalfAState(t *testing.T) {
	r := New(Options{StateDir: t.TempDir()})
	key := experiment.RunKey{Owner: deadOwner(t), Sweep: 1, Run: 2}
	f := r.files(key)
	for path, text := range map[string]string{f.state + ".part": `{"owner`, f.state: ""} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(f.dir, "app"), 0o700); err != nil {
		t.Fatal(err)
	}
	removeAll(t, r)
	if left, err := filepath.Glob(filepath.Join(r.stateDir, "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestRunIsOpenOnce(t *testing.T) {
	r := New(Options{StateDir: t.TempDir()})
	key := experiment.RunKey{Owner: deadOwner(t), Sweep: 1, Run: 2}
	env, err := r.Open(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Open(t.Context(), key); err == nil {
		t.Error("opened twice: no error")
	}
	if err := env.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := r.Open(t.Context(), key)
	if err != nil {
		t.Fatalf("open after close: %v", err)
	}
	if err := again.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
