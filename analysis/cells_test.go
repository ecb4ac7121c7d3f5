package analysis

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func add(r *experiment.RunRecord, metric string, v float64) {
	r.Observations = append(r.Observations, observed(metric, v))
}

func TestIntervalOfACell(t *testing.T) {
	s := sweepOf(4, "base oioo", "a o...")
	values := []float64{3, 100, 1, 2}
	i := 0
	eachRun(&s, "base", func(r *experiment.RunRecord) {
		add(r, "app.cpu", values[i])
		add(r, "latency_p99", values[i])
		i++
	})
	slices.Reverse(s.Runs) // values come in round order whatever the order of runs
	r := analysed(t, s)
	got := intervalOf(t, r, "base", "app.cpu")
	want := experiment.Interval{
		Cell: "base", Metric: "app.cpu", Unit: experiment.UnitCores, N: 3, Estimate: number(2),
		Low: number(2 - 4.302652729749462/math.Sqrt(3)), High: number(2 + 4.302652729749462/math.Sqrt(3)), Confidence: 0.95, Method: experiment.MethodT,
		Median: number(2), Min: number(1), Max: number(3), CV: number(0.5), Values: []float64{3, 1, 2},
		Flags: []experiment.Flag{experiment.FlagFewRounds}, State: "final",
	}
	if diff := cmp.Diff(got, want, nearly); diff != "" {
		t.Errorf("mean (got -, want +):\n%s", diff)
	}
	if got := intervalOf(t, r, "base", "latency_p99"); got.Method != experiment.MethodTLog || math.Abs(*got.Estimate-math.Cbrt(6)) > 1e-12 {
		t.Errorf("geometric mean: %+v", got)
	}
	if got := intervalOf(t, r, "a", "throughput"); got.N != 1 || got.Estimate == nil || got.Low != nil || got.Method != "" {
		t.Errorf("one run: %+v", got)
	}
	if got := intervalOf(t, r, "a", "app.cpu"); got.N != 0 || got.Estimate != nil || got.Median != nil {
		t.Errorf("no run: %+v", got)
	}
}

func TestQuantilesNeedRequests(t *testing.T) {
	s := sweepOf(4, "base oooo", "a oooo", "b oooo")
	for i := range s.Runs {
		r := &s.Runs[i]
		for _, m := range []string{"latency_p50", "latency_p999", "service_time_p999", "failed_latency_p90"} {
			add(r, m, noise(i, r.Round))
		}
		count := 10_000.0
		if r.Cell == "a" && r.Round == 2 {
			count = 9999
		}
		add(r, "latency_count", count)
		add(r, "requests_done", 10_000)
		add(r, "error_rate", map[experiment.CellKey]float64{"base": 0.01, "a": 0.01, "b": 0.0099}[r.Cell])
	}
	r := analysed(t, s)
	const few = "too few requests"
	for _, tc := range []struct{ cell, metric, reason string }{
		{"a", "latency_p999", few},
		{"a", "service_time_p999", few},
		{"a", "latency_p50", ""},
		{"a", "failed_latency_p90", ""}, // 100 of 10,000 failed
		{"b", "latency_p999", ""},
		{"b", "failed_latency_p90", few}, // 99
	} {
		if got := rowOf(t, r, tc.cell, tc.metric).Reason; got != tc.reason {
			t.Errorf("%s in %s: reason %q, want %q", tc.metric, tc.cell, got, tc.reason)
		}
	}
	if i := intervalOf(t, r, "a", "latency_p999"); i.Low != nil || len(i.Values) != 4 {
		t.Errorf("interval of too few requests: %+v", i)
	}
}

func TestErrorsHideQuantiles(t *testing.T) {
	sweep := func(base, a float64) experiment.Results {
		s := sweepOf(4, "base oooo", "a oooo", "b oooo")
		rate := map[experiment.CellKey]float64{"base": base, "a": a, "b": 0.002}
		for i := range s.Runs {
			r := &s.Runs[i]
			add(r, "latency_p99", noise(i, r.Round))
			add(r, "lateness_p99", noise(i, r.Round))
			add(r, "failed_latency_p99", noise(i, r.Round))
			add(r, "error_rate", rate[r.Cell])
		}
		return analysed(t, s)
	}
	for _, tc := range []struct {
		name         string
		base, a      float64
		cell, metric string
		reason       string
	}{
		{"cell above", 0.001, 0.011, "a", "latency_p99", "errors"},
		{"cell at the limit", 0.001, 0.01, "a", "latency_p99", ""},
		{"other cell", 0.001, 0.011, "b", "latency_p99", ""},
		{"baseline above", 0.02, 0, "a", "latency_p99", "errors"},
		{"throughput is judged", 0.02, 0.5, "a", "throughput", ""},
		{"the generator's lateness is judged", 0.02, 0.5, "a", "lateness_p99", ""},
		{"failures describe themselves", 0.02, 0.5, "a", "failed_latency_p99", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := rowOf(t, sweep(tc.base, tc.a), tc.cell, tc.metric).Reason; got != tc.reason {
				t.Errorf("reason %q, want %q", got, tc.reason)
			}
		})
	}
}

func TestDifferencesOfRates(t *testing.T) {
	s := sweepOf(5, "base ooooo", "same ooooo", "bad ooooo", "silent ooooo")
	for i := range s.Runs {
		r := &s.Runs[i]
		jitter := 1e-4 * math.Sin(float64(5*i))
		switch r.Cell {
		case "base":
			add(r, "error_rate", 0)
		case "same":
			add(r, "error_rate", 2e-4+jitter)
		case "bad":
			add(r, "error_rate", 0.05+jitter)
		case "silent":
			add(r, "error_rate", 0)
		}
	}
	r := analysed(t, s)
	if c := rowOf(t, r, "same", "error_rate"); c.Verdict != experiment.VerdictEquivalent || c.Scale != experiment.ScaleDifference || c.Method != experiment.MethodOwn || !c.Secondary {
		t.Errorf("below a tenth of a point: %+v", c)
	}
	if c := rowOf(t, r, "bad", "error_rate"); c.Verdict != experiment.VerdictWorse || c.Material != experiment.MaterialProven || math.Abs(*c.Estimate-0.05) > 1e-3 {
		t.Errorf("five points: %+v", c)
	}
	if c := rowOf(t, r, "silent", "error_rate"); c.Verdict != experiment.VerdictNotTested || *c.P != 1 || *c.Estimate != 0 {
		t.Errorf("never an error: %+v", c)
	}
}

func TestFlagsOfCells(t *testing.T) {
	values := map[string][]float64{
		"base":    {1, 2, 3, 4, 5, 6, 7, 8.5},
		"modes":   {100, 101, 102, 103, 200, 201, 202, 203},
		"outlier": {1000, 1004, 998, 1003, 999, 1001, 705, 1002},
		"capped":  {5, 5, 5, 5, 5, 5, 5, 6},
	}
	s := sweepOf(8, "base oooooooo", "modes oooooooo", "outlier oooooooo", "capped oooooooo")
	for cell, v := range values {
		i := 0
		eachRun(&s, cell, func(r *experiment.RunRecord) { r.Observations[0].Value = v[i]; i++ })
	}
	r := analysed(t, s)
	for cell, want := range map[string][]experiment.Flag{
		"base": nil, "modes": {experiment.FlagMultimodal}, "outlier": {experiment.FlagOutlier}, "capped": {experiment.FlagZeroVariance},
	} {
		got := slices.DeleteFunc(intervalOf(t, r, cell, "throughput").Flags, func(f experiment.Flag) bool { return f == experiment.FlagNoisy })
		if diff := cmp.Diff(got, want, nearly); diff != "" {
			t.Errorf("%s (got -, want +):\n%s", cell, diff)
		}
	}
}

func TestCheckDistribution(t *testing.T) {
	// Four rounds that lost much outweigh eight that gained a little, in the mean.
	base := Sample{Rounds: roundsOf(12), Values: slices.Repeat([]float64{100}, 12)}
	other := Sample{Cell: "a", Rounds: roundsOf(12), Values: []float64{101, 101, 101, 101, 101, 101, 101, 101.1, 92, 92, 92, 92}}
	o := Options{Metric: throughput(true), Confidence: 0.5, MinimumEffect: 0.001}
	if c := Compare(base, other, o); !slices.Contains(c.Flags, experiment.FlagCheckDistribution) {
		t.Errorf("median outside the interval: %s", summary(c))
	}
	for _, v := range other.Values { // without rounds the medians of all values are set against it
		base.Values = append(base.Values, 100+v/1e3)
	}
	base.Rounds, other.Rounds = nil, nil
	if c := Compare(base, other, o); !slices.Contains(c.Flags, experiment.FlagCheckDistribution) {
		t.Errorf("ratio of medians outside the interval: %s", summary(c))
	}
	o.Confidence = 0.99
	if c := Compare(base, other, o); slices.Contains(c.Flags, experiment.FlagCheckDistribution) {
		t.Errorf("ratio of medians inside the interval: %s", summary(c))
	}
}

// Most rounds point down, one far up: a verdict that follows the mean is doubted.
func TestCheckDistributionOfDirection(t *testing.T) {
	c := contrast{effects: []float64{-0.01, -0.02, -0.01, -0.03, 0.9}, estimate: Estimate{Value: 0.166}}
	wide := Effect{Value: 1.18, Low: 0.5, High: 3}
	o := Options{Metric: throughput(true)}
	if !c.contradicted(wide, experiment.VerdictBetter, o) {
		t.Error("the direction of the Hodges-Lehmann estimate contradicts better")
	}
	if c.contradicted(wide, experiment.VerdictInconclusive, o) {
		t.Error("inconclusive claims no direction")
	}
}

func TestNotes(t *testing.T) {
	s := sweepOf(6, "base oooooo", "control oooooo", "a oooooo", "b oooooo", "c oooooo", "wild oooooo")
	for i := range s.Runs {
		r := &s.Runs[i]
		switch r.Cell {
		case "control":
			r.Observations[0].Value *= 1.02
		case "wild":
			r.Observations[0].Value *= 1 + 0.3*math.Sin(float64(4*r.Round))
		case "b":
			if r.Round == 3 {
				add(r, "app.cpu", math.NaN())
			} else {
				add(r, "app.cpu", 1)
			}
		}
	}
	var got []string
	r := analysed(t, s)
	for _, n := range r.Notes {
		got = append(got, n.Code+" "+string(n.Cell)+" "+n.Metric)
		if n.Message == "" {
			t.Errorf("%s has no message", n.Code)
		}
	}
	want := []string{"noisy-cell wild throughput", "control-differs control throughput", "not-finite b app.cpu"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("notes (got -, want +):\n%s", diff)
	}
	if !slices.Contains(intervalOf(t, r, "wild", "throughput").Flags, experiment.FlagNoisy) {
		t.Error("the noisy cell is not flagged")
	}
}

// Each condition and each stage has its own baseline and rounds.
func TestStagesAndConditions(t *testing.T) {
	s := sweepOf(3, "base ooo", "a ooo")
	for _, stage := range []string{experiment.MainStage, "after"} {
		more := sweepOf(3, "base oop", "a ooo")
		for i := range more.Cells {
			c := more.Cells[i]
			c.Stage, c.Condition = stage, "users=60"
			c.Key = experiment.CellKey(stage) + "|" + c.Key + "|" + experiment.CellKey(c.Condition)
			s.Cells = append(s.Cells, c)
		}
		for _, r := range more.Runs {
			if stage == experiment.MainStage && r.State == experiment.StatePending {
				r.State = experiment.StateOK
			}
			r.Cell = experiment.CellKey(stage) + "|" + r.Cell + "|users=60"
			r.ID = int64(len(s.Runs) + 1)
			s.Runs = append(s.Runs, r)
		}
	}
	r := analysed(t, s)
	var got []string
	for _, c := range r.Comparisons {
		got = append(got, summary(c)+" "+c.State)
	}
	want := []string{
		"a n=3 pooled+own equivalent FewRounds final",
		"main|a|users=60 n=3 pooled+own equivalent FewRounds final",
		"after|a|users=60 n=2 pending (n < 3) interim: 2 of 3",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("rows (got -, want +):\n%s", diff)
	}
	if r.RoundsDone != 2 {
		t.Errorf("%d rounds done, want those of the stage that has fewest", r.RoundsDone)
	}
}
