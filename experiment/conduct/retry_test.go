package conduct_test

import (
	"slices"
	"testing"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/fake"
)

// excluding is a judge that makes the chosen runs invalid, by their executed order.
type excluding struct {
	experiment.Judge
	code string
	seqs map[int]bool
}

func (e excluding) JudgeRun(o experiment.Outcome, s experiment.Settings) []experiment.Finding {
	all := e.Judge.JudgeRun(o, s)
	if e.seqs[o.Run.Seq] {
		all = append(all, experiment.Finding{Code: e.code, Severity: experiment.SeverityInvalid})
	}
	return all
}

// What the host disturbed is tried once more; what is invalid for reasons of its own
// is not. With 4 runs a round the second attempt of the first is the fifth.
func TestInvalidIsTriedOnceMore(t *testing.T) {
	for _, tc := range []struct {
		name, code string
		seqs       map[int]bool
		want       map[string]int
	}{
		{"host noise", "host-noise", map[int]bool{1: true}, map[string]int{"ok": 12, "invalid (host-noise)": 1}},
		{"host noise again", "host-noise", map[int]bool{1: true, 5: true}, map[string]int{"ok": 11, "invalid (host-noise)": 2}},
		{"the generator was late", "generator-cpu", map[int]bool{1: true}, map[string]int{"ok": 11, "invalid (generator-cpu)": 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.change = func(c *conduct.Conductor) { c.Judge = excluding{c.Judge, tc.code, tc.seqs} }
			if r := s.mustConduct(); r.Ended != conduct.EndedDone || r.Missing != 0 {
				t.Errorf("ended %s, %d missing", r.Ended, r.Missing)
			}
			s.wantStates(tc.want)
			if r := s.mustConduct(); len(r.Counts) != 0 {
				t.Errorf("a finished sweep runs %v again", r.Counts)
			}
		})
	}
}

// A disturbed attempt says nothing about the cell: the rounds in a row in which its
// subject failed are counted over it. Threads of 8 fail in the first round and in the
// second attempt of the second.
func TestDisturbedAttemptIsNoSuccess(t *testing.T) {
	s := newStage(t)
	eight := 0
	healthy := s.behave(fake.Behaviour{})
	s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
		if svc.Name != "app" || variable(svc, "THREADS") != "8" {
			return healthy(r, svc)
		}
		if eight++; eight == 2 {
			return healthy(r, svc)
		}
		return fake.Behaviour{Exit: &fake.Exit{Code: 3}}
	}
	s.change = func(c *conduct.Conductor) { c.Judge = disturbed{c.Judge} }
	s.mustConduct()
	s.wantStates(map[string]int{
		"ok": 9, "invalid (host-noise)": 1, "skipped (suspended)": 1,
		"failed:subject (start service app: exited with code 3 before it was ready)": 2,
	})
}

// disturbed is a judge to whom the host was noisy whenever threads of 8 were measured.
type disturbed struct{ experiment.Judge }

func (d disturbed) JudgeRun(o experiment.Outcome, s experiment.Settings) []experiment.Finding {
	all := d.Judge.JudgeRun(o, s)
	if o.Run.State == experiment.StateOK && slices.ContainsFunc(o.Plan.Cell.Settings, func(f experiment.Setting) bool { return f.Level == "8" }) {
		all = append(all, experiment.Finding{Code: "host-noise", Severity: experiment.SeverityInvalid})
	}
	return all
}

// An attempt that is owed when an invocation ends is made by the next one, with its
// round; one that was made is not made again.
func TestOwedAttemptIsMadeByTheNextInvocation(t *testing.T) {
	s := newStage(t)
	s.matrix.Repeat.Rounds = 1
	s.change = func(c *conduct.Conductor) { c.Judge = excluding{c.Judge, "host-noise", map[int]bool{4: true}} }
	ran := 0
	s.on = func(e conduct.Event) {
		if e.Kind == conduct.EventRunBegan {
			if ran++; ran == 4 {
				close(s.drain)
			}
		}
	}
	if r := s.mustConduct(); r.Ended != conduct.EndedDrained {
		t.Errorf("ended %s", r.Ended)
	}
	s.wantStates(map[string]int{"ok": 3, "invalid (host-noise)": 1, "pending": 1})
	s.drain = make(chan struct{})
	if r := s.mustConduct(); r.Ended != conduct.EndedDone {
		t.Errorf("ended %s", r.Ended)
	}
	want := map[string]int{"ok": 4, "superseded (ok)": 3, "superseded (invalid: host-noise)": 1}
	s.wantStates(want)
	if r := s.mustConduct(); len(r.Counts) != 0 {
		t.Errorf("a finished sweep runs %v again", r.Counts)
	}
	s.wantStates(want)
}
