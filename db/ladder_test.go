package db

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ceteris/ceteris/experiment"
)

// ladderSpec is a sweep over two rates as rungs for one and two users, with a
// corner and an unset level.
func ladderSpec() experiment.SweepSpec {
	m := testMatrix()
	m.Factors = append(m.Factors,
		experiment.Factor{Name: "rate", Levels: []experiment.Level{{Text: "100"}, {Text: "200"}}},
		experiment.Factor{Name: "users", Levels: []experiment.Level{{Text: "1"}, {Text: "2"}}})
	m.Factors[1].Levels = append(m.Factors[1].Levels, experiment.Level{Text: experiment.NullLevel, Unset: true})
	m.Design.Across = []string{"rate", "users"}
	m.Metrics = []experiment.Derived{{Name: "cost", Of: "app.cpu / throughput", Unit: "cores s", Better: experiment.LowerIsBetter}}
	spec := testSpec()
	spec.Matrix, spec.Hash, spec.Cells = m, m.Hash(), nil
	for _, users := range []string{"1", "2"} {
		for _, c := range []experiment.Cell{
			{Role: experiment.RoleBaseline, Settings: []experiment.Setting{{Factor: "pool", Level: "8"}, {Factor: "log", Level: ""}}},
			{
				Role: experiment.RoleCorner, Factor: "pool+log", Level: "1+debug",
				Settings: []experiment.Setting{{Factor: "pool", Level: "1"}, {Factor: "log", Level: "debug"}},
				Off:      []experiment.Setting{{Factor: "pool", Level: "1"}, {Factor: "log", Level: "debug"}},
			},
		} {
			settings := c.Settings
			with := func(condition string, more ...experiment.Setting) experiment.Cell {
				c.Stage, c.Condition = experiment.MainStage, condition
				c.Settings = append(settings[:2:2], more...)
				c.Key = experiment.CellKey(string(c.Role) + "|" + condition)
				return c
			}
			ofUsers := experiment.Setting{Factor: "users", Level: users}
			ladder := experiment.Ladder{Cell: with("users="+users, ofUsers)}
			for _, rate := range []string{"100", "200"} {
				rung := with("rate="+rate+", users="+users, experiment.Setting{Factor: "rate", Level: rate}, ofUsers)
				spec.Cells = append(spec.Cells, rung)
				ladder.Rungs = append(ladder.Rungs, rung.Key)
			}
			spec.Ladders = append(spec.Ladders, ladder)
		}
	}
	return spec
}

func TestLadders(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	spec := ladderSpec()
	head, err := d.BeginSweep(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Reschedule(ctx, head.ID, experiment.Reschedule{Add: experiment.Schedule(spec.Cells, 1, 1)}); err != nil {
		t.Fatal(err)
	}
	for _, run := range pendingRuns(t, d, head.ID) {
		run = beginRun(t, d, run)
		run.State = experiment.StateOK
		o := experiment.Outcome{Run: run}
		add := func(metric string, v float64) {
			o.Observations = append(o.Observations, experiment.Observation{Metric: metric, Phase: experiment.PhaseMeasure, Value: v})
		}
		offered, achieved, failed := 100.0, 97.0, 0.0
		switch run.Cell {
		case "baseline|rate=200, users=1": // less than is offered
			offered, achieved = 200, 193.9
		case "corner|rate=200, users=1": // errors
			offered, achieved, failed = 200, 200, 0.0011
		case "baseline|rate=200, users=2": // drops
			offered, achieved = 200, 200
			add("dropped", 0.021)
		case "corner|rate=200, users=2": // never runs
			o.Run.State = experiment.StateFailedSubject
		}
		add("offered", offered)
		add("throughput", achieved)
		add("error_rate", failed)
		if err := d.EndRun(ctx, o, nil); err != nil {
			t.Fatal(err)
		}
	}
	rows := `SELECT sweep || '|' || stage || '|' || condition || '|' || role || '|' || coalesce(factor, '') || '|' || coalesce(level, '') || '|' || label || '|' ||
		rung || '|' || n || '|' || coalesce(offered, '') || '|' || coalesce(achieved, '') || '|' || coalesce(sustained, 'null') FROM ladder`
	for _, row := range texts(t, d, rows) {
		if !strings.HasSuffix(row, "|null") {
			t.Errorf("judged before the analysis: %s", row)
		}
	}
	results := experiment.Results{Ladders: judgedLadders(spec), Version: "v1"}
	if err := d.ReplaceResults(ctx, head.ID, results); err != nil {
		t.Fatal(err)
	}
	got := texts(t, d, rows)
	label := spec.Ladders[1].Cell.Label()
	want := []string{
		"1|main|users=1|baseline|||baseline|100|1|100.0|97.0|1",
		"1|main|users=1|baseline|||baseline|200|1|200.0|193.9|0",
		"1|main|users=1|corner|pool+log|1+debug|" + label + "|100|1|100.0|97.0|1",
		"1|main|users=1|corner|pool+log|1+debug|" + label + "|200|1|200.0|200.0|0",
		"1|main|users=2|baseline|||baseline|100|1|100.0|97.0|1",
		"1|main|users=2|baseline|||baseline|200|1|200.0|200.0|0",
		"1|main|users=2|corner|pool+log|1+debug|" + label + "|100|1|100.0|97.0|1",
		"1|main|users=2|corner|pool+log|1+debug|" + label + "|200|0|||0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = texts(t, d, `SELECT concat_ws('|', coalesce(broken, 'null'), status, coalesce(above, 'null'), tail, coalesce(sustained_to, 'null'), coalesce(broken_from, 'null'),
		coalesce(tail_first_at, 'null'), coalesce(median_first_at, 'null'), state, analysis_version) FROM ladder WHERE rung = '200'`)
	want = []string{
		"achieved|found|null|latency_p99|100|200|200|null|final|v1",
		"errors|found|null|latency_p99|100|200|null|200|final|v1",
		"dropped|found|null|latency_p99|100|200|null|null|final|v1",
		"failed|found|null|latency_p99|100|200|null|null|final|v1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	stored, err := d.Results(ctx, head.ID)
	if diff := cmp.Diff(results.Ladders, stored.Ladders); diff != "" || err != nil {
		t.Error(diff, err)
	}
	checkLadderSweep(t, d, head.ID, spec)
}

// judgedLadders is what an analysis makes of the ladders of ladderSpec.
func judgedLadders(spec experiment.SweepSpec) []experiment.LadderResult {
	var all []experiment.LadderResult
	for i, why := range []string{"achieved", "errors", "dropped", "failed"} {
		low, high := spec.Ladders[i].Rungs[0], spec.Ladders[i].Rungs[1]
		l := experiment.LadderResult{
			Cell: spec.Ladders[i].Cell.Key, Status: "found", Tail: "latency_p99", Sustained: low, Broken: high, State: "final",
			Rungs: []experiment.RungResult{{Cell: low, N: 1}, {Cell: high, N: 1, Broken: why}},
		}
		switch why {
		case "achieved":
			l.TailFirst = high
		case "errors":
			l.MedianFirst = high
		case "failed":
			l.Rungs[1].N = 0
		}
		all = append(all, l)
	}
	return all
}

// checkLadderSweep: the summary cells are apart from those that are run, carry
// results, and are counted nowhere.
func checkLadderSweep(t *testing.T, d *DB, sweep int64, spec experiment.SweepSpec) {
	t.Helper()
	ctx := context.Background()
	s, err := d.LoadSweep(ctx, sweep)
	if err != nil {
		t.Fatal(err)
	}
	s.Runs = nil
	want := experiment.Sweep{Cells: spec.Cells, Ladders: spec.Ladders, Factors: spec.Matrix.Factors, Across: spec.Matrix.Design.Across, Declared: spec.Matrix.Declared()}
	got := experiment.Sweep{Cells: s.Cells, Ladders: s.Ladders, Factors: s.Factors, Across: s.Across, Declared: s.Declared}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	all, err := d.Sweeps(ctx)
	if err != nil || all[0].Cells != len(spec.Cells) || all[0].Planned() != all[0].Rounds*len(spec.Cells) {
		t.Errorf("%+v, %v", all, err)
	}
	var results experiment.Results
	for _, l := range spec.Ladders {
		results.Intervals = append(results.Intervals, experiment.Interval{Cell: l.Cell.Key, Metric: "ceiling", Confidence: 0.95, State: "final"})
	}
	if err := d.ReplaceResults(ctx, sweep, results); err != nil {
		t.Fatal(err)
	}
	rows := texts(t, d, `SELECT condition || ' ' || role FROM confidence_intervals WHERE metric = 'ceiling'`)
	if diff := cmp.Diff([]string{"users=1 baseline", "users=1 corner", "users=2 baseline", "users=2 corner"}, rows); diff != "" {
		t.Error(diff)
	}
	if kinds := texts(t, d, `SELECT name || condition FROM factors ORDER BY position`); !cmp.Equal(kinds, []string{"pool0", "log0", "rate1", "users1"}) {
		t.Errorf("factors %q", kinds)
	}
	if unset := texts(t, d, `SELECT level || position FROM levels WHERE unset = 1`); !cmp.Equal(unset, []string{"null2"}) {
		t.Errorf("unset levels %q", unset)
	}
}

// TestViewsCarryTheCell: whatever is shown of a cell stands beside its stage,
// condition, role, factor and level.
func TestViewsCarryTheCell(t *testing.T) {
	d := openAt(t, testPath(t))
	for _, view := range []string{"confidence_intervals", "comparison_table", "run_metrics", "excluded_runs", "ladder", "masking"} {
		columns := texts(t, d, `SELECT name FROM pragma_table_info('`+view+`') WHERE name IN ('sweep', 'stage', 'condition', 'role', 'factor', 'level') ORDER BY name`)
		if diff := cmp.Diff([]string{"condition", "factor", "level", "role", "stage", "sweep"}, columns); diff != "" {
			t.Errorf("%s: %s", view, diff)
		}
	}
}
