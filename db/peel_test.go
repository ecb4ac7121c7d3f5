package db

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ceteris/ceteris/experiment"
)

// TestPeelIsContinuedUnderItsParent: one matrix makes a sweep of its own for each sweep
// that it follows.
func TestPeelIsContinuedUnderItsParent(t *testing.T) {
	d := openAt(t, testPath(t))
	spec := testSpec()
	var got []experiment.SweepHead
	for _, c := range []struct {
		parent int64
		fresh  bool
	}{{0, false}, {1, false}, {0, false}, {1, false}, {2, false}, {1, true}, {1, false}, {0, true}, {0, false}} {
		spec.PeelParent, spec.New = c.parent, c.fresh
		head, err := d.BeginSweep(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, experiment.SweepHead{ID: head.ID, Serial: head.Serial, Continued: head.Continued})
	}
	want := []experiment.SweepHead{
		{ID: 1, Serial: 1},
		{ID: 2, Serial: 2},
		{ID: 1, Serial: 1, Continued: true},
		{ID: 2, Serial: 2, Continued: true},
		{ID: 3, Serial: 3},
		{ID: 4, Serial: 4},
		{ID: 4, Serial: 4, Continued: true},
		{ID: 5, Serial: 5},
		{ID: 5, Serial: 5, Continued: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	spec.PeelParent = 99
	if _, err := d.BeginSweep(t.Context(), spec); err == nil {
		t.Error("a sweep follows one that is not there")
	}
}

func TestSweepBeforeIsLoaded(t *testing.T) {
	d := openAt(t, testPath(t))
	var before experiment.Sweep
	for i, parent := range []int64{0, 1, 2} {
		id, cells := peel(t, d, "peel", parent)
		if err := d.Reschedule(t.Context(), id, experiment.Reschedule{Add: experiment.Schedule(cells, 1, 1)}); err != nil {
			t.Fatal(err)
		}
		runOne(t, d, pendingRuns(t, d, id)[0], 1)
		s, err := d.LoadSweep(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if s.PeelParent != parent || (s.Before == nil) != (i == 0) {
			t.Fatalf("sweep %d: parent %d, %v", id, s.PeelParent, s.Before)
		}
		if s.Before != nil {
			before.Before, before.Ended = nil, outcomeDied // by the next invocation
			if diff := cmp.Diff(before, *s.Before, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("before sweep %d: %s", id, diff)
			}
			if v, _ := s.Before.Runs[0].Observed("throughput"); v == 0 {
				t.Error("the sweep before has no observations")
			}
		}
		outline, err := d.Outline(t.Context(), id)
		if err != nil || outline.Before != nil || outline.PeelParent != parent {
			t.Errorf("outline: %v, parent %d, %v", outline.Before, outline.PeelParent, err)
		}
		before = s
	}
}

// TestFinishedRoundsStay: a sweep that met its rule is not revived by the same rule.
func TestFinishedRoundsStay(t *testing.T) {
	d := openAt(t, testPath(t))
	spec := testSpec()
	under := func(rule experiment.Stopping, change func(*experiment.Settings)) int {
		t.Helper()
		m := *spec.Matrix
		m.Repeat.Stopping, m.Repeat.Rounds = rule, max(rule.AtMost, 3)
		change(&m.Judge)
		next := spec
		next.Matrix, next.Rounds = &m, m.Repeat.Rounds
		head, err := d.BeginSweep(t.Context(), next)
		if err != nil || head.ID != 1 {
			t.Fatalf("sweep %d, %v", head.ID, err)
		}
		return head.Rounds
	}
	same := func(*experiment.Settings) {}
	finish := func() {
		t.Helper()
		if err := d.FinishRounds(t.Context(), 1, 5); err != nil {
			t.Fatal(err)
		}
	}
	precise := experiment.Stopping{Until: experiment.StopPrecise, AtMost: 30}
	if n := under(precise, same); n != 30 {
		t.Errorf("%d rounds at the beginning", n)
	}
	if err := d.Reschedule(t.Context(), 1, experiment.Reschedule{Add: experiment.Schedule(spec.Cells, 7, 1)}); err != nil {
		t.Fatal(err)
	}
	if n := under(precise, same); n != 30 {
		t.Errorf("%d rounds before the rule is met", n)
	}
	finish()
	if got := pendingRuns(t, d, 1); len(got) != 5*len(spec.Cells) || got[len(got)-1].Round != 5 {
		t.Errorf("%d runs are pending", len(got))
	}
	s, err := d.LoadSweep(t.Context(), 1)
	if err != nil || s.Rounds != 5 || s.Stopping != precise {
		t.Errorf("%d rounds by %+v, %v", s.Rounds, s.Stopping, err)
	}
	for _, c := range []struct {
		name   string
		rule   experiment.Stopping
		change func(*experiment.Settings)
		want   int
	}{
		{"the same rule", precise, same, 5},
		{"more rounds", experiment.Stopping{Until: experiment.StopPrecise, AtMost: 40}, same, 40},
		{"narrower", experiment.Stopping{Until: experiment.StopPrecise, AtMost: 40, Within: 0.01}, same, 40},
		{"another rule", experiment.Stopping{Until: experiment.StopDecided, AtMost: 30}, same, 30},
		{"a smaller effect", experiment.Stopping{Until: experiment.StopDecided, AtMost: 30}, func(s *experiment.Settings) { s.MinimumEffect = 0.01 }, 30},
		{"a fixed number", experiment.Stopping{}, same, 5},
	} {
		finish()
		if n := under(c.rule, c.change); n != c.want {
			t.Errorf("%s: %d rounds, want %d", c.name, n, c.want)
		}
	}
	// What never met the rule is not held back by fewer rounds that were asked for.
	few := spec
	few.New, few.Rounds = true, 4
	m := *spec.Matrix
	m.Repeat.Stopping = precise
	few.Matrix = &m
	for _, rounds := range []int{4, 30} {
		few.Rounds = rounds
		head, err := d.BeginSweep(t.Context(), few)
		if err != nil || head.ID != 2 || head.Rounds != rounds {
			t.Errorf("sweep %d has %d rounds, want %d, %v", head.ID, head.Rounds, rounds, err)
		}
		few.New = false
	}
	if err := d.FinishRounds(t.Context(), 2, 5); err != nil {
		t.Fatal(err)
	}
	few.Rounds = 12
	if head, err := d.BeginSweep(t.Context(), few); err != nil || head.Rounds != 12 {
		t.Errorf("%d rounds, 12 were asked for, %v", head.Rounds, err)
	}
	if err := d.FinishRounds(t.Context(), 9, 5); err == nil {
		t.Error("a sweep that is not there was finished")
	}
}
