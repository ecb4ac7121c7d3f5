//go:build integration

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// TestSlicesSurviveKills kills ceteris, and then a generator, in the middle of a window:
// what was told until then is kept with the attempt, and nothing else of it.
func TestSlicesSurviveKills(t *testing.T) {
	t.Parallel() // most of the time goes by in waiting
	k := newCampaign(t, program(t), experiment.RunnerProcess)
	k.takes("slices.yaml", 2, 1)
	told := func(run int64) func() bool {
		return func() bool {
			body, err := os.ReadFile(filepath.Join(k.db+"-slices", fmt.Sprintf("%d.jsonl", run)))
			return err == nil && bytes.Contains(body, []byte(`"latency_p50"`))
		}
	}
	c := k.begin()
	k.awaits(c, "slices of the first run", told(1))
	k.kill(c, "slices of the first run are told")
	k.lacks("select id from runs where state = 'interrupted'")

	c = k.begin()
	second := k.one(c, "select max(id) from runs where state = 'running' and id > 1")
	k.awaits(c, "slices of the second run", told(second))
	all := k.look(c)
	i := slices.IndexFunc(all, func(x thing) bool { return x.service == experiment.GeneratorName })
	if i < 0 {
		t.Fatal("there is no generator")
	}
	pid, _, _ := strings.Cut(all[i].id, "@")
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := c.wait(t, patience); code != exitOK {
		t.Errorf("exit code %d; ceteris said:\n%s", code, c.stderr(t))
	}
	for id, state := range map[int64]experiment.RunState{1: experiment.StateInterrupted, second: experiment.StateFailedInfra} {
		r := k.know(c)[id]
		if r.state != string(state) || strings.Contains(r.observed, "throughput") {
			t.Errorf("run %d is %s: %s, and tells %q", id, r.state, r.reason, r.observed)
		}
		if n := k.one(c, fmt.Sprintf("select count(*) from series where run = %d and metric = 'latency_p50' and at_ms >= 0", id)); n < 5 {
			t.Errorf("run %d has %d slices", id, n)
		}
		if n := k.one(c, fmt.Sprintf("select count(*) from artifacts where run = %d and service = 'generator' and name = 'log'", id)); n != 1 {
			t.Errorf("run %d has %d outputs of the generator", id, n)
		}
	}
	k.finish()
}

// one waits for the number that a query gives.
func (k *campaign) one(c *child, text string) int64 {
	k.Helper()
	var n any
	ask := func() bool {
		if err := k.query(text, func(row []any) { n = row[0] }); err != nil {
			k.Fatal(err)
		}
		return n != nil
	}
	if !ask() {
		k.awaits(c, text, ask)
	}
	return n.(int64)
}

// lacks checks that a query gives nothing.
func (k *campaign) lacks(text string) {
	k.Helper()
	if err := k.query(text, func(row []any) { k.Errorf("%s: %v", text, row) }); err != nil {
		k.Fatal(err)
	}
}
