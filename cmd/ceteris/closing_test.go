package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
)

// cellsOf makes a baseline and varied cells of one factor.
func cellsOf(levels ...string) []experiment.Cell {
	cells := []experiment.Cell{{Key: "baseline", Stage: experiment.MainStage, Role: experiment.RoleBaseline}}
	for _, l := range levels {
		cells = append(cells, experiment.Cell{Key: experiment.CellKey(l), Stage: experiment.MainStage, Role: experiment.RoleVaried, Factor: "heap", Level: l})
	}
	return cells
}

// runsOf reads the runs of one cell, a letter a round: o(k), i(nvalid), f(ailed),
// s(kipped), x (failed by the infrastructure), c(ut short), a point for none.
func runsOf(cell, rounds string) []experiment.RunRecord {
	states := map[rune]experiment.RunState{
		'o': experiment.StateOK, 'i': experiment.StateInvalid, 'f': experiment.StateFailedSubject,
		's': experiment.StateSkipped, 'x': experiment.StateFailedInfra, 'c': experiment.StateInterrupted, '.': experiment.StatePending,
	}
	var runs []experiment.RunRecord
	for i, r := range rounds {
		runs = append(runs, experiment.RunRecord{Run: experiment.Run{Cell: experiment.CellKey(cell), Round: i + 1, State: states[r]}})
	}
	return runs
}

func TestGaps(t *testing.T) {
	for _, c := range []struct {
		name       string
		a, b, base string
		whole      bool
		want       string
	}{
		{"nothing measured", "...", "...", "...", true, "[] []"},
		{"all", "ooo", "ooo", "ooo", true, "[] []"},
		{"a failing subject is a result", "fff", "ooo", "ooo", true, "[] []"},
		{"suspended", "ffs", "ooo", "ooo", true, "[] [heap=a]"},
		{"invalid", "oio", "ooo", "oii", true, "[baseline has 1 of 3 heap=a has 2 of 3] []"},
		{"failed by the infrastructure", "oxo", "ooo", "ooo", true, "[heap=a has 2 of 3] []"},
		{"the last round too", "oox", "ooo", "ooo", true, "[heap=a has 2 of 3] []"},
		{"stopped after a round", "oo.", "oo.", "oo.", true, "[] []"},
		{"stopped within a round", "oo.", "ooo", "oo.", false, "[] []"},
		{"aborted within a round, an older one has a gap", "io.", "ooc", "ooo", false, "[heap=a has 1 of 2] []"},
		{"aborted, but the round was whole", "ooi", "ooo", "ooo", false, "[heap=a has 2 of 3] []"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := experiment.Sweep{Cells: cellsOf("a", "b"), Rounds: 3}
			s.Runs = append(append(runsOf("a", c.a), runsOf("b", c.b)...), runsOf("baseline", c.base)...)
			lacking, suspended := gaps(s, c.whole)
			if got := fmt.Sprint(lacking, suspended); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Each stage has rounds of its own, and conditions are told apart.
func TestGapsOfStages(t *testing.T) {
	s := experiment.Sweep{Cells: []experiment.Cell{
		{Key: "1", Stage: "first", Role: experiment.RoleBaseline, Condition: "users=1"},
		{Key: "2", Stage: "first", Role: experiment.RoleBaseline, Condition: "users=9"},
		{Key: "3", Stage: "second", Role: experiment.RoleVaried, Factor: "gc", Level: "g1", Condition: "users=9"},
	}}
	s.Runs = append(append(runsOf("1", "ooo"), runsOf("2", "oio")...), runsOf("3", "i..")...)
	lacking, _ := gaps(s, true)
	want := []string{"first: baseline at users=9 has 2 of 3", "second: gc=g1 at users=9 has 0 of 1"}
	if diff := cmp.Diff(want, lacking); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// reasons makes a tally: "STATE REASON COUNT" lines.
func reasons(all ...any) tally {
	var t tally
	for i := 0; i < len(all); i += 3 {
		t.add(all[i].(experiment.RunState), all[i+1].(string), all[i+2].(int))
	}
	return t
}

func TestClosing(t *testing.T) {
	const (
		ok, invalid, failed, infra = experiment.StateOK, experiment.StateInvalid, experiment.StateFailedSubject, experiment.StateFailedInfra
		interrupted, skipped       = experiment.StateInterrupted, experiment.StateSkipped
	)
	night := &night{app: &app{now: func() time.Time { return time.Date(2026, 3, 11, 7, 4, 0, 0, time.UTC) }}, until: time.Date(2026, 3, 11, 7, 0, 0, 0, time.UTC)}
	done := func(name string, sweep int64) *turn {
		return &turn{file: name + ".yaml", name: name, begun: true, sweep: sweep, rounds: 5, planned: 5}
	}
	partly := func(name string, sweep int64, e conduct.Ending) *turn {
		return &turn{file: name + ".yaml", name: name, begun: true, sweep: sweep, rounds: 3, planned: 8, why: night.why(e)}
	}
	unbegun := func(name string, e conduct.Ending) *turn {
		return &turn{file: name + ".yaml", name: name, why: night.why(e)}
	}
	with := func(t *turn, runs tally, lacking, suspended []string) *turn {
		t.runs, t.lacking, t.suspended = runs, lacking, suspended
		return t
	}
	var many []*turn
	for i := range 12 {
		many = append(many, done(fmt.Sprintf("well%d", i), int64(i+1)))
	}
	for i := range 5 {
		many = append(many, partly(fmt.Sprintf("odd%d", i), int64(i+20), conduct.EndedInfrastructure))
	}
	many = append(many, unbegun("last", conduct.EndedUntil), unbegun("very last", conduct.EndedUntil))
	for _, c := range []struct {
		name  string
		turns []*turn
		want  string
	}{
		{"one, done", []*turn{with(done("lookup", 3), reasons(ok, "", 55), nil, nil)}, `
runs of this call: 55 ok, in 8h 02m
lookup (sweep 3): 5 of 5 rounds
database /data/t.db, log /data/t.db.log`},
		{"one, nothing was missing", []*turn{done("lookup", 3)}, `
runs of this call: none, in 8h 02m
lookup (sweep 3): 5 of 5 rounds
database /data/t.db, log /data/t.db.log`},
		{"one, stopped", []*turn{with(partly("lookup", 3, conduct.EndedDrained), reasons(ok, "", 33), nil, nil)}, `
runs of this call: 33 ok, in 8h 02m
lookup (sweep 3): 3 of 8 rounds; stopped by a signal
database /data/t.db, log /data/t.db.log
to go on: ceteris run lookup.yaml`},
		{"one, aborted", []*turn{with(partly("lookup", 3, conduct.EndedAborted), reasons(ok, "", 33, interrupted, "aborted", 1), nil, nil)}, `
runs of this call: 33 ok, 1 interrupted (aborted), in 8h 02m
lookup (sweep 3): 3 of 8 rounds; aborted by a second signal
database /data/t.db, log /data/t.db.log
to go on: ceteris run lookup.yaml`},
		{"one, the engine went", []*turn{with(partly("lookup", 3, conduct.EndedEngineGone), reasons(infra, "docker: no answer", 2), nil, nil)}, `
runs of this call: 2 failed by the infrastructure (docker: no answer), in 8h 02m
lookup (sweep 3): 3 of 8 rounds; the container engine went away
database /data/t.db, log /data/t.db.log
to go on: ceteris run lookup.yaml`},
		{"one, the disk is full", []*turn{partly("lookup", 3, conduct.EndedDiskFull)}, `
runs of this call: none, in 8h 02m
lookup (sweep 3): 3 of 8 rounds; the disk is full
database /data/t.db, log /data/t.db.log
to go on: ceteris run lookup.yaml`},
		{"a night of three", []*turn{
			with(done("lookup", 3), reasons(ok, "", 50, invalid, "host-noise", 2, invalid, "generator-cpu", 5, invalid, "errors", 1), []string{"baseline has 4 of 5", "pool=8 has 3 of 5"}, nil),
			with(partly("heap sizes", 4, conduct.EndedUntil), reasons(ok, "", 20, failed, "oom: app", 2, skipped, "suspended", 1), nil, []string{"heap=64MiB"}),
			unbegun("spike", conduct.EndedUntil),
		}, `
3 matrices in 8h 02m: 1 done with gaps, 1 partly done, 1 not begun
runs of this call: 70 ok, 8 invalid (generator-cpu 5, host-noise 2, 1 other), 2 failed (oom: app), 1 skipped (suspended)
lookup (sweep 3): 5 of 5 rounds; lacking: baseline has 4 of 5, pool=8 has 3 of 5
heap sizes (sweep 4): 3 of 8 rounds; 07:00 was reached; suspended: heap=64MiB
spike: not begun; 07:00 was reached
database /data/t.db, log /data/t.db.log
to go on: ceteris run 'heap sizes.yaml' spike.yaml`},
		{"a peel", []*turn{
			{file: "masked.yaml", name: "masked peel-1", begun: true, sweep: 1, rounds: 3, planned: 3, peel: peeled{stage: 1}},
			{file: "masked.yaml", name: "masked peel-2", why: night.why(conduct.EndedUntil), peel: peeled{stage: 2, parent: 1}},
		}, `
2 stages in 8h 02m: 1 done, 1 not begun
runs of this call: none
masked peel-1 (sweep 1): 3 of 3 rounds
masked peel-2: not begun; 07:00 was reached
database /data/t.db, log /data/t.db.log
to go on: ceteris run masked.yaml`},
		{"one cannot be prepared", []*turn{
			{file: "a.yaml", name: "a", begun: true, why: "prepare: no such image"},
			with(done("b", 1), reasons(ok, "", 9), nil, nil),
		}, `
2 matrices in 8h 02m: 1 done, 1 without a run
runs of this call: 9 ok
a: no run was begun; prepare: no such image
b (sweep 1): 5 of 5 rounds
database /data/t.db, log /data/t.db.log
to go on: ceteris run a.yaml`},
		{"many", many, `
19 matrices in 8h 02m: 12 done, 5 partly done, 2 not begun
runs of this call: none
done: well0 (sweep 1), well1 (sweep 2), well2 (sweep 3), well3 (sweep 4), well4 (sweep 5), well5 (sweep 6), well6 (sweep 7), well7 (sweep 8) and 4 more
odd0 (sweep 20): 3 of 8 rounds; five infrastructure failures in a row
odd1 (sweep 21): 3 of 8 rounds; five infrastructure failures in a row
odd2 (sweep 22): 3 of 8 rounds; five infrastructure failures in a row
nor are done without gaps: odd3 (sweep 23), odd4 (sweep 24)
not begun, 07:00 was reached: last, very last
database /data/t.db, log /data/t.db.log
to go on: ceteris run odd0.yaml odd1.yaml odd2.yaml odd3.yaml odd4.yaml last.yaml 'very last.yaml'`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &runOptions{}
			lines := closing{turns: c.turns, took: 8*time.Hour + 2*time.Minute, database: "/data/t.db", next: o.next(c.turns)}.lines()
			if diff := cmp.Diff(strings.Split(strings.TrimSpace(c.want), "\n"), lines); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(lines) > 10 {
				t.Errorf("%d lines", len(lines))
			}
		})
	}
}

func TestNext(t *testing.T) {
	done := &turn{file: "done.yaml", begun: true, sweep: 1, rounds: 3, planned: 3}
	unread := &turn{file: "unread.yaml", begun: true, sweep: 3}
	partly := &turn{file: "partly.yaml", begun: true, sweep: 2, rounds: 1, planned: 3}
	unbegun := &turn{file: "it's last.yaml"}
	stage := &turn{file: "peeled.yaml", peel: peeled{stage: 2, parent: 1}}
	for _, c := range []struct {
		name  string
		args  []string
		turns []*turn
		want  string
	}{
		{"nothing left", nil, []*turn{done}, ""},
		{"what is left", nil, []*turn{done, partly, unbegun}, `ceteris run partly.yaml 'it'\''s last.yaml'`},
		{"what could not be read", nil, []*turn{unread}, "ceteris run unread.yaml"},
		{"with the flags that last", []string{"--until", "07:00", "--db", "my data.db", "--rounds", "8", "--accept-shared", "-v", "--format", "csv"}, []*turn{partly}, "ceteris run --accept-shared --db 'my data.db' --format csv --rounds 8 --verbose partly.yaml"},
		{"a later stage of a new peel", []string{"--new", "--peel"}, []*turn{done, stage, unbegun}, `ceteris run --peel peeled.yaml; ceteris run --peel --new 'it'\''s last.yaml'`},
		{"new ones only where none was begun", []string{"--new", "--for", "1h"}, []*turn{partly, unbegun}, `ceteris run partly.yaml; ceteris run --new 'it'\''s last.yaml'`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &app{err: &screen{w: &strings.Builder{}}, now: time.Now}
			cmd, _, err := newRootCommand(a, strings.NewReader("")).Find([]string{"run"})
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.ParseFlags(c.args); err != nil {
				t.Fatal(err)
			}
			o := &runOptions{fresh: cmd.Flags().Changed("new"), repeat: flagsToRepeat(cmd.Flags())}
			if got := o.next(c.turns); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
