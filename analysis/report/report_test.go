package report_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, diff)
	}
}

func render(t *testing.T, f func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var matrix = &experiment.Matrix{
	Name: "coupon-lookup", Question: "Which settings hold the lookup path back?", Control: true,
	Runner: experiment.RunnerProcess,
	Factors: []experiment.Factor{
		{Name: "validate_connection", Levels: levels("false", "true")},
		{Name: "log_level", Levels: levels("off", "info", "debug")},
		{Name: "threads", Unit: "threads", Levels: levels("4", "16", "128"), Baseline: 1},
	},
	Repeat: experiment.RepeatPlan{Rounds: 3, Seed: 42},
	Judge:  experiment.Settings{Metric: "throughput", MinimumEffect: 0.03, Confidence: 0.95, ErrorRate: 0.01},
}

func levels(texts ...string) []experiment.Level {
	var out []experiment.Level
	for _, t := range texts {
		out = append(out, experiment.Level{Text: t})
	}
	return out
}

// sample is a sweep of seven cells in three rounds with every kind of verdict.
// The numbers are made up; nothing here computes them.
func sample() report.Report {
	cells := matrix.Cells()
	s := experiment.Sweep{
		ID: 3, Hash: "1a2b3c4d5e6f708192a3", Serial: 1, Name: matrix.Name, Question: matrix.Question, Runner: matrix.Runner,
		Seed: matrix.Repeat.Seed, Rounds: 3, Settings: matrix.Judge, Factors: matrix.Factors, Cells: cells,
		Placement: experiment.Placement{Subject: experiment.CoreSet{0}, Backing: experiment.CoreSet{0}, Load: experiment.CoreSet{1}},
		Began:     time.Date(2026, 11, 2, 8, 30, 0, 0, time.UTC),
	}
	res := experiment.Results{RoundsDone: 3, Planned: 3}
	few := []experiment.Flag{experiment.FlagFewRounds}
	throughput := []float64{12345, 12290, 1481, 12310, 9112, 7001, 12360}
	effects := []*experiment.Comparison{
		nil,
		{Estimate: new(0.9955), Low: new(0.981), High: new(1.0102), Method: experiment.MethodOwn, Verdict: experiment.VerdictEquivalent},
		{Estimate: new(0.12), Low: new(0.1131), High: new(0.1274), Verdict: experiment.VerdictWorse, Material: experiment.MaterialProven},
		{Estimate: new(0.9972), Low: new(0.985), High: new(1.0096), Verdict: experiment.VerdictEquivalent},
		{Estimate: new(0.738), Low: new(0.721), High: new(0.7554), Verdict: experiment.VerdictWorse, Material: experiment.MaterialProven},
		{
			Estimate: new(0.567), N: 2, Verdict: experiment.VerdictNotTested, Reason: "n < 3",
			Flags: []experiment.Flag{experiment.FlagIncomplete, experiment.FlagSurvivors},
		},
		{
			Estimate: new(1.0013), Low: new(0.94), High: new(1.0665), Verdict: experiment.VerdictInconclusive, RoundsNeeded: 4,
			Flags: []experiment.Flag{experiment.FlagNoisy},
		},
	}
	for i, c := range cells {
		n := 3
		if effects[i] != nil && effects[i].N > 0 {
			n = effects[i].N
		}
		for _, m := range []struct {
			name  string
			value float64
			unit  experiment.Unit
		}{
			{"throughput", throughput[i], "1/s"},
			{"latency_p50", 40 / throughput[i], "s"},
			{"latency_p99", 190 / throughput[i], "s"},
			{"error_rate", 0.0002 * float64(i), "ratio"},
			{"app.cpu", 0.93 - 0.05*float64(i), "cores"},
			{"redis.cpu", 0.21, "cores"},
			{"generator.cpu", 0.4, "cores"},
		} {
			iv := experiment.Interval{Cell: c.Key, Metric: m.name, Unit: m.unit, N: n, Estimate: new(m.value), Confidence: 0.95, State: "final"}
			if n > 2 {
				iv.Low, iv.High, iv.Method = new(m.value*0.985), new(m.value*1.015), experiment.MethodT
			}
			res.Intervals = append(res.Intervals, iv)
		}
		if e := effects[i]; e != nil {
			e.Cell, e.Metric, e.Scale, e.Confidence, e.State = c.Key, "throughput", experiment.ScaleRatio, 0.95, "final"
			if e.N == 0 {
				e.N = 3
				e.Flags = append(e.Flags, few...)
			}
			if e.Method == "" && e.Low != nil {
				e.Method = experiment.MethodPooledOwn
			}
			res.Comparisons = append(res.Comparisons, *e)
		}
	}
	for i, r := range experiment.Schedule(cells, 3, 42) {
		r.ID, r.Seq, r.State = int64(i+1), i+1, experiment.StateOK
		s.Runs = append(s.Runs, experiment.RunRecord{Run: r, Observations: []experiment.Observation{
			{Metric: "generator.cpu", Phase: experiment.PhaseMeasure, Value: 0.31 + 0.005*float64(i), Unit: "cores"},
		}})
	}
	threads4 := cells[5].Key
	var failed int64
	for i, r := range s.Runs {
		if r.Cell == threads4 && r.Round == 2 {
			s.Runs[i].State, s.Runs[i].Reason, failed = experiment.StateFailedSubject, "app ended with exit code 137", r.ID
		}
	}
	s.Runs = append(s.Runs, experiment.RunRecord{Run: experiment.Run{ID: 99, Cell: threads4, Round: 1, Attempt: 1, State: experiment.StateInterrupted}})
	findings := []experiment.Finding{
		{Code: "oom", Severity: experiment.SeverityWarn, Run: failed, Cell: threads4, Service: "app", Message: "app was killed for lack of memory (exit code 137)"},
		{Code: "rate-missed", Severity: experiment.SeverityInvalid, Run: 99, Cell: threads4, Message: "of a run that was replaced: not to be shown"},
	}
	for _, r := range s.Runs[:21] {
		findings = append(findings, experiment.Finding{
			Code: "shared-cores", Severity: experiment.SeverityNote, Run: r.ID, Cell: r.Cell,
			Message: "backing services on core 0 and subject on core 0 share processors",
		})
	}
	res.Findings = []experiment.Finding{{
		Code: "noisy-cell", Severity: experiment.SeverityWarn, Cell: cells[6].Key, Metric: "throughput",
		Message: "threads=128 varies 12 times as much as the median cell",
	}}
	return report.Report{Sweep: s, Results: res, Findings: append(findings, res.Findings...)}
}

func comparison(r report.Report, f report.Format) func(*bytes.Buffer) error {
	return func(b *bytes.Buffer) error { return report.Comparison(b, r, f) }
}

// interim is the sample after two of five rounds.
func interim() report.Report {
	r := sample()
	r.Sweep.Rounds, r.Results.Planned, r.Results.RoundsDone = 5, 5, 3
	for i := range r.Results.Comparisons {
		r.Results.Comparisons[i].Verdict, r.Results.Comparisons[i].Material = experiment.VerdictPending, ""
		r.Results.Comparisons[i].State = "interim: 3 of 5"
	}
	return r
}

// conditions is a sweep of two families, one of them with nothing measured yet.
func conditions() report.Report {
	r := sample()
	base := r.Sweep.Cells
	r.Sweep.Cells = nil
	for _, condition := range []string{"users=60", "users=1000"} {
		for _, c := range base {
			c.Condition = condition
			if condition != "users=60" {
				c.Key += experiment.CellKey("|" + condition)
			}
			r.Sweep.Cells = append(r.Sweep.Cells, c)
		}
	}
	return r
}

// hostile is the sample with names and numbers that no one would choose.
func hostile() report.Report {
	r := sample()
	level := "a|b\n<script>alert(1)</script>\x1b[31m\"q\" `c` *d* =1+1 \u202e \x00"
	r.Sweep.Name, r.Sweep.Question = "name\x1b]0;title\x07 | <b>", "why\r\nnot [x](http://example.invalid)?"
	for i := range r.Sweep.Cells {
		if r.Sweep.Cells[i].Role == experiment.RoleVaried {
			r.Sweep.Cells[i].Level = level
			r.Sweep.Cells[i].Off = []experiment.Setting{{Factor: r.Sweep.Cells[i].Factor, Level: level}}
		}
	}
	nan, inf := math.NaN(), math.Inf(1)
	for i := range r.Results.Comparisons {
		c := &r.Results.Comparisons[i]
		switch i % 3 {
		case 0:
			c.Estimate, c.Low = &nan, &inf
		case 1:
			c.Estimate, c.Low, c.High, c.Confidence = nil, nil, nil, nan
		}
		c.Reason = level
	}
	for i := range r.Results.Intervals {
		iv := &r.Results.Intervals[i]
		switch i % 4 {
		case 0:
			iv.Estimate, iv.Values = &inf, []float64{nan, 1}
		case 1:
			iv.Estimate = nil
		}
	}
	r.Findings = append(r.Findings, experiment.Finding{Code: "x|y", Severity: experiment.SeverityWarn, Value: &nan, Message: level})
	return r
}

func TestComparisonGolden(t *testing.T) {
	for name, r := range map[string]report.Report{"sample": sample(), "interim": interim(), "conditions": conditions(), "hostile": hostile()} {
		for _, f := range report.Formats() {
			t.Run(fmt.Sprintf("%s.%s", name, f), func(t *testing.T) {
				golden(t, fmt.Sprintf("%s.%s", name, f), render(t, comparison(r, f)))
			})
		}
	}
}
