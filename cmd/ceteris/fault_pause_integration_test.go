//go:build integration

package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// TestConductorPaused stops ceteris for five seconds in a window: that run is invalid,
// is said to be, and is tried once more.
func TestConductorPaused(t *testing.T) {
	t.Parallel() // most of the time goes by in waiting
	k := newCampaign(t, program(t), experiment.RunnerProcess)
	k.takes("pause.yaml", 2, 1)
	c := k.begin()
	k.awaits(c, "the load", func() bool { return of(k.look(c), experiment.GeneratorName) })
	time.Sleep(2 * time.Second) // into the window
	for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := c.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if s == syscall.SIGSTOP {
			time.Sleep(5 * time.Second)
		}
	}
	if code := c.wait(t, patience); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	paused := map[string]bool{}
	counts := map[string]int{}
	for _, r := range k.know(c) {
		if r.state == string(experiment.StateInvalid) && r.reason == "conductor-paused" {
			paused[r.cell] = true
		}
		if r.state == string(experiment.StateOK) {
			counts[r.cell]++
		}
	}
	if len(paused) != 1 {
		t.Errorf("paused: %v, want one", paused)
	}
	for cell := range paused {
		if counts[cell] != 1 {
			t.Errorf("%s: %d runs are ok after another attempt, want 1", cell, counts[cell])
		}
	}
	k.says(c, ": invalid (conductor-paused)", "2 ok, 1 invalid (conductor-paused)")
	compare := exec.Command(k.sandbox.program, "--db", k.db, "compare")
	compare.Env = k.sandbox.env
	table, err := compare.Output()
	if err != nil {
		t.Errorf("compare: %v", err)
	}
	if want := "conductor-paused (invalid)"; !strings.Contains(string(table), want) {
		t.Errorf("the table does not say %q:\n%s", want, table)
	}
	if n := k.findings()["conductor-paused"]; n != 1 {
		t.Errorf("%d findings of a pause, want 1", n)
	}
	if !strings.Contains(c.stderr(t), "round 1 of 1 is done") {
		t.Errorf("the round is not done:\n%s", c.stderr(t))
	}
	k.checkIntegrity()
	k.checkNothingLeft()
}
