//go:build integration

package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/docker"
	"github.com/ceteris/ceteris/runners/process"
)

// bothRunners runs a test over processes and over containers.
func bothRunners(t *testing.T, f func(*testing.T, *campaign)) {
	for _, runner := range []string{experiment.RunnerProcess, experiment.RunnerDocker} {
		t.Run(runner, func(t *testing.T) {
			t.Parallel() // most of the time goes by in waiting
			f(t, newCampaign(t, program(t), runner))
		})
	}
}

// TestSubjectsThatMisbehave: a subject that hangs, never gets ready, fills its volume
// or leaves a hundred daemons behind is a result of its cell; the sweep ends by itself,
// and nothing of it stays.
func TestSubjectsThatMisbehave(t *testing.T) {
	t.Parallel()
	bothRunners(t, func(t *testing.T, k *campaign) {
		k.takes("subject.yaml", 5, 1)
		if k.runner == experiment.RunnerProcess {
			k.state(400 << 20)
		}
		c := k.begin()
		most := 0
		c.saw(t, "the end", func() bool { most = max(most, len(k.look(c))); return c.over() })
		if code := c.wait(t, patience); code != exitOK {
			t.Errorf("exit code %d; ceteris said:\n%s", code, c.stderr(t))
		}
		for _, r := range k.know(c) {
			why, ok := map[string]string{"silent": "not ready within 5s", "fill": ""}[modeOf(r.cell)]
			switch {
			case ok && (r.state != string(experiment.StateFailedSubject) || !strings.Contains(r.reason, why)):
				t.Errorf("%s is %s: %s; want a failed subject: %s", r.cell, r.state, r.reason, why)
			case !ok && r.state != string(experiment.StateOK):
				t.Errorf("%s is %s: %s", r.cell, r.state, r.reason)
			}
			if modeOf(r.cell) == "hang" && !strings.Contains(r.observed, "measure error_rate 1.0 ratio") {
				t.Errorf("%s: not every request failed:\n%s", r.cell, r.observed)
			}
		}
		if found := k.findings(); found["errors"] != 1 {
			t.Errorf("findings %v, want one of errors", found)
		}
		if k.runner == experiment.RunnerProcess && most < 100 {
			t.Errorf("%d processes at most: where are the hundred daemons?", most)
		}
		k.finish()
	})
}

// modeOf is what the subject of a cell does.
func modeOf(cell string) string {
	_, rest, _ := strings.Cut(cell, "mode=")
	mode, _, _ := strings.Cut(rest, "|")
	return mode
}

// TestFloodedLog: 50 MB/s of log fill no disk and hold up no run, and how much it was
// is told as it was, or not at all.
func TestFloodedLog(t *testing.T) {
	bothRunners(t, func(t *testing.T, k *campaign) {
		k.takes("flood.yaml", 2, 1)
		most := map[string]int64{experiment.RunnerProcess: process.MostLog, experiment.RunnerDocker: docker.MostLog}[k.runner]
		c := k.begin()
		var largest int64
		for !c.over() {
			largest = max(largest, k.logsOnDisk(c))
			time.Sleep(20 * time.Millisecond)
		}
		if code := c.wait(t, patience); code != exitOK {
			t.Errorf("exit code %d; ceteris said:\n%s", code, c.stderr(t))
		}
		if largest < 64<<20 || largest > most+64<<20 {
			t.Errorf("the log took %d MiB of the disk, want 64 to %d", largest>>20, most>>20+64)
		}
		for _, r := range k.know(c) {
			if modeOf(r.cell) != "flood" {
				continue
			}
			perRequest, told := observed(t, r, "app.log_bytes")
			requests, _ := observed(t, r, "requests_done")
			rate := perRequest * requests / 5 / (1 << 20)
			t.Logf("%d MiB on the disk at most; told %v: %.1f MiB/s", largest>>20, told, rate)
			if told && (rate < 5 || rate > 60) {
				t.Errorf("the log grew by %.1f MiB/s, it says; want 50, or less on a busy host", rate)
			}
		}
		k.finish()
	})
}

// state puts the state of runs on a file system of its own size.
func (k *campaign) state(size int64) {
	k.Helper()
	if !mayMount(k.T) {
		k.Skip("may not mount a file system")
	}
	dir := filepath.Join(k.sandbox.dir, "state")
	if err := mountMemory(dir, fmt.Sprint(size)); err != nil {
		k.Fatal(err)
	}
	k.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			k.Errorf("unmount: %v", err)
		}
	})
}

// findings counts them by code.
func (k *campaign) findings() map[string]int {
	k.Helper()
	found := map[string]int{}
	if err := k.query(`select code, count(*) from findings group by code`, func(row []any) {
		found[row[0].(string)] = int(row[1].(int64))
	}); err != nil {
		k.Fatal(err)
	}
	return found
}

// observed gives an observation in the window.
func observed(t *testing.T, r record, metric string) (value float64, ok bool) {
	t.Helper()
	for line := range strings.SplitSeq(r.observed, "\n") {
		if rest, found := strings.CutPrefix(line, "measure "+metric+" "); found {
			if _, err := fmt.Sscan(rest, &value); err != nil {
				t.Fatal(err)
			}
			return value, true
		}
	}
	return 0, false
}

// logsOnDisk is how many bytes the output of services takes on the disk now.
func (k *campaign) logsOnDisk(c *child) int64 {
	k.Helper()
	var dirs []string
	if s, ok := k.site.(dockerSite); ok {
		for _, x := range k.look(c) {
			if x.service != "app" {
				continue
			}
			if seen, err := s.api.ContainerInspect(k.Context(), x.id, client.ContainerInspectOptions{}); err == nil && seen.Container.LogPath != "" {
				dirs = append(dirs, filepath.Dir(seen.Container.LogPath))
			}
		}
	} else {
		k.look(c)
		dirs = append(dirs, filepath.Join(k.sandbox.dir, "state"))
	}
	var sum int64
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what goes meanwhile takes nothing
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			if info, err := d.Info(); err == nil {
				sum += info.Sys().(*syscall.Stat_t).Blocks * 512
			}
			return nil
		})
	}
	return sum
}
