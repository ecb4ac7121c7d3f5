package guard_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/experiment"
)

// course is a run whose window of 10 s has slices of 50 ms with 50 requests done in each,
// 1 of them failed, changed by a function of the place in the window, from 0 to 1; what
// is around the window counts for nothing.
func course(of func(at float64) float64) func(*experiment.Outcome) {
	return change(func(o *experiment.Outcome) {
		add := func(at int64, done float64) {
			o.Series = append(o.Series, experiment.SeriesPoint{Metric: "done", AtMS: at, Value: done}, experiment.SeriesPoint{Metric: "failed", AtMS: at, Value: 1})
		}
		for i := range int64(20) {
			add(-1000+50*i, 10)
		}
		for i := range int64(200) {
			add(50*i, 1+49*of((float64(i)+0.5)/200))
		}
		add(10_000, 10)
		o.Series = append(o.Series, experiment.SeriesPoint{Service: "app", Metric: "done", AtMS: 500, Value: 9})
	})
}

func TestJudgeDrift(t *testing.T) {
	linear := func(change float64) func(float64) float64 {
		return func(at float64) float64 { return 1 + change*(at-0.5) }
	}
	noisy := func(change, sd float64) func(float64) float64 {
		rng := rand.New(rand.NewPCG(1, 2))
		return func(at float64) float64 { return 1 + change*(at-0.5) + sd*rng.NormFloat64() }
	}
	inPhase := func(ramp time.Duration) func(*experiment.Outcome) {
		return change(func(o *experiment.Outcome) {
			o.Plan.Load.Open = nil
			o.Plan.Load.Phases = []experiment.LoadPhase{
				{Name: "calm", For: 5 * time.Second, Measure: true},
				{Name: "spike", For: 5 * time.Second, Ramp: ramp, Measure: true},
			}
			o.Result.Parts = []experiment.LoadPart{{Name: "calm", Window: 5 * time.Second}, {Name: "spike", Begin: 5 * time.Second, Window: 5 * time.Second}}
		})
	}
	stepped := func(at float64) float64 {
		if at < 0.5 {
			return 1
		}
		return 3 - at
	}
	fell := func(by, from, to string) []found {
		return []found{{"drift", warn, "throughput fell by " + by + " over the window, from about " + from + "/s to " + to + "/s (limit 5%)"}}
	}
	tests := map[string]struct {
		change []func(*experiment.Outcome)
		want   []found
	}{
		"falls":                      {[]func(*experiment.Outcome){course(linear(-0.051))}, fell("5.1%", "1000", "955")},
		"just under":                 {[]func(*experiment.Outcome){course(linear(-0.049))}, nil},
		"rises":                      {[]func(*experiment.Outcome){course(noisy(0.3, 0.1))}, []found{{"drift", warn, "throughput rose by 28.4% over the window, from about 835/s to 1110/s (limit 5%)"}}},
		"noise alone":                {[]func(*experiment.Outcome){course(noisy(0, 0.5))}, nil},
		"within its noise":           {[]func(*experiment.Outcome){course(noisy(0.15, 0.9))}, nil},
		"nothing succeeds":           {[]func(*experiment.Outcome){course(func(float64) float64 { return 0 })}, nil},
		"no slices":                  {nil, nil},
		"few slices":                 {[]func(*experiment.Outcome){course(linear(-0.5)), change(func(o *experiment.Outcome) { o.Result.Window = 49 * 50 * time.Millisecond })}, nil},
		"in a phase":                 {[]func(*experiment.Outcome){course(stepped), inPhase(0)}, fell("22.2%", "2450", "1960")},
		"in a phase that is to rise": {[]func(*experiment.Outcome){course(stepped), inPhase(time.Second)}, nil},
		"of a load that is to rise": {[]func(*experiment.Outcome){course(linear(1)), change(func(o *experiment.Outcome) {
			o.Plan.Load.Streams = []experiment.Stream{{After: time.Second}}
		})}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, brief(guard.New().JudgeRun(calm(tt.change...), settings))); diff != "" {
				t.Errorf("JudgeRun (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJudgeCeiling(t *testing.T) {
	held := func(shares ...float64) func(*laid) {
		return func(l *laid) {
			var runs []map[string]float64
			for _, v := range shares {
				runs = append(runs, map[string]float64{"app.throttled": v, "generator.throttled": 0.5, "throughput": 100, "offered": 100})
			}
			l.cell(baseline("b"), runs...)
			l.cell(experiment.Cell{Key: "t", Role: experiment.RoleVaried}, map[string]float64{"app.throttled": 0.9})
		}
	}
	open := func(throughput float64, change ...func(*laid)) func(*laid) {
		return func(l *laid) {
			l.cell(baseline("b"), map[string]float64{"throughput": throughput, "offered": 400, "dropped": 0})
			for _, f := range change {
				f(l)
			}
		}
	}
	tests := map[string]struct {
		lay    func(*laid)
		metric string
		want   []found
	}{
		"a processor limit": {
			held(0.051, 0.3), "throughput",
			[]found{{"ceiling", note, "app of the baseline was held back by its processor limit in every run, for 17.5% of the window (limit 5%): other factors may not show"}},
		},
		"a processor limit, just under in one run": {held(0.05, 0.3), "throughput", nil},
		"no run":                         {held(), "throughput", nil},
		"an open load":                   {open(396), "throughput", []found{{"ceiling", note, "the baseline answers 396/s of the 400/s that the open load offers: no setting can raise throughput"}}},
		"an open load, just under":       {open(395.9), "throughput", nil},
		"an open load, latency compared": {open(400), "latency_p99", nil},
		"an open load of a ladder": {open(400, func(l *laid) {
			l.Ladders = []experiment.Ladder{{Cell: baseline("whole"), Rungs: []experiment.CellKey{"b"}}}
		}), "throughput", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var l laid
			tt.lay(&l)
			set := experiment.Settings{Metric: tt.metric}
			if diff := cmp.Diff(tt.want, brief(guard.New().JudgeSweep(l.Sweep, experiment.Results{Settings: set}, set))); diff != "" {
				t.Errorf("JudgeSweep (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJudgeAA(t *testing.T) {
	control := func(p float64) experiment.Comparison {
		low := 1.0
		return experiment.Comparison{Cell: "c", P: &p, Low: &low}
	}
	history := func(comparisons, alarms int) experiment.AAHistory {
		return experiment.AAHistory{Comparisons: comparisons, Alarms: alarms}
	}
	secondary := control(0.01)
	secondary.Secondary = true
	tests := map[string]struct {
		aa          experiment.AAHistory
		calibration *experiment.Calibration
		rows        []experiment.Comparison
		want        []found
	}{
		"history": {
			aa: history(99, 9), rows: []experiment.Comparison{control(0.049)},
			want: []found{{"a-a-failed", warn, "on this host 10 of 100 controls differed from their baseline at 5%, where fewer than 10 are to be expected"}},
		},
		"history, one fewer":            {aa: history(99, 9), rows: []experiment.Comparison{control(0.05)}},
		"history, another metric":       {aa: history(99, 9), rows: []experiment.Comparison{secondary}},
		"history, another cell":         {aa: history(99, 9), rows: []experiment.Comparison{{Cell: "t", P: control(0.01).P, Low: control(0.01).Low}}},
		"history, no interval":          {aa: history(99, 9), rows: []experiment.Comparison{{Cell: "c", P: control(0.01).P}}},
		"one control alone":             {rows: []experiment.Comparison{control(0.01)}},
		"calibration":                   {calibration: &experiment.Calibration{Sweep: 4, Comparisons: 200, Alarms: 16, Limit: 16}, want: []found{{"a-a-failed", warn, "the calibration of this host (sweep 4) failed: 16 of 200 comparisons of identical cells differed at 5%, where fewer than 16 are to be expected"}}},
		"calibration, one fewer":        {calibration: &experiment.Calibration{Comparisons: 200, Alarms: 15, Limit: 16}},
		"calibration without a verdict": {calibration: &experiment.Calibration{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := experiment.Sweep{Cells: []experiment.Cell{{Key: "c", Role: experiment.RoleControl}, {Key: "t", Role: experiment.RoleVaried}}, AA: tt.aa, Calibration: tt.calibration}
			if diff := cmp.Diff(tt.want, brief(guard.New().JudgeSweep(s, experiment.Results{Comparisons: tt.rows}, settings))); diff != "" {
				t.Errorf("JudgeSweep (-want +got):\n%s", diff)
			}
		})
	}
}

// What the analysis notes about the order of measuring and the noise becomes findings.
func TestJudgeNotes(t *testing.T) {
	sweep := func(rounds int, trend, noise float64) (experiment.Sweep, experiment.Settings) {
		rng := rand.New(rand.NewPCG(3, 1))
		var l laid
		l.Rounds = rounds
		l.Cells = []experiment.Cell{{Key: "b", Stage: "main", Role: experiment.RoleBaseline}, {Key: "t", Stage: "main", Role: experiment.RoleVaried, Factor: "f", Level: "1"}}
		for round := range rounds {
			for _, c := range l.Cells {
				v := 1000 * math.Exp(trend*float64(round)+noise*rng.NormFloat64())
				l.Runs = append(l.Runs, experiment.RunRecord{
					Run:          experiment.Run{ID: int64(len(l.Runs) + 1), Cell: c.Key, Round: round + 1, Seq: len(l.Runs) + 1, State: experiment.StateOK},
					Observations: []experiment.Observation{{Metric: "throughput", Phase: experiment.PhaseMeasure, Value: v}},
				})
			}
		}
		return l.Sweep, experiment.Settings{Metric: "throughput", Confidence: 0.95, MinimumEffect: 0.03, ErrorRate: 0.01}
	}
	for _, tt := range []struct {
		name         string
		rounds       int
		trend, noise float64
		want         string
	}{
		{"quiet", 6, 0, 0.005, "[]"},
		{"a trend", 6, 0.05, 0.005, "[order-drift note]"},
		{"a trend, a round too few", 5, 0.05, 0.005, "[]"},
		{"noise", 6, 0, 0.04, "[spread note]"},
		{"noise, rounds enough", 40, 0, 0.04, "[]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, set := sweep(tt.rounds, tt.trend, tt.noise)
			r, err := analysis.New().Analyse(s, set)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range guard.New().JudgeSweep(s, r, set) {
				got = append(got, f.Code+" "+string(f.Severity))
			}
			if fmt.Sprint(got) != tt.want {
				t.Errorf("findings %v, want %s; notes %v", got, tt.want, r.Notes)
			}
		})
	}
}
