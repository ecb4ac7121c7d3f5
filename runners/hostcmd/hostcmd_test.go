package hostcmd_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/hostcmd"
)

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return
		}
		if fields, err := experiment.StatFields(stat); err == nil && (fields[0] == "Z" || fields[0] == "X") {
			return // nobody has reaped it yet
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d still runs", pid)
		}
	}
}

// pids reads as many process ids as there are lines of text.
func pids(t *testing.T, out *bufio.Reader, n int) []int {
	t.Helper()
	var all []int
	for range n {
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pid)
	}
	return all
}

// An aborted command ends with all that it has started.
func TestTheGroupEndsWithTheContext(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", "sleep 600 & echo $!; echo $$; wait")
	cmd.Stdout = w
	ended := make(chan error)
	go func() { ended <- hostcmd.Run(cmd) }()
	all := pids(t, bufio.NewReader(r), 2)
	cancel()
	if err := <-ended; err == nil {
		t.Error("a command that was killed is no error")
	}
	_ = w.Close() // nobody writes to it any more
	for _, pid := range all {
		gone(t, pid)
	}
}

// TestItEndsWithCeteris runs itself as the ceteris that is killed.
func TestItEndsWithCeteris(t *testing.T) {
	const inside = "CETERIS_TEST_PARENT"
	if os.Getenv(inside) != "" {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "echo $$; exec sleep 600")
		cmd.Stdout = os.Stdout
		t.Fatal(hostcmd.Run(cmd))
	}
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestItEndsWithCeteris$")
	parent.Env = append(os.Environ(), inside+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	pid := pids(t, bufio.NewReader(out), 1)[0]
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	gone(t, pid)
}

// What goes well has its output, and no error.
func TestRun(t *testing.T) {
	var out strings.Builder
	cmd := exec.CommandContext(t.Context(), "echo", "done")
	cmd.Stdout = &out
	if err := hostcmd.Run(cmd); err != nil || out.String() != "done\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}
