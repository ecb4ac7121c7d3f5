package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// answering makes a sweep of four rounds in which cells answer as they are told.
func answering(t *testing.T, throughput map[string][]float64) experiment.Results {
	t.Helper()
	s := sweepOf(4, "base oooo", "a oooo", "b oooo")
	seen := map[experiment.CellKey]int{}
	for i := range s.Runs {
		r := &s.Runs[i]
		if values, ok := throughput[string(r.Cell)]; ok {
			r.Observations[0].Value = values[seen[r.Cell]]
		}
		seen[r.Cell]++
		add(r, "app.cpu", noise(i, r.Round))
		if r.Observations[0].Value > 0 {
			add(r, "db.cpu", noise(i, r.Round))
		} else {
			add(r, "db.cpu", 0)
		}
		if r.Observations[0].Value > 0 {
			add(r, "latency_p50", noise(i, r.Round))
		}
	}
	s.Settings.Objectives = []experiment.Objective{{Metric: "latency_p50", Limit: 1e6}}
	return analysed(t, s)
}

func TestNoRequestSucceeds(t *testing.T) {
	const why = "no request succeeded in any round"
	zero := []float64{0, 0, 0, 0}
	tests := map[string]struct {
		throughput map[string][]float64
		want       map[string]string // by cell and metric
	}{
		"in one cell": {
			map[string][]float64{"a": zero},
			map[string]string{
				"a throughput": "a n=4 fails (" + why + ")", "a app.cpu": "a n=4 fails (" + why + ") FewRounds",
				"a latency_p50": "a n=0 fails (" + why + ")", "a slo:latency_p50": "a n=0 fails (" + why + ")",
				"b throughput": "b n=4 pooled+own equivalent FewRounds", "b app.cpu": "b n=4 pooled+own equivalent FewRounds",
				"b slo:latency_p50": "b n=4 meets FewRounds", "b db.cpu": "b n=4 pooled+own equivalent FewRounds",
			},
		},
		"but once": {
			map[string][]float64{"a": {0, 0, 0, 1}},
			map[string]string{
				"a throughput": "a n=4 not-tested (ErrNonPositive)", "a app.cpu": "a n=4 pooled+own equivalent FewRounds",
				"b throughput": "b n=4 pooled+own equivalent FewRounds", "a slo:latency_p50": "a n=1 not-tested (n < 3)",
				"b db.cpu": "b n=4 own inconclusive FewRounds", // by its unit
			},
		},
		"nor in the baseline": {
			map[string][]float64{"base": zero, "a": zero},
			map[string]string{
				"a throughput": "a n=4 not-tested (ErrNonPositive)", "b throughput": "b n=4 not-tested (ErrNonPositive)",
				"a app.cpu": "a n=4 pooled+own equivalent FewRounds", "base slo:latency_p50": "base n=0 fails (" + why + ")",
			},
		},
		"in some runs of the baseline either": {
			map[string][]float64{"base": {0, 10, 10, 10}, "a": zero},
			map[string]string{"a throughput": "a n=4 fails (" + why + ")", "b throughput": "b n=4 not-tested (ErrNonPositive)"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := answering(t, tt.throughput)
			got := map[string]string{}
			for _, c := range r.Comparisons {
				if key := string(c.Cell) + " " + c.Metric; tt.want[key] != "" {
					got[key] = summary(c)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("comparisons (-want +got):\n%s", diff)
			}
		})
	}
}

// A phase of the load has a throughput of its own.
func TestNoRequestSucceedsInAPhase(t *testing.T) {
	s := sweepOf(3, "base ooo", "a ooo", "b ooo")
	s.Settings.Metric = "spike:throughput"
	for i := range s.Runs {
		r := &s.Runs[i]
		r.Observations = nil
		add(r, "calm:throughput", map[experiment.CellKey]float64{"base": 10, "b": 10}[r.Cell])
		add(r, "spike:throughput", map[experiment.CellKey]float64{"base": noise(i, r.Round)}[r.Cell])
	}
	r := analysed(t, s)
	if got := rowOf(t, r, "a", "spike:throughput").Verdict; got != experiment.VerdictFails {
		t.Errorf("without an answer in any phase: %s", got)
	}
	if c := rowOf(t, r, "b", "spike:throughput"); c.Verdict != experiment.VerdictNotTested || c.Reason != "ErrNonPositive" {
		t.Errorf("with answers in one: %s", summary(c))
	}
}

// The scale of a metric is one for the whole sweep.
func TestScaleOfWhatMayBeZero(t *testing.T) {
	tests := map[string]struct {
		metric   string
		declared experiment.Metric
		zero     bool
		want     experiment.Scale
		reason   string
	}{
		"known, positive":         {metric: "in_flight", want: experiment.ScaleRatio},
		"known, zero somewhere":   {metric: "in_flight", zero: true, want: experiment.ScaleDifference},
		"of a service":            {metric: "db.net_sent", zero: true, want: experiment.ScaleDifference},
		"lateness":                {metric: "lateness_p99", zero: true, want: experiment.ScaleDifference},
		"unknown":                 {metric: "app.waits", zero: true, want: experiment.ScaleDifference},
		"unknown, positive":       {metric: "app.waits", want: experiment.ScaleRatio},
		"declared without scale":  {metric: "slope", declared: experiment.Metric{Name: "slope"}, zero: true, want: experiment.ScaleDifference},
		"declared by its ratio":   {metric: "size", declared: experiment.Metric{Name: "size", Scale: experiment.ScaleRatio}, zero: true, want: experiment.ScaleRatio, reason: "ErrNonPositive"},
		"whose zero is a failure": {metric: "latency_p50", zero: true, want: experiment.ScaleRatio, reason: "ErrNonPositive"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := sweepOf(4, "base oooo", "a oooo", "b oooo")
			s.Declared = []experiment.Metric{tt.declared}
			for i := range s.Runs {
				r := &s.Runs[i]
				v := noise(i, r.Round)
				if tt.zero && r.Cell == "b" && r.Round == 2 {
					v = 0
				}
				add(r, tt.metric, v)
			}
			r := analysed(t, s)
			for _, cell := range []string{"a", "b"} {
				if got := rowOf(t, r, cell, tt.metric); got.Scale != tt.want {
					t.Errorf("%s: scale %s, want %s", cell, got.Scale, tt.want)
				}
			}
			if got := rowOf(t, r, "b", tt.metric).Reason; got != tt.reason {
				t.Errorf("reason %q, want %q", got, tt.reason)
			}
		})
	}
}
