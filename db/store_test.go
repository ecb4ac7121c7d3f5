package db

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ceteris/ceteris/experiment"
)

func TestBeginSweepContinuesAndBeginsAnew(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	spec := testSpec()
	begin := func(spec experiment.SweepSpec) experiment.SweepHead {
		t.Helper()
		h, err := d.BeginSweep(ctx, spec)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := begin(spec)
	more := spec
	m := *spec.Matrix
	m.Name, m.Question, m.Judge.Confidence = "renamed", "Still?", 0.99
	more.Matrix, more.Rounds, more.Images = &m, 10, experiment.Images{"image:redis:7": "sha256:2"}
	continued := begin(more)
	fewer := begin(spec)
	fresh := spec
	fresh.New = true
	second := begin(fresh)
	again := begin(spec)

	want := []experiment.SweepHead{
		{ID: 1, Invocation: 1, Hash: spec.Hash, Serial: 1, Rounds: 3},
		{ID: 1, Invocation: 2, Hash: spec.Hash, Serial: 1, Rounds: 10, Continued: true, Images: experiment.Images{"image:redis:7": "sha256:1"}},
		{ID: 1, Invocation: 3, Hash: spec.Hash, Serial: 1, Rounds: 10, Continued: true, Images: experiment.Images{"image:redis:7": "sha256:2"}},
		{ID: 2, Invocation: 4, Hash: spec.Hash, Serial: 2, Rounds: 3},
		{ID: 2, Invocation: 5, Hash: spec.Hash, Serial: 2, Rounds: 3, Continued: true, Images: experiment.Images{"image:redis:7": "sha256:1"}},
	}
	if diff := cmp.Diff(want, []experiment.SweepHead{first, continued, fewer, second, again}); diff != "" {
		t.Error(diff)
	}
	var cells int
	if err := d.pool.QueryRowContext(ctx, `SELECT count(*) FROM cells WHERE sweep = 1`).Scan(&cells); err != nil || cells != len(spec.Cells) {
		t.Errorf("%d cells, want %d, %v", cells, len(spec.Cells), err)
	}
}

func TestInvocations(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	spec := testSpec()
	spec.Invocation.ShareHost = true
	for range 2 {
		if _, err := d.BeginSweep(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.EndInvocation(ctx, experiment.Invocation{ID: 2, Outcome: "done"}); err != nil {
		t.Fatal(err)
	}
	got, err := d.Invocations(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []experiment.Invocation{spec.Invocation, spec.Invocation}
	for i := range want {
		want[i].ID, want[i].Sweep, want[i].Began = int64(i+1), 1, testTime()
	}
	want[0].Outcome = outcomeDied
	want[1].Outcome, want[1].Ended = "done", testTime()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := d.EndInvocation(ctx, experiment.Invocation{ID: 9, Outcome: "done"}); err == nil {
		t.Error("an invocation that never was ended")
	}
}

// labels gives round, attempt and cell of runs in their order.
func labels(runs []experiment.Run) string {
	var b strings.Builder
	for _, r := range runs {
		fmt.Fprintf(&b, "%d.%d %s; ", r.Round, r.Attempt, r.Cell)
	}
	return b.String()
}

func TestPendingKeepsTheScheduleWhateverTheOrderOfInsertion(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	head, spec := begin(t, d, 3)
	pending := pendingRuns(t, d, head.ID)
	schedule := experiment.Schedule(spec.Cells, 3, 1)
	if got, want := labels(pending), labels(schedule); got != want {
		t.Fatalf("pending %s\nwant %s", got, want)
	}

	// Round 1 is cut short after two runs: one ends, one dies. It is run again
	// whole, and a second attempt comes at the end of its round.
	one := runOne(t, d, pending[0], 1)
	two := beginRun(t, d, pending[1])
	one.State = experiment.StateOK
	one.Reason = one.SupersededReason()
	plan := experiment.Reschedule{
		Interrupted: []int64{two.ID}, Superseded: []experiment.Run{one},
		Drop: []int64{pending[2].ID, pending[3].ID, pending[4].ID},
		Add:  experiment.ScheduleRound(spec.Cells, 1, 1),
	}
	retry := experiment.Run{Cell: pending[1].Cell, Round: 1, Attempt: 2}
	plan.Add = append(plan.Add, retry)
	if err := d.Reschedule(ctx, head.ID, plan); err != nil {
		t.Fatal(err)
	}
	pending = pendingRuns(t, d, head.ID)
	want := append(experiment.ScheduleRound(spec.Cells, 1, 1), retry)
	want = append(want, schedule[len(spec.Cells):]...)
	if got, want := labels(pending), labels(want); got != want {
		t.Errorf("pending %s\nwant %s", got, want)
	}
	all := allRuns(t, d, head.ID)
	if all[0].State != experiment.StateSuperseded || all[0].Reason != "ok" || all[1].State != experiment.StateInterrupted || all[1].Ended.IsZero() {
		t.Errorf("%+v\n%+v", all[0], all[1])
	}
	// The executed order goes on counting.
	if next := runOne(t, d, pending[0], 1); next.Seq != 3 {
		t.Errorf("seq %d, want 3", next.Seq)
	}
}

func TestRefusedChangesOfRuns(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	head, spec := begin(t, d, 1)
	pending := pendingRuns(t, d, head.ID)
	done := runOne(t, d, pending[0], 1)
	under := beginRun(t, d, pending[1])
	reschedule := func(r experiment.Reschedule) func() error {
		return func() error { return d.Reschedule(ctx, head.ID, r) }
	}
	end := func(run experiment.Run, change func(*experiment.Outcome)) func() error {
		return func() error {
			o := testOutcome(run, 3)
			change(&o)
			return d.EndRun(ctx, o, []experiment.Finding{{Code: "x", Severity: experiment.SeverityNote}})
		}
	}
	for _, c := range []struct {
		name, says string
		try        func() error
	}{
		{"begin twice", "it is not pending", func() error { _, err := d.BeginRun(ctx, pending[0]); return err }},
		{"begin what is not there", "it is not pending", func() error { _, err := d.BeginRun(ctx, experiment.Run{ID: 99}); return err }},
		{"end twice", "stored before", end(done, func(*experiment.Outcome) {})},
		{"end before the beginning", "not under way", end(pending[2], func(*experiment.Outcome) {})},
		{"end as running", `"running" is no state`, end(under, func(o *experiment.Outcome) { o.Run.State = experiment.StateRunning })},
		{"an unknown state", "CHECK constraint", end(under, func(o *experiment.Outcome) { o.Run.State = "fine" })},
		{"not a number", "throughput in measure: NaN is no finite value", end(under, func(o *experiment.Outcome) { o.Observations[0].Value = math.NaN() })},
		{"two values", "throughput in measure has two values", end(under, func(o *experiment.Outcome) { o.Observations[1].Metric = "throughput" })},
		{"infinite series", "series sent at -1000 ms: +Inf", end(under, func(o *experiment.Outcome) { o.Series[1].Value = math.Inf(1) })},
		{"two values of a slice", "series offered at -1000 ms has two values", end(under, func(o *experiment.Outcome) { o.Series[1].Metric = "offered" })},
		{"an unknown kind of histogram", "histogram x in measure", end(under, func(o *experiment.Outcome) { o.Result.Histograms[0].Kind = "x" })},
		{"interrupt what is over", "mark run 1 as interrupted", reschedule(experiment.Reschedule{Interrupted: []int64{done.ID}})},
		{"supersede what is pending", "mark run 3 as superseded", reschedule(experiment.Reschedule{Superseded: []experiment.Run{pending[2]}})},
		{"drop what is over", "drop run 1", reschedule(experiment.Reschedule{Drop: []int64{done.ID}})},
		{"an unknown cell", "the sweep has no cell nothing", reschedule(experiment.Reschedule{Drop: []int64{pending[2].ID}, Add: []experiment.Run{{Cell: "nothing", Round: 1}}})},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkRefusal(t, c.try(), c.says, nil)
		})
	}
	// Nothing of the refused changes stays.
	var state string
	var values, slices, findings, runs int
	err := d.pool.QueryRowContext(ctx, `SELECT state, (SELECT count(*) FROM observations WHERE run = r.id), (SELECT count(*) FROM series_points WHERE run = r.id),
		(SELECT count(*) FROM findings), (SELECT count(*) FROM runs) FROM runs r WHERE id = ?`, under.ID).Scan(&state, &values, &slices, &findings, &runs)
	if err != nil || state != "running" || values+slices+findings != 0 || runs != len(spec.Cells) {
		t.Errorf("%s with %d values, %d slices, %d findings, of %d runs, %v", state, values, slices, findings, runs, err)
	}
}

func TestOneCountingRunForEachCellAndRound(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	head, _ := begin(t, d, 1)
	pending := pendingRuns(t, d, head.ID)
	runOne(t, d, pending[0], 1)
	twice := experiment.Run{Cell: pending[0].Cell, Round: 1, Attempt: 2}
	if err := d.Reschedule(ctx, head.ID, experiment.Reschedule{Add: []experiment.Run{twice}}); err != nil {
		t.Fatal(err)
	}
	all := allRuns(t, d, head.ID)
	run := beginRun(t, d, all[len(all)-1])
	if err := d.EndRun(ctx, testOutcome(run, 1), nil); err == nil || !strings.Contains(err.Error(), "UNIQUE") {
		t.Errorf("two runs of one cell and round count: %v", err)
	}
}

func TestSkippedWithoutBeginning(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	head, spec := begin(t, d, 1)
	pending := pendingRuns(t, d, head.ID)
	skipped := pending[0]
	skipped.State, skipped.Reason = experiment.StateSkipped, "suspended"
	if err := d.EndRun(ctx, experiment.Outcome{Run: skipped}, nil); err != nil {
		t.Error(err)
	}
	add := experiment.Run{Cell: spec.Cells[0].Key, Round: 2, State: experiment.StateSkipped, Reason: "suspended"}
	if err := d.Reschedule(ctx, head.ID, experiment.Reschedule{Add: []experiment.Run{add}}); err != nil {
		t.Error(err)
	}
	all := allRuns(t, d, head.ID)
	for _, r := range []experiment.Run{all[0], all[len(all)-1]} {
		if r.State != experiment.StateSkipped || r.Reason != "suspended" || r.Seq != 0 || !r.Began.IsZero() {
			t.Errorf("%+v", r)
		}
	}
}

func TestEndRunKeepsWhatTheGeneratorTold(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	head, _ := begin(t, d, 1)
	pending := pendingRuns(t, d, head.ID)
	run := beginRun(t, d, pending[0])
	o := testOutcome(run, 2)
	o.Series = append(o.Series, experiment.SeriesPoint{Service: "app", Metric: "cpu", AtMS: -1000, Value: 0.1})
	o.Result.Observations = []experiment.Observation{
		{Metric: "throughput", Phase: experiment.PhaseMeasure, Value: 1, Unit: experiment.UnitPerSecond}, // known already
		{Metric: "offered", Phase: experiment.PhaseMeasure, Value: 1200, Unit: experiment.UnitPerSecond},
	}
	o.Result.Series = []experiment.SeriesPoint{{Metric: "sent", AtMS: -1000, Value: -1}, {Metric: "sent", AtMS: 50, Value: 0.1}}
	if err := d.EndRun(ctx, o, nil); err != nil {
		t.Fatal(err)
	}
	s, err := d.LoadSweep(ctx, head.ID)
	if err != nil {
		t.Fatal(err)
	}
	throughput, _ := s.Runs[0].Observed("throughput")
	offered, _ := s.Runs[0].Observed("offered")
	if throughput != o.Observations[0].Value || offered != 1200 {
		t.Errorf("throughput %v, offered %v", throughput, offered)
	}
	got := texts(t, d, `SELECT service || '|' || metric || '|' || at_ms || '|' || value FROM series WHERE run = 1 AND metric IN ('sent', 'cpu', 'latency_p99') ORDER BY 1`)
	want := []string{"app|cpu|-1000|0.1", "|latency_p99|-1000|0.001691", "|latency_p99|-950|0.001728", "|sent|-1000|14.0", "|sent|-950|21.0", "|sent|50|0.1"}
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Error(diff)
	}
	var body string
	if err := d.pool.QueryRowContext(ctx, `SELECT details FROM runs WHERE id = 1`).Scan(&body); err != nil || !json.Valid([]byte(body)) || !strings.Contains(body, `"200":4000`) {
		t.Errorf("details %s, %v", body, err)
	}
}

// texts reads one column.
func texts(t *testing.T, d *DB, q string) []string {
	t.Helper()
	rows, err := d.pool.QueryContext(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSweepRoundTrip: what is stored of random sweeps is what is loaded.
func TestSweepRoundTrip(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 25 {
		spec := testSpec()
		spec.Matrix = randomMatrix(rng, i)
		spec.Cells, spec.Hash, spec.Rounds = spec.Matrix.Cells(), spec.Matrix.Hash(), 1+rng.IntN(3)
		head, err := d.BeginSweep(ctx, spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Reschedule(ctx, head.ID, experiment.Reschedule{Add: experiment.Schedule(spec.Cells, spec.Rounds, 1)}); err != nil {
			t.Fatal(err)
		}
		m := spec.Matrix
		want := experiment.Sweep{
			ID: head.ID, Hash: spec.Hash, Serial: 1, Name: m.Name, Question: m.Question, Runner: m.Runner, Seed: m.Repeat.Seed, Rounds: spec.Rounds,
			Settings: m.Judge, Factors: m.Factors, Cells: spec.Cells, Placement: spec.Placement, Host: spec.Host, Began: testTime(),
			Images: spec.Images, Version: spec.Invocation.Version,
		}
		pending := pendingRuns(t, d, head.ID)
		for _, run := range pending {
			want.Runs = append(want.Runs, randomRun(t, d, rng, run))
		}
		got, err := d.LoadSweep(ctx, head.ID)
		if err != nil {
			t.Fatal(err)
		}
		byMetric := cmpopts.SortSlices(func(a, b experiment.Observation) bool { return a.Metric < b.Metric })
		if diff := cmp.Diff(want, got, byMetric, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("sweep %d: %s", i, diff)
		}
	}
}

func randomMatrix(rng *rand.Rand, i int) *experiment.Matrix {
	m := testMatrix()
	m.Name, m.Repeat.Seed, m.Control = fmt.Sprintf("m%d", i), rng.Uint64(), rng.IntN(2) == 0
	m.Factors = nil
	for f := range rng.IntN(4) {
		factor := experiment.Factor{Name: fmt.Sprintf("f%d", f)}
		for l := range 1 + rng.IntN(4) {
			factor.Levels = append(factor.Levels, experiment.Level{Text: strings.Repeat("é'\"%", l)})
		}
		factor.Baseline = rng.IntN(len(factor.Levels))
		m.Factors = append(m.Factors, factor)
	}
	if rng.IntN(2) == 0 {
		m.Judge.Guards = map[string]experiment.GuardSetting{"errors": {Off: true}, "dropped": {Above: new(rng.Float64())}}
	}
	return m
}

// randomRun leaves a run pending, running or over, and says what is to be read.
func randomRun(t *testing.T, d *DB, rng *rand.Rand, run experiment.Run) experiment.RunRecord {
	t.Helper()
	if rng.IntN(5) == 0 {
		return experiment.RunRecord{Run: run}
	}
	run = beginRun(t, d, run)
	if rng.IntN(5) == 0 {
		return experiment.RunRecord{Run: run}
	}
	states := []experiment.RunState{experiment.StateOK, experiment.StateInvalid, experiment.StateFailedSubject, experiment.StateFailedInfra, experiment.StateInterrupted}
	run.State, run.Reason, run.ConfigHash, run.Ended = states[rng.IntN(len(states))], "because", "abc", testTime()
	o := experiment.Outcome{Run: run}
	rec := experiment.RunRecord{Run: run}
	for i := range rng.IntN(6) {
		x := experiment.Observation{Metric: fmt.Sprintf("m%d", i), Phase: experiment.PhaseMeasure, Value: rng.NormFloat64() * math.Pow(10, float64(rng.IntN(40)-20)), Unit: experiment.UnitBytes}
		rec.Observations = append(rec.Observations, x)
		warm := x
		warm.Phase = experiment.PhaseWarmup
		o.Observations = append(o.Observations, warm, x)
	}
	if err := d.EndRun(context.Background(), o, nil); err != nil {
		t.Fatal(err)
	}
	return rec
}
