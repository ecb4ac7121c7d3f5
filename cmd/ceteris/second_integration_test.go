//go:build integration

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// TestSecondCeteris starts others in the middle of a sweep: those that may not run
// are refused and say why, those that may leave alone what is not theirs, and the
// sweep does not notice any of them.
func TestSecondCeteris(t *testing.T) {
	program := program(t)
	for _, runner := range []string{experiment.RunnerProcess, experiment.RunnerDocker} {
		t.Run(runner, func(t *testing.T) {
			first := newCampaign(t, program, runner)
			c := first.begin()
			first.await(c, "[1/12]")

			first.refuses(c, "the same database", "is being written by process %d", first.db, "--share-host")
			other := *first
			other.db = filepath.Join(first.sandbox.dir, "other.db")
			other.refuses(c, "another database", "process %d measures on this host", other.db)

			// One that shares the host looks for leftovers and measures. So that what it
			// finds is sure to belong to a run under way, it starts at a run's start.
			first.await(c, fmt.Sprintf("[%d/12]", strings.Count(c.stderr(t), "] round ")+1))
			first.awaits(c, "the next run", func() bool { return of(first.look(c), "app") })
			clean := first.sandbox.start(t, "clean")
			if code := clean.wait(t, patience); code != exitOK {
				t.Errorf("clean: exit code %d: %s", code, clean.stderr(t))
			}
			other.rounds = 1
			second := other.begin("--share-host")
			if code := second.wait(t, patience); code != exitOK {
				t.Errorf("sharing the host: exit code %d; it said:\n%s", code, second.stderr(t))
			}
			if c.over() {
				t.Error("the first ended before the second: nothing was shared")
			}
			if code := c.wait(t, patience); code != exitOK {
				t.Errorf("the first: exit code %d; it said:\n%s", code, c.stderr(t))
			}
			first.allOK(smallRounds)
			other.allOK(1)
			first.checkNothingLeft()
		})
	}
}

// TestSharedHostIsSeen: who shares the host is one who measures on it, too.
func TestSharedHostIsSeen(t *testing.T) {
	first := newCampaign(t, program(t), experiment.RunnerProcess)
	first.rounds = 1
	c := first.begin("--share-host")
	first.await(c, "[1/4]")
	other := *first
	other.db = filepath.Join(first.sandbox.dir, "other.db")
	other.refuses(c, "another database", "process %d measures on this host", other.db)
	if code := c.wait(t, patience); code != exitOK {
		t.Errorf("exit code %d; it said:\n%s", code, c.stderr(t))
	}
	c = other.begin()
	if code := c.wait(t, patience); code != exitOK {
		t.Errorf("alone again: exit code %d; it said:\n%s", code, c.stderr(t))
	}
}

// await waits until ceteris has said something.
func (k *campaign) await(c *child, text string) {
	k.Helper()
	k.awaits(c, text, func() bool { return strings.Contains(c.stderr(k.T), text) })
}

func (k *campaign) awaits(c *child, what string, holds func() bool) {
	k.Helper()
	if !c.saw(k.T, what, holds) {
		k.Fatalf("%s: ceteris ended before; it said:\n%s", what, c.stderr(k.T))
	}
}

// refuses starts another ceteris, which must not run, and must name the first.
func (k *campaign) refuses(first *child, what, message, path string, flags ...string) {
	k.Helper()
	c := k.sandbox.start(k.T, slices.Concat([]string{"--db", path, "run", "--runner", k.runner}, flags, []string{k.matrix})...)
	if code := c.wait(k.T, patience); code != exitCannotMeasure {
		k.Errorf("%s: exit code %d, want %d", what, code, exitCannotMeasure)
	}
	if want := fmt.Sprintf(message, first.pid()); !strings.Contains(c.stderr(k.T), want) {
		k.Errorf("%s: it does not say %q:\n%s", what, want, c.stderr(k.T))
	}
	if first.over() {
		k.Fatalf("%s: the first had ended already", what)
	}
}

// allOK checks that every run was made once and is good.
func (k *campaign) allOK(rounds int) {
	k.Helper()
	all, err := k.records()
	if err != nil {
		k.Fatal(err)
	}
	if len(all) != smallCells*rounds {
		k.Errorf("%s: %d runs, want %d", filepath.Base(k.db), len(all), smallCells*rounds)
	}
	for id, r := range all {
		if r.state != string(experiment.StateOK) {
			k.Errorf("%s: run %d (%s, round %d) is %s: %s", filepath.Base(k.db), id, r.cell, r.round, r.state, r.reason)
		}
	}
}
