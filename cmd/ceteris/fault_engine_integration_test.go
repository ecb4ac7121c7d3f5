//go:build integration

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// outageVar is how many seconds an engine is gone that comes back. The gate is less
// patient than an administrator.
const (
	outageVar = "CETERIS_OUTAGE"
	outage    = 2
)

// newEngineCampaign is a sweep on an engine that may be killed.
func newEngineCampaign(t *testing.T, rounds int) (*campaign, *ownEngine) {
	t.Helper()
	e := newOwnEngine(t)
	k := newCampaign(t, program(t), experiment.RunnerProcess)
	k.sandbox.env = append(k.sandbox.env, "DOCKER_HOST="+e.host())
	k.runner, k.site = experiment.RunnerDocker, dockerSite{e.api}
	k.takes("engine.yaml", 2, rounds)
	return k, e
}

// TestEngineGoneAndBack takes the engine away again and again: ceteris says so, waits,
// removes what was left, and repeats what was lost.
func TestEngineGoneAndBack(t *testing.T) {
	t.Parallel() // most of the time goes by in waiting
	faults := []struct {
		name  string
		inRun bool
		goes  engineEnd
	}{
		{"stopped in a run", true, byStop},
		{"killed between runs", false, byCrash},
		{"killed in a run, containers live on", true, byCrash},
		{"stopped between runs", false, byStop},
		{"killed in a run, with all containers", true, byBlackout},
	}
	k, e := newEngineCampaign(t, len(faults)) // one a round: what is lost is repeated in it
	c := k.begin()
	for i, f := range faults {
		k.awaits(c, f.name, func() bool {
			return strings.Count(c.stderr(t), " is done\n") == i && (!f.inRun || runs(k.look(c), experiment.GeneratorName))
		})
		f.goes(e)
		k.awaits(c, f.name+": noticed", func() bool { return strings.Count(c.stderr(t), "the engine is gone, runs wait until it is back: ") > i })
		time.Sleep(time.Duration(fromEnv(t, outageVar, outage)) * time.Second)
		if err := e.start(); err != nil {
			t.Fatal(err)
		}
		k.awaits(c, f.name+": back", func() bool { return strings.Count(c.stderr(t), "the engine is back after ") > i })
	}
	if code := c.wait(t, patience); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	lost := 0
	for id, r := range k.know(c) {
		if r.state == string(experiment.StateFailedInfra) {
			lost++
		} else if r.state != string(experiment.StateOK) {
			t.Errorf("run %d is %s: %s", id, r.state, r.reason)
		}
	}
	if lost == 0 || lost > len(faults) {
		t.Errorf("%d runs were lost in %d faults", lost, len(faults))
	}
	k.says(c, ": failed:infrastructure (", fmt.Sprintf("engine (sweep 1): %d of %[1]d rounds\n", k.rounds))
	t.Logf("%d runs were lost in %d faults; ceteris said:\n%s", lost, len(faults), c.stderr(t))
	k.finish()
}

// TestEngineGoneForGood: who does not want to wait says so, and goes on another day.
func TestEngineGoneForGood(t *testing.T) {
	t.Parallel() // most of the time goes by in waiting
	k, e := newEngineCampaign(t, 1)
	c := k.begin()
	k.awaits(c, "a run", func() bool {
		return strings.Contains(c.stderr(t), "[1/2]") && runs(k.look(c), experiment.GeneratorName)
	})
	byBlackout(e)
	k.await(c, "the engine is gone, runs wait until it is back: ")
	asked := time.Now()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := c.wait(t, patience); code != exitEarly {
		t.Errorf("exit code %d, want %d", code, exitEarly)
	}
	if took := time.Since(asked); took > time.Minute {
		t.Errorf("it ended after %v only", took)
	}
	k.says(c, "stopped as asked: ", "to go on: ceteris run ")
	k.check(c)

	c = k.begin()
	if code := c.wait(t, patience); code != exitCannotMeasure {
		t.Errorf("without an engine: exit code %d, want %d", code, exitCannotMeasure)
	}
	k.says(c, "nothing at DOCKER_HOST="+e.host(), "hint: start a Docker engine")
	k.know(c)

	if err := e.start(); err != nil {
		t.Fatal(err)
	}
	k.finish()
}

// runs reports whether a service is at work, not only about to be.
func runs(all []thing, service string) bool {
	return slices.ContainsFunc(all, func(x thing) bool { return x.service == service && x.state == "running" })
}

// says checks that standard error holds all of the texts.
func (k *campaign) says(c *child, texts ...string) {
	k.Helper()
	for _, text := range texts {
		if !strings.Contains(c.stderr(k.T), text) {
			k.Errorf("it does not say %q:\n%s", text, c.stderr(k.T))
		}
	}
}

// takes gives the campaign one of the matrices for faults.
func (k *campaign) takes(matrix string, cells, rounds int) {
	k.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "faults", matrix))
	if err != nil {
		k.Fatal(err)
	}
	k.matrix, k.cells, k.rounds = path, cells, rounds
}
