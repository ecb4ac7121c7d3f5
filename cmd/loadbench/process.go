//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/cmd/loadbench/target"
)

// ran is what is known of a process that ended.
type ran struct {
	began  int64         // when it was started, ns of the target's clock
	cpu    time.Duration // user and system, by wait4
	peak   int64         // largest resident memory that was seen, bytes; 0: it was not watched
	code   int           // its exit code; -1: a signal ended it
	output []byte
	stderr string // its end
}

const (
	maxStderr  = 400                   // bytes that are kept of it
	watchEvery = 50 * time.Millisecond // a look at the memory of a process
)

// execute runs a program on one core to its end. What it writes goes to files, which cost it
// and the host least.
func execute(ctx context.Context, core int, program string, inv invocation, dir string, watch bool) (ran, error) {
	cmd := exec.CommandContext(ctx, program, inv.args...)
	cmd.Env = append(os.Environ(), inv.env...)
	if inv.stdin != "" {
		cmd.Stdin = strings.NewReader(inv.stdin)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := os.Create(filepath.Join(dir, "stdout"))
	if err != nil {
		return ran{}, err
	}
	defer out.Close()
	cmd.Stdout = out
	r := ran{began: target.Now()}
	if err := startOn(cmd, core); err != nil {
		return r, fmt.Errorf("start %s: %w", program, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its state tells
	}()
	if watch {
		r.peak = peakUntil(ended, cmd.Process.Pid)
	} else {
		<-ended
	}
	r.code, r.cpu = cmd.ProcessState.ExitCode(), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	r.stderr = strings.TrimSpace(stderr.String())
	r.stderr = r.stderr[max(len(r.stderr)-maxStderr, 0):]
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	result := inv.output
	if result == "" {
		result = out.Name()
	}
	r.output, err = os.ReadFile(result)
	return r, err
}

// startOn starts a command on one core. The pin belongs to the thread that forks, so it
// is in force before the first instruction of the program; the thread ends with its
// goroutine, which ends locked.
func startOn(cmd *exec.Cmd, core int) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		var mask unix.CPUSet
		mask.Set(core)
		if err := unix.SchedSetaffinity(0, &mask); err != nil {
			done <- fmt.Errorf("pin to core %d: %w", core, err)
			return
		}
		done <- cmd.Start()
	}()
	return <-done
}

// peakUntil gives the largest resident memory of a process until it ended. What wait4
// tells is no use: it counts the process that forked, too.
func peakUntil(ended <-chan struct{}, pid int) int64 {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var peak int64
	for {
		select {
		case <-ended:
			return peak
		case <-tick.C:
			if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
				peak = max(peak, highWater(string(status)))
			}
		}
	}
}

// highWater reads VmHWM of /proc/PID/status, in bytes; 0: it is not there.
func highWater(status string) int64 {
	for line := range strings.Lines(status) {
		var kib int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	return 0
}

// save writes a file into a directory and gives its path.
func save(dir, name, text string) (string, error) {
	path := filepath.Join(dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// cores gives the cores that this process may use.
func cores() ([]int, error) {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		return nil, err
	}
	var out []int
	for c := range 1024 {
		if mask.IsSet(c) {
			out = append(out, c)
		}
	}
	return out, nil
}
