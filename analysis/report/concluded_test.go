package report_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

// concluded is a sweep of two stages under two conditions with what is concluded beside
// comparisons. All of it is made up.
func concluded() report.Report {
	m := &experiment.Matrix{
		Name: "coupon-as-found", Control: false, Runner: experiment.RunnerFake,
		Factors: []experiment.Factor{
			{Name: "lock", Levels: levels("on", "off")},
			{Name: "log_level", Levels: levels("info", "off")},
			{Name: "threads", Levels: levels("4", "16", "64")},
			{Name: "users", Levels: levels("60", "1000")},
		},
		Design: experiment.Design{
			Across: []string{"users"}, Interactions: [][]string{{"lock", "log_level"}},
			Stages: []experiment.Stage{{Name: "found"}, {Name: "unlocked", Baseline: []experiment.Setting{{Factor: "lock", Level: "off"}}}},
		},
		Judge: experiment.Settings{Metric: "throughput", MinimumEffect: 0.03, Confidence: 0.95, ErrorRate: 0.01},
	}
	s := experiment.Sweep{
		ID: 7, Hash: "99aabbccddeeff001122", Serial: 1, Name: m.Name, Runner: m.Runner, Seed: 7, Rounds: 5,
		Settings: m.Judge, Factors: m.Factors, Across: m.Design.Across, Cells: m.Cells(),
	}
	find := func(stage, condition, label string) experiment.CellKey {
		for _, c := range s.Cells {
			if c.Stage == stage && c.Condition == condition && c.Label() == label {
				return c.Key
			}
		}
		panic("no cell " + stage + " " + condition + " " + label)
	}
	res := experiment.Results{RoundsDone: 5, Planned: 5, Settings: m.Judge, SettingsHash: "77", Version: "5"}
	for _, c := range s.Cells {
		res.Intervals = append(res.Intervals, experiment.Interval{
			Cell: c.Key, Metric: "throughput", Unit: "1/s", N: 5, Estimate: new(1200.0), Confidence: 0.95, State: "final",
		})
	}
	effect := func(stage, label string, estimate float64, v experiment.Verdict) {
		for _, condition := range []string{"users=60", "users=1000"} {
			res.Comparisons = append(res.Comparisons, experiment.Comparison{
				Cell: find(stage, condition, label), Metric: "throughput", Scale: experiment.ScaleRatio, Estimate: new(estimate),
				Low: new(estimate * 0.97), High: new(estimate * 1.03), Confidence: 0.95, N: 5, Method: experiment.MethodOwn, Verdict: v, State: "final",
			})
		}
	}
	effect("found", "log_level=off", 1.01, experiment.VerdictInconclusive)
	effect("unlocked", "log_level=off", 1.42, experiment.VerdictBetter)
	effect("found", "threads=16", 1.1, experiment.VerdictBetter)
	effect("unlocked", "threads=16", 1.1, experiment.VerdictBetter)
	changed := func(kind experiment.ChangeKind, from, cell experiment.CellKey, factor, level string, before, after float64, c experiment.Change) {
		c.Kind, c.Metric, c.Scale, c.Cell, c.From, c.Factor, c.Level = kind, "throughput", experiment.ScaleRatio, cell, from, factor, level
		c.Before, c.After, c.Estimate, c.Confidence, c.N, c.State = new(before), new(after), new(after/before), 0.95, 5, "final"
		if c.Verdict != experiment.VerdictNotTested {
			c.Low, c.High, c.Method = new(after/before*0.96), new(after/before*1.04), experiment.MethodOwn
		}
		res.Changes = append(res.Changes, c)
	}
	changed(experiment.ChangeStage, find("found", "users=60", "threads=16"), find("unlocked", "users=60", "threads=16"), "threads", "16", 1.1, 1.1,
		experiment.Change{Verdict: experiment.VerdictInconclusive})
	changed(experiment.ChangeStage, find("found", "users=60", "log_level=off"), find("unlocked", "users=60", "log_level=off"), "log_level", "off", 1.01, 1.42,
		experiment.Change{Verdict: experiment.VerdictHigher, Material: experiment.MaterialProven})
	changed(experiment.ChangeInteraction, find("found", "users=60", "log_level=off"), find("found", "users=60", "lock=off,log_level=off"), "log_level", "off", 1.01, 1.4,
		experiment.Change{Verdict: experiment.VerdictHigher, Material: experiment.MaterialLikely, Flags: []experiment.Flag{experiment.FlagFewRounds}})
	changed(experiment.ChangeCondition, find("found", "users=60", "threads=64"), find("found", "users=1000", "threads=64"), "threads", "64", 0.8, 1.2,
		experiment.Change{Verdict: experiment.VerdictHigher, Material: experiment.MaterialProven, Flags: []experiment.Flag{experiment.FlagReversal}})
	changed(experiment.ChangeCondition, find("found", "users=60", "threads=16"), find("found", "users=1000", "threads=16"), "threads", "16", 1.1, 1.1,
		experiment.Change{Verdict: experiment.VerdictNotTested, Reason: "n < 3"})
	secondary := res.Changes[0]
	secondary.Metric, secondary.Secondary, secondary.Before = "latency_p99", true, new(math.NaN())
	res.Changes = append(res.Changes, secondary)

	threads := []experiment.CellKey{find("found", "users=60", "baseline"), find("found", "users=60", "threads=16"), find("found", "users=60", "threads=64")}
	res.Responses = []experiment.Response{
		{
			Stage: "found", Condition: "users=60", Factor: "threads", Metric: "throughput", Test: "page", Trend: experiment.TrendRising, P: new(0.00213),
			Levels: []experiment.ResponseLevel{
				{Cell: threads[0], Text: "4", Value: 4, N: 5, Mean: 1100, Fit: 1100},
				{Cell: threads[1], Text: "16", Value: 16, N: 5, Mean: 1310, Fit: 1302},
				{Cell: threads[2], Text: "64", Value: 64, N: 5, Mean: 1294, Fit: 1302},
			},
			Knee: &experiment.Knee{At: 15.6, Before: 0.1, After: -0.01}, USL: &experiment.USLFit{Lambda: 1, Peak: new(40.0), SE: math.Inf(1)},
			Best: threads[1], Smallest: threads[0], State: "final",
		},
		{
			Stage: "found", Condition: "users=1000", Factor: "threads", Metric: "throughput", Trend: experiment.TrendUntest, Reason: "n < 5",
			Levels: []experiment.ResponseLevel{{Text: "4", Value: 4, N: 2, Mean: 700, Fit: 700}, {Text: "16", Value: 16}, {Text: "64", Value: 64}}, State: "final",
		},
		{Stage: "found", Condition: "users=60", Factor: "threads", Metric: "latency_p50", Levels: []experiment.ResponseLevel{{Text: "4"}}},
	}
	s.Calibration = &experiment.Calibration{
		Sweep: 2, Host: "0123456789abcdef", Name: "calm", Metric: "throughput", Scale: experiment.ScaleRatio, When: time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC), Copies: 6, Rounds: 30,
		Block: 5, Comparisons: 60, Alarms: 3, Limit: 7, SD: 0.02, Shows: []experiment.Shows{{Rounds: 3, Effect: 0.09}, {Rounds: 5, Effect: 0.041}, {Rounds: 10, Effect: 0.02}},
	}
	s.AA = experiment.AAHistory{Comparisons: 41, Alarms: 2}
	return report.Report{Sweep: s, Results: res}
}

func TestConclusionsGolden(t *testing.T) {
	for _, f := range report.Formats() {
		t.Run(string(f), func(t *testing.T) {
			got := render(t, comparison(concluded(), f))
			checkNumbers(t, got)
			golden(t, "concluded."+string(f), got)
		})
	}
}

// sections gives the paragraphs of a text, by their first line.
func sections(text string) map[string]string {
	all := map[string]string{}
	for p := range strings.SplitSeq(text, "\n\n") {
		title, body, _ := strings.Cut(p, "\n")
		all[title] = body + "\n"
	}
	return all
}

func textOf(t *testing.T, r report.Report) string {
	t.Helper()
	return string(render(t, comparison(r, report.Text)))
}

func TestSectionsBesideTheFamilies(t *testing.T) {
	for name, tt := range map[string]struct {
		change      func(*report.Report)
		title, want string
	}{
		"stages, the largest change first": {func(*report.Report) {}, "effects by stage:", `
effect of                 found  unlocked  change              verdict
log_level=off (users=60)  1.01x  1.42x     1.41x [1.35, 1.46]  higher, proven
threads=16 (users=60)     1.10x  1.10x     1.00x [0.96, 1.04]  inconclusive
`},
		"interactions": {func(*report.Report) {}, "effects beside another setting (interactions):", `
effect of                              beside    alone  beside it  change              verdict
log_level=off (stage found, users=60)  lock=off  1.01x  1.40x      1.39x [1.33, 1.44]  higher, likely (F)
`},
		"conditions, with the reason why one is not tested": {func(*report.Report) {}, "effects by condition:", `
effect of                 users=60  users=1000  change              verdict
threads=64 (stage found)  0.80x     1.20x       1.50x [1.44, 1.56]  higher, proven (R)
threads=16 (stage found)  1.10x     1.10x       1.00x               not-tested
not tested: threads=16 (stage found): fewer than 3 rounds to compare (n < 3)
`},
		"places that differ stand in the rows": {func(r *report.Report) {
			c := r.Results.Changes[3]
			c.Cell, c.From, c.Verdict, c.Material, c.Flags, c.State = c.From, c.Cell, experiment.VerdictPending, "", nil, "interim: 3 of 5"
			r.Results.Changes = append(r.Results.Changes, c)
		}, "effects by condition:", `
effect of                 from        to          before  after  change              verdict
threads=64 (stage found)  users=60    users=1000  0.80x   1.20x  1.50x [1.44, 1.56]  higher, proven (R)
threads=64 (stage found)  users=1000  users=60    0.80x   1.20x  1.50x [1.44, 1.56]  pending (3 of 5)
threads=16 (stage found)  users=60    users=1000  1.10x   1.10x  1.00x               not-tested
not tested: threads=16 (stage found): fewer than 3 rounds to compare (n < 3)
`},
		"differences": {func(r *report.Report) {
			c := &r.Results.Changes[2]
			c.Scale, c.Before, c.After, c.Estimate, c.Low, c.High = experiment.ScaleDifference, new(-20.0), new(30.0), new(50.0), new(45.0), new(55.0)
		}, "effects beside another setting (interactions):", `
effect of                              beside    alone     beside it  change                   verdict
log_level=off (stage found, users=60)  lock=off  -20.0 /s  +30.0 /s   +50.0 /s [+45.0, +55.0]  higher, likely (F)
`},
		"the first rows of many": {func(r *report.Report) {
			for range 20 {
				r.Results.Changes = append(r.Results.Changes, r.Results.Changes[1])
			}
		}, "effects by stage:", `
effect of                 found  unlocked  change              verdict
` + strings.Repeat("log_level=off (users=60)  1.01x  1.42x     1.41x [1.35, 1.46]  higher, proven\n", 12) +
			"and 10 more: ceteris sql 'SELECT * FROM masking WHERE sweep = 7'\n"},
		"numeric factors": {func(*report.Report) {}, "levels of numeric factors:", `
factor                             level  n  geometric mean throughput k/s  isotonic fit
threads (stage found, users=60)        4  5                           1.10          1.10
                                      16  5                           1.31          1.30
                                      64  5                           1.29          1.30
threads (stage found, users=1000)      4  2                          0.700         0.700
                                      16  0                              -             -
                                      64  0                              -             -
throughput over threads (stage found, users=60): rising (Page's test, p = 0.00213); it bends at 15.6; its peak by the
  Universal Scalability Law is at 40; smallest level equivalent to the best, 16: 4
throughput over threads (stage found, users=1000): trend not tested (n < 5)
`},
		"numeric factors without a shape": {func(r *report.Report) {
			x := &r.Results.Responses[0]
			x.Knee, x.USL.Peak, x.Smallest, x.Trend, x.P = nil, nil, x.Best, experiment.TrendNone, new(1e-9)
			r.Results.Responses = r.Results.Responses[:1]
		}, "levels of numeric factors:", `
factor                           level  n  geometric mean throughput k/s  isotonic fit
threads (stage found, users=60)      4  5                           1.10          1.10
                                    16  5                           1.31          1.30
                                    64  5                           1.29          1.30
throughput over threads (stage found, users=60): no trend shown (Page's test, p < 0.0001); the best level is 16, and no
  lower one is shown to be equivalent to it
`},
		"more factors than there is room for": {func(r *report.Report) {
			for range 9 {
				r.Results.Responses = append(r.Results.Responses, r.Results.Responses[1])
			}
		}, "levels of numeric factors:", `
factor                             level  n  geometric mean throughput k/s  isotonic fit
threads (stage found, users=60)        4  5                           1.10          1.10
                                      16  5                           1.31          1.30
                                      64  5                           1.29          1.30
` + strings.Repeat(`threads (stage found, users=1000)      4  2                          0.700         0.700
                                      16  0                              -             -
                                      64  0                              -             -
`, 3) + `throughput over threads (stage found, users=60): rising (Page's test, p = 0.00213); it bends at 15.6; its peak by the
  Universal Scalability Law is at 40; smallest level equivalent to the best, 16: 4
` + strings.Repeat("throughput over threads (stage found, users=1000): trend not tested (n < 5)\n", 5) +
			"and 5 more: ceteris sql 'SELECT * FROM responses WHERE sweep = 7'\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := concluded()
			tt.change(&r)
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), sections(textOf(t, r))[tt.title]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.title, diff)
			}
		})
	}
}

// peeled makes the first effect that changes one since the sweep before, and gives that.
func peeled(r *report.Report) *experiment.Sweep {
	before := r.Sweep
	before.ID, before.Runs = 6, nil
	for _, c := range before.Cells {
		for round := 1; round <= before.Rounds; round++ {
			v := 500 * noise(c, round, "t")
			if c.Label() == "log_level=off" {
				v *= 1.1
			}
			before.Runs = append(before.Runs, experiment.RunRecord{
				Run:          experiment.Run{ID: int64(len(before.Runs) + 1), Cell: c.Key, Round: round, State: experiment.StateOK},
				Observations: []experiment.Observation{{Metric: "throughput", Phase: experiment.PhaseMeasure, Value: v, Unit: "1/s"}},
			})
		}
	}
	r.Sweep.PeelParent, r.Sweep.Before = 6, &before
	r.Results.Changes = r.Results.Changes[1:2]
	r.Results.Changes[0].FromSweep, r.Results.Changes[0].Before = 6, new(1.1)
	return &before
}

// The sentences on what changes stand below those of the families.
func TestWhatWasHidden(t *testing.T) {
	const reversal = "The sign of threads=64 (stage found) depends on users: 0.80x under users=60, 1.20x under users=1000: the change is 1.50x [1.44, 1.56]."
	const more = "1.42x [1.38, 1.46] at stage unlocked: the change is 1.41x [1.35, 1.46]: "
	was := func(v experiment.Verdict) func(*report.Report) {
		return func(r *report.Report) { r.Results.Comparisons[0].Verdict = v }
	}
	for name, tt := range map[string]struct {
		change func(*report.Report)
		want   []string
	}{
		"nothing shown before": {was(experiment.VerdictInconclusive), []string{
			"log_level=off (users=60): no difference shown at stage found, " + more + "it was masked.", reversal,
		}},
		"equivalent before": {was(experiment.VerdictEquivalent), []string{
			"log_level=off (users=60): equivalent at stage found, " + more + "it was masked.", reversal,
		}},
		"smaller before": {was(experiment.VerdictBetter), []string{
			"log_level=off (users=60): 1.01x [0.98, 1.04] at stage found, " + more + "part of it was masked.", reversal,
		}},
		"the change is not shown to matter": {func(r *report.Report) {
			r.Results.Changes[1].Material = experiment.MaterialUnproven
		}, []string{reversal}},
		"what is left is less": {func(r *report.Report) {
			was(experiment.VerdictBetter)(r)
			r.Results.Changes[1].Before = new(1.6)
		}, []string{reversal}},
		"an effect beside another setting": {func(r *report.Report) {
			r.Results.Changes = r.Results.Changes[2:3]
			r.Results.Changes[0].Flags = []experiment.Flag{experiment.FlagReversal}
		}, []string{
			"The sign of log_level=off (stage found, users=60) depends on lock: 1.01x alone, 1.40x beside lock=off: the change is 1.39x [1.33, 1.44].",
		}},
		"a peel": {func(r *report.Report) {
			before := r.Sweep
			before.ID = 6
			r.Sweep.PeelParent, r.Sweep.Before = 6, &before
			r.Results.Changes = r.Results.Changes[1:2]
			r.Results.Changes[0].FromSweep = 6
		}, []string{"log_level=off (users=60): 1.01x at stage found (sweep 6), " + more + "it was masked."}},
		"a peel whose sweep before can be judged": {func(r *report.Report) { peeled(r) }, []string{
			"log_level=off (users=60): 1.11x [1.10, 1.12] at stage found (sweep 6), " + more + "part of it was masked.",
		}},
		"a peel without a cell that the sweep before has not": {func(r *report.Report) {
			before := peeled(r)
			before.Cells = slices.DeleteFunc(slices.Clone(before.Cells), func(c experiment.Cell) bool { return c.Label() == "lock=on" })
			before.Runs = slices.DeleteFunc(before.Runs, func(x experiment.RunRecord) bool {
				return !slices.ContainsFunc(before.Cells, func(c experiment.Cell) bool { return c.Key == x.Cell })
			})
			r.Results.Settings.Without = []string{"lock=on"}
		}, []string{"log_level=off (users=60): 1.11x [1.10, 1.12] at stage found (sweep 6), " + more + "part of it was masked."}},
		"a peel whose sweep before is not at hand": {func(r *report.Report) {
			r.Results.Changes = r.Results.Changes[1:2]
			r.Results.Changes[0].FromSweep, r.Results.Changes[0].Before = 6, new(1.2)
		}, []string{"log_level=off (users=60): 1.20x at stage (sweep 6), " + more + "part of it was masked."}},
	} {
		t.Run(name, func(t *testing.T) {
			r := concluded()
			tt.change(&r)
			body := strings.Join(strings.Fields(textOf(t, r)), " ")
			for _, want := range tt.want {
				if !strings.Contains(body, want) {
					t.Errorf("no %q in\n%s", want, textOf(t, r))
				}
			}
			if n := strings.Count(body, "the change is"); n != len(tt.want) {
				t.Errorf("%d sentences on changes, want %d:\n%s", n, len(tt.want), textOf(t, r))
			}
		})
	}
}

// hostileConclusions has names and numbers that nobody would choose wherever something
// is concluded.
func hostileConclusions() report.Report {
	r := concluded()
	odd := "a|b\n<script>\x1b[31m\u202e\x00"
	nan, inf := math.NaN(), math.Inf(-1)
	for i := range r.Sweep.Cells {
		if c := &r.Sweep.Cells[i]; c.Role != experiment.RoleBaseline {
			c.Stage, c.Condition = c.Stage+odd, c.Condition+odd
			c.Off = []experiment.Setting{{Factor: odd, Level: odd}, {Factor: "x", Level: odd}}
		}
	}
	for i := range r.Results.Changes {
		c := &r.Results.Changes[i]
		c.Factor, c.Level, c.Reason, c.Flags = odd, odd, odd, []experiment.Flag{experiment.FlagReversal, "x"}
		switch i % 3 {
		case 0:
			c.Before, c.Estimate, c.Low, c.Confidence = &nan, &inf, &nan, nan
		case 1:
			c.After, c.Estimate, c.Verdict = nil, nil, experiment.VerdictNotTested
		default:
			c.Cell, c.FromSweep = "of no cell", 99
		}
	}
	for i := range r.Results.Responses {
		x := &r.Results.Responses[i]
		x.Factor, x.Reason, x.Trend, x.P, x.Knee = odd, odd, experiment.Trend(odd), &nan, &experiment.Knee{At: nan, Before: inf}
		x.USL = &experiment.USLFit{Lambda: nan, Peak: &inf, Reason: odd}
		for j := range x.Levels {
			x.Levels[j].Text, x.Levels[j].Mean, x.Levels[j].Fit = odd, nan, inf
		}
	}
	c := r.Sweep.Calibration
	c.Name, c.SD, c.Shows = odd, nan, []experiment.Shows{{Rounds: 5, Effect: inf}}
	r.Sweep.Stopping, r.Results.Stop = experiment.Stopping{Until: experiment.StopRule(odd)}, experiment.StopReport{At: 5, Confidence: nan, HalfWidth: &inf}
	r.Sweep.Ended, r.Results.RoundsDone = "drained", 3
	return r
}
