package db

import (
	"context"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// TestRunTimeIsThatOfRuns: the mean takes the runs that count and were made, and
// no time in which nothing ran.
func TestRunTimeIsThatOfRuns(t *testing.T) {
	ctx := context.Background()
	now := testTime()
	d, err := Open(ctx, testPath(t), Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.pool.Close() })
	head, _ := begin(t, d, 3)
	runTime := func() time.Duration {
		t.Helper()
		all, err := d.Sweeps(ctx)
		if err != nil || len(all) != 1 {
			t.Fatalf("%v, %v", all, err)
		}
		return all[0].RunTime
	}
	if got := runTime(); got != 0 {
		t.Errorf("before the first run: %v", got)
	}
	pending := pendingRuns(t, d, head.ID)
	for i, r := range []struct {
		state experiment.RunState
		took  time.Duration
		idle  time.Duration // before the next one
	}{
		{experiment.StateOK, 2 * time.Second, 0},
		{experiment.StateInvalid, 4 * time.Second, 72 * time.Hour},
		{experiment.StateFailedSubject, 9 * time.Second, 0},
		{experiment.StateFailedInfra, time.Hour, time.Hour},
	} {
		run := beginRun(t, d, pending[i])
		now = now.Add(r.took)
		run.State = r.state
		if err := d.EndRun(ctx, experiment.Outcome{Run: run}, nil); err != nil {
			t.Fatal(err)
		}
		now = now.Add(r.idle)
	}
	skipped := pending[4]
	skipped.State = experiment.StateSkipped
	if err := d.EndRun(ctx, experiment.Outcome{Run: skipped}, nil); err != nil {
		t.Fatal(err)
	}
	beginRun(t, d, pending[5])
	now = now.Add(time.Hour)
	if got, want := runTime(), 5*time.Second; got != want {
		t.Errorf("mean %v, want %v", got, want)
	}
}

// TestWorseIsOfSettings: the control is a second baseline, and varies nothing.
func TestWorseIsOfSettings(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	head, spec := begin(t, d, 1)
	var r experiment.Results
	for _, c := range spec.Cells {
		if c.Role == experiment.RoleBaseline {
			continue
		}
		r.Comparisons = append(r.Comparisons, experiment.Comparison{
			Cell: c.Key, Metric: "throughput", Scale: experiment.ScaleRatio, Confidence: 0.95, Verdict: experiment.VerdictWorse, State: "final",
		})
	}
	if err := d.ReplaceResults(ctx, head.ID, r); err != nil {
		t.Fatal(err)
	}
	all, err := d.Sweeps(ctx)
	if err != nil || len(all) != 1 || all[0].Worse != len(spec.Cells)-2 {
		t.Errorf("%+v, %v: want %d worse", all, err, len(spec.Cells)-2)
	}
}

// TestSweepsCountPlaces: a run that was tried again counts once, as the attempt that
// stands; a round is complete when every cell has it behind it.
func TestSweepsCountPlaces(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	head, spec := begin(t, d, 2)
	pending, err := d.Pending(ctx, head.ID)
	if err != nil {
		t.Fatal(err)
	}
	end := func(r experiment.Run, state experiment.RunState) {
		t.Helper()
		r.Invocation = head.Invocation
		if r, err = d.BeginRun(ctx, r); err != nil {
			t.Fatal(err)
		}
		r.State = state
		if err := d.EndRun(ctx, experiment.Outcome{Run: r}, nil); err != nil {
			t.Fatal(err)
		}
	}
	want := func(ok, invalid, replaced, complete int) {
		t.Helper()
		all, err := d.Sweeps(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if s := all[0]; s.OK != ok || s.Invalid != invalid || s.Replaced != replaced || s.Complete != complete {
			t.Errorf("%d ok, %d invalid, %d replaced, %d complete; want %d, %d, %d, %d", s.OK, s.Invalid, s.Replaced, s.Complete, ok, invalid, replaced, complete)
		}
	}
	cells := len(spec.Cells)
	for _, r := range pending[:cells-1] {
		end(r, experiment.StateOK)
	}
	want(cells-1, 0, 0, 0)
	last := pending[cells-1]
	end(last, experiment.StateInvalid)
	want(cells-1, 1, 0, 1)
	again := experiment.Run{Cell: last.Cell, Round: last.Round, Attempt: 2, State: experiment.StatePending}
	if err := d.Reschedule(ctx, head.ID, experiment.Reschedule{Add: []experiment.Run{again}}); err != nil {
		t.Fatal(err)
	}
	want(cells-1, 0, 1, 0)
	if pending, err = d.Pending(ctx, head.ID); err != nil {
		t.Fatal(err)
	}
	for _, r := range pending {
		if r.Attempt == 2 {
			end(r, experiment.StateOK)
		}
	}
	want(cells, 0, 1, 1)
}
