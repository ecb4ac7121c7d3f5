package db

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// testResults are results for every cell of a sweep; those of the first analysis
// have no runs yet.
func testResults(cells []experiment.Cell, n int) experiment.Results {
	r := experiment.Results{
		RoundsDone: n, Planned: 3, SettingsHash: "s", Version: "1",
		Settings: experiment.Settings{Metric: "throughput", MinimumEffect: 0.02, Confidence: 0.95, Without: []string{"log=debug"}},
		Stop:     experiment.StopReport{Until: experiment.StopPrecise, At: n, Confidence: 0.97, HalfWidth: new(0.1), Open: 2},
		Notes:    []experiment.SweepNote{{Code: "control-differs", Cell: cells[1].Key, Metric: "throughput", Message: "p is 0.01"}},
		Findings: []experiment.Finding{{Code: "spread", Severity: experiment.SeverityWarn, Cell: cells[0].Key, Metric: "throughput", Value: new(0.1), Threshold: new(0.03), Message: "Runs differ by 10%."}},
	}
	for i, c := range cells {
		v := experiment.Interval{Cell: c.Key, Metric: "throughput", Unit: experiment.UnitPerSecond, N: n, Confidence: 0.95, State: "interim: 0 of 3"}
		if n > 0 {
			v.Estimate, v.Median, v.Min, v.Max = new(100+float64(i)), new(100.0), new(99.0), new(101.0)
			v.Values, v.Flags = []float64{99, 100, 101}, []experiment.Flag{experiment.FlagFewRounds}
		}
		if n >= 3 {
			v.Low, v.High, v.Method, v.CV, v.State = new(90.0), new(110.0), experiment.MethodT, new(0.01), "final"
		}
		r.Intervals = append(r.Intervals, v)
		if c.Role == experiment.RoleBaseline {
			continue
		}
		k := experiment.Comparison{
			Cell: c.Key, Metric: "throughput", Scale: experiment.ScaleRatio, Confidence: 0.95, N: n,
			Verdict: experiment.VerdictNotTested, Reason: "n < 3", State: v.State,
		}
		if n >= 3 {
			k.Estimate, k.Low, k.High, k.EqLow, k.EqHigh, k.P, k.PAdjusted = new(0.5+float64(i)), new(0.4), new(0.6), new(0.45), new(0.55), new(0.001), new(0.002)
			k.Method, k.Verdict, k.Reason, k.Material, k.RoundsNeeded = experiment.MethodPooledOwn, experiment.VerdictWorse, "", experiment.MaterialProven, 2
			k.Flags = []experiment.Flag{experiment.FlagFewRounds, experiment.FlagNoisy}
		}
		r.Comparisons = append(r.Comparisons, k)
	}
	if n >= 3 {
		r.Changes, r.Responses = testChanges(cells), testResponses(cells)
	}
	return r
}

// testChanges is a change that is tested, in a corner, and one that is not.
func testChanges(cells []experiment.Cell) []experiment.Change {
	return []experiment.Change{
		{
			Kind: experiment.ChangeInteraction, Metric: "throughput", Cell: cells[4].Key, From: cells[2].Key, Factor: "log", Level: "debug",
			Scale: experiment.ScaleRatio, Before: new(1.2), After: new(0.6), Estimate: new(0.5), Low: new(0.4), High: new(0.6), EqLow: new(0.45), EqHigh: new(0.55),
			Confidence: 0.95, P: new(0.01), PAdjusted: new(0.02), N: 3, Method: experiment.MethodOwn, Verdict: experiment.VerdictLower,
			Material: experiment.MaterialProven, Flags: []experiment.Flag{experiment.FlagReversal}, State: "final",
		},
		{
			Kind: experiment.ChangeCondition, Metric: "app.cpu", Secondary: true, Cell: cells[3].Key, From: cells[2].Key, Factor: "pool", Level: "1",
			Scale: experiment.ScaleDifference, Confidence: 0.95, N: 2, Verdict: experiment.VerdictNotTested, Reason: "n < 3", State: "stopped: 2 of 3",
		},
	}
}

// testResponses is one with all that there can be, and one with nothing.
func testResponses(cells []experiment.Cell) []experiment.Response {
	levels := []experiment.ResponseLevel{
		{Cell: cells[2].Key, Text: "1", Value: 1, N: 3, Mean: 10, Fit: 9.5},
		{Cell: cells[3].Key, Text: "1.10", Value: 1.1, N: 3, Mean: 9, Fit: 9.5},
		{Cell: cells[0].Key, Text: "8", Value: 8, N: 3, Mean: 60, Fit: 60},
	}
	return []experiment.Response{
		{
			Stage: "main", Factor: "pool", Metric: "throughput", Levels: levels, Test: "page", Trend: experiment.TrendRising, P: new(0.01),
			Knee: &experiment.Knee{At: 4, Before: 10, After: 1},
			USL:  &experiment.USLFit{Lambda: 10, Sigma: 0.01, Kappa: 0.002, SE: 0.0005, Peak: new(22.0)},
			Best: cells[0].Key, Smallest: cells[3].Key, State: "final",
		},
		{
			Stage: "main", Factor: "pool", Metric: "app.cpu", Levels: levels, Trend: experiment.TrendUntest, Reason: "n < 3", State: "interim: 2 of 3",
			USL: &experiment.USLFit{Lambda: 10, Reason: "kappa is within its error"},
		},
	}
}

func TestResultsAreReplaced(t *testing.T) {
	ctx := context.Background()
	path := testPath(t)
	d := openAt(t, path)
	head, spec := begin(t, d, 1)
	empty, err := d.Results(ctx, head.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(experiment.Results{}, empty); diff != "" {
		t.Errorf("before the first analysis: %s", diff)
	}
	for _, n := range []int{0, 1, 3} {
		want := testResults(spec.Cells, n)
		if err := d.ReplaceResults(ctx, head.ID, want); err != nil {
			t.Fatal(err)
		}
		got, err := readAt(t, path).Results(ctx, head.ID)
		if err != nil {
			t.Fatal(err)
		}
		opt := cmp.Transformer("nil", func(s []float64) []float64 { return append([]float64{}, s...) })
		flags := cmp.Transformer("nil", func(s []experiment.Flag) []experiment.Flag { return append([]experiment.Flag{}, s...) })
		if diff := cmp.Diff(want, got, opt, flags); diff != "" {
			t.Errorf("n = %d: %s", n, diff)
		}
	}
	if _, err := d.Results(ctx, 99); !errors.Is(err, experiment.ErrUnknownSweep) {
		t.Errorf("%v", err)
	}
}

func TestFailedReplacementKeepsTheOld(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	head, spec := begin(t, d, 1)
	good := testResults(spec.Cells, 3)
	if err := d.ReplaceResults(ctx, head.ID, good); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		says   string
		change func(*experiment.Results)
	}{
		"interval below 3 runs":   {"CHECK", func(r *experiment.Results) { r.Intervals[0].N = 2 }},
		"comparison below 3":      {"CHECK", func(r *experiment.Results) { r.Comparisons[0].N = 2 }},
		"unknown verdict":         {"CHECK", func(r *experiment.Results) { r.Comparisons[0].Verdict = "fine" }},
		"no verdict":              {"CHECK", func(r *experiment.Results) { r.Comparisons[0].Verdict = "" }},
		"unknown material":        {"CHECK", func(r *experiment.Results) { r.Comparisons[0].Material = "sure" }},
		"unknown method":          {"CHECK", func(r *experiment.Results) { r.Comparisons[0].Method = experiment.MethodT }},
		"unknown state":           {"CHECK", func(r *experiment.Results) { r.Intervals[0].State = "" }},
		"unknown severity":        {"CHECK", func(r *experiment.Results) { r.Findings[0].Severity = "bad" }},
		"unknown kind of change":  {"CHECK", func(r *experiment.Results) { r.Changes[0].Kind = "" }},
		"change below 3":          {"CHECK", func(r *experiment.Results) { r.Changes[0].N = 2 }},
		"better change":           {"CHECK", func(r *experiment.Results) { r.Changes[0].Verdict = experiment.VerdictBetter }},
		"change from nowhere":     {"the sweep has no cell nothing", func(r *experiment.Results) { r.Changes[0].From = "nothing" }},
		"change from no sweep":    {"sweep 77: no such sweep", func(r *experiment.Results) { r.Changes[0].FromSweep = 77 }},
		"unknown trend":           {"CHECK", func(r *experiment.Results) { r.Responses[0].Trend = "up" }},
		"not a number":            {"response of throughput to pool: encode []experiment.ResponseLevel: json: unsupported value: NaN", func(r *experiment.Results) { r.Responses[0].Levels[0].Fit = math.NaN() }},
		"two responses":           {"UNIQUE", func(r *experiment.Results) { r.Responses[1] = r.Responses[0] }},
		"two intervals of a cell": {"UNIQUE", func(r *experiment.Results) { r.Intervals[1] = r.Intervals[0] }},
		"unknown cell":            {"the sweep has no cell nothing", func(r *experiment.Results) { r.Comparisons[0].Cell = "nothing" }},
	} {
		t.Run(name, func(t *testing.T) {
			bad := testResults(spec.Cells, 3)
			c.change(&bad)
			checkRefusal(t, d.ReplaceResults(ctx, head.ID, bad), c.says, nil)
			got, err := d.Results(ctx, head.ID)
			if err != nil || len(got.Intervals) != len(good.Intervals) || len(got.Comparisons) != len(good.Comparisons) {
				t.Errorf("%d intervals and %d comparisons are left, %v", len(got.Intervals), len(got.Comparisons), err)
			}
		})
	}
}

func TestFindings(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	head, spec := begin(t, d, 1)
	pending := pendingRuns(t, d, head.ID)
	run := runOne(t, d, pending[0], 1,
		experiment.Finding{Code: "errors", Severity: experiment.SeverityWarn, Service: "app", Metric: "error_rate", Value: new(0.02), Threshold: new(0.01), Message: "2% failed."})
	results := testResults(spec.Cells, 0)
	results.Findings = append(results.Findings,
		experiment.Finding{Code: "a-a-failed", Severity: experiment.SeverityNote, Message: "Too many."},
		experiment.Finding{Code: "not-equal", Severity: experiment.SeverityWarn, Run: run.ID, Cell: run.Cell, Message: "Another image."})
	for range 2 { // the second time replaces
		if err := d.ReplaceResults(ctx, head.ID, results); err != nil {
			t.Fatal(err)
		}
	}
	got, err := d.Findings(ctx, head.ID)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range got {
		lines = append(lines, strings.Join([]string{f.Code, string(f.Severity), f.Label, string(f.RunState), f.Message}, "|"))
	}
	label := ""
	for _, c := range spec.Cells {
		if c.Key == run.Cell {
			label = c.Label()
		}
	}
	want := []string{
		"a-a-failed|note|||Too many.",
		"spread|warn|baseline||Runs differ by 10%.",
		"errors|warn|" + label + "|ok|2% failed.",
		"not-equal|warn|" + label + "|ok|Another image.",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	if got[2].Run != run.ID || got[2].Round != 1 || *got[2].Value != 0.02 || got[2].Service != "app" || got[0].Value != nil {
		t.Errorf("%+v", got[2])
	}
}

func TestResolve(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	if _, err := d.Resolve(ctx, ""); !errors.Is(err, experiment.ErrUnknownSweep) {
		t.Errorf("an empty database: %v", err)
	}
	for _, s := range []struct{ name, hash string }{
		{"pool", "abcdef0111"}, {"pool", "abcdef0222"}, {"log", "123456aaaa"}, {"pool", "abcdef0111"}, {"42", "999999bbbb"},
	} {
		spec := testSpec()
		m := *spec.Matrix
		m.Name = s.name
		spec.Matrix, spec.Hash, spec.New = &m, s.hash, true
		if _, err := d.BeginSweep(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	for ref, want := range map[string]int64{
		"": 5, "latest": 5, "1": 1, "3": 3, "pool": 4, "log": 3, "42": 5, "abcdef01": 4, "ABCDEF02": 2, "123456": 3, "999999": 5,
		"abcdef": 0, "12345": 0, "nothing": 0, "77": 0, "-1": 0, "abcdef03": 0,
	} {
		got, err := d.Resolve(ctx, ref)
		if got != want || (want == 0) != errors.Is(err, experiment.ErrUnknownSweep) {
			t.Errorf("%q: %d, want %d, %v", ref, got, want, err)
		}
		var hint *experiment.HintError
		if want == 0 && (!errors.As(err, &hint) || !strings.Contains(hint.Hint, "3 (log, 123456aa)")) {
			t.Errorf("%q: no hint of what there is: %v", ref, err)
		}
	}
}
