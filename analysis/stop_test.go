package analysis

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ceteris/ceteris/experiment"
)

// underRule is a sweep of a baseline, its control and two cells, one of which differs by
// 5%, with a rule and so many rounds done.
func underRule(rule experiment.Stopping, rounds int) experiment.Sweep {
	done := strings.Repeat("o", rounds)
	s := sweepOf(rule.AtMost, "base "+done, "control "+done, "same "+done, "slow "+done)
	eachRun(&s, "slow", func(r *experiment.RunRecord) { r.Observations[0].Value /= 1.05 })
	s.Stopping = rule
	return s
}

func judgedBy(t *testing.T, s experiment.Sweep, set experiment.Settings) experiment.Results {
	t.Helper()
	r, err := New().Analyse(s, set)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRules(t *testing.T) {
	precise := func(within float64) experiment.Stopping {
		return experiment.Stopping{Until: experiment.StopPrecise, Within: within, AtMost: 30}
	}
	decided := experiment.Stopping{Until: experiment.StopDecided, AtMost: 30}
	accepted := defaults()
	accepted.AcceptRounds = true
	// Between 2% and 4%: neither equivalent to none nor different as long as it is noisy.
	near := func(s *experiment.Sweep) {
		i := 0
		eachRun(s, "slow", func(r *experiment.RunRecord) {
			r.Observations[0].Value *= 1.05 * 1.02
			if i++; i%2 == 0 {
				r.Observations[0].Value *= 1.05
			}
		})
	}
	for _, tc := range []struct {
		name   string
		rule   experiment.Stopping
		rounds int
		change func(*experiment.Sweep)
		set    experiment.Settings
		want   experiment.StopReport // but width
		state  string
		row    string // of the cell "slow"
	}{
		{
			"no look yet", precise(0), 4, nil, defaults(),
			experiment.StopReport{Until: "precise", Confidence: 0.97, Target: 0.03},
			"interim: 4 of at most 30", "slow n=4 pooled+own pending FewRounds",
		},
		{
			"narrow enough", precise(0), 5, nil, defaults(),
			experiment.StopReport{Until: "precise", Met: true, MetIn: []string{"main"}, At: 5, Confidence: 0.97, Target: 0.03},
			"final", "slow n=5 pooled+own worse",
		},
		{
			"too wide", precise(0.001), 6, nil, defaults(),
			experiment.StopReport{Until: "precise", At: 6, Confidence: 0.97, Target: 0.001, Open: 2},
			"interim: 6 of at most 30", "slow n=6 pooled+own pending",
		},
		{
			"too wide at the last round", precise(0.0001), 30, nil, defaults(),
			experiment.StopReport{Until: "precise", At: 30, Confidence: 0.97, Target: 0.0001, Open: 2},
			"final", "slow n=30 own worse",
		},
		{
			"too wide, and stopped by hand", precise(0.001), 6, nil, accepted,
			experiment.StopReport{Until: "precise", At: 6, Confidence: 0.97, Target: 0.001, Open: 2},
			"stopped: 6 of at most 30", "slow n=6 pooled+own worse",
		},
		{
			"decided at the first look", decided, 5, nil, defaults(),
			experiment.StopReport{Until: "decided", Met: true, MetIn: []string{"main"}, At: 5, Confidence: 0.9875},
			"final", "slow n=5 pooled+own worse",
		},
		{
			"undecided", decided, 5, near, defaults(),
			experiment.StopReport{Until: "decided", At: 5, Confidence: 0.9875, Open: 2},
			"interim: 5 of at most 30", "slow n=5 pooled+own pending",
		},
		{
			"between two looks only the first is seen", decided, 7, near, defaults(),
			experiment.StopReport{Until: "decided", At: 5, Confidence: 0.9875, Open: 2},
			"interim: 7 of at most 30", "slow n=5 pooled+own pending",
		},
		{
			"stopped by hand between two looks, which is one", decided, 7, near, accepted,
			experiment.StopReport{Until: "decided", At: 5, Confidence: 0.9875},
			"stopped: 7 of at most 30", "slow n=7 pooled+own better",
		},
		{
			"a cell that fails is decided", precise(0), 5,
			func(s *experiment.Sweep) {
				eachRun(s, "slow", func(r *experiment.RunRecord) { r.State = experiment.StateFailedSubject })
			}, defaults(),
			experiment.StopReport{Until: "precise", Met: true, MetIn: []string{"main"}, At: 5, Confidence: 0.97, Target: 0.03},
			"final",
			"slow n=0 fails (the subject failed in every round)",
		},
		{
			"a cell that lacks rounds is not", decided, 5,
			func(s *experiment.Sweep) {
				eachRun(s, "slow", func(r *experiment.RunRecord) {
					if r.Round > 2 {
						r.State = experiment.StateInvalid
					}
				})
			}, defaults(),
			experiment.StopReport{Until: "decided", At: 5, Confidence: 0.9875, Open: 1},
			"interim: 5 of at most 30", "slow n=2 pending (n < 3) Incomplete",
		},
		{
			"without a baseline nothing is", decided, 5,
			func(s *experiment.Sweep) {
				eachRun(s, "base", func(r *experiment.RunRecord) { r.State = experiment.StateInvalid })
			}, defaults(),
			experiment.StopReport{Until: "decided", At: 5, Confidence: 0.9875},
			"interim: 5 of at most 30", "slow n=0 pending (no valid run of the baseline)",
		},
		{
			"values that do not vary are precise", precise(0), 5,
			func(s *experiment.Sweep) {
				for i := range s.Runs {
					s.Runs[i].Observations[0].Value = 7
				}
			}, defaults(),
			experiment.StopReport{Until: "precise", Met: true, MetIn: []string{"main"}, At: 5, Confidence: 0.97, Target: 0.03},
			"final",
			"slow n=5 not-tested (AllTied) AllTied",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := underRule(tc.rule, tc.rounds)
			if tc.change != nil {
				tc.change(&s)
			}
			r := judgedBy(t, s, tc.set)
			if diff := cmp.Diff(r.Stop, tc.want, cmpopts.IgnoreFields(experiment.StopReport{}, "HalfWidth"), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
				t.Errorf("report (-got +want):\n%s", diff)
			}
			row := rowOf(t, r, "slow", "throughput")
			if got := summary(row); got != tc.row || row.State != tc.state || row.Confidence != 0.95 {
				t.Errorf("%s at %v, %s; want %s at 0.95, %s", got, row.Confidence, row.State, tc.row, tc.state)
			}
			want := tc.rule.AtMost
			if tc.want.Met {
				want = tc.rounds
			}
			if r.RoundsDone != tc.rounds || r.Planned != want || r.Settings.Confidence != 0.95 {
				t.Errorf("%d of %d rounds at %v, want %d of %d", r.RoundsDone, r.Planned, r.Settings.Confidence, tc.rounds, want)
			}
		})
	}
}

// What a rule reports at the nominal confidence is what a fixed number of rounds gives
// at that of the rule: intervals, those of equivalence, and adjusted p-values at the
// nominal level are those of the rule at its own.
func TestARuleReportsAtTheNominalConfidence(t *testing.T) {
	for rule, level := range map[experiment.StopRule]float64{experiment.StopPrecise: 0.97, experiment.StopDecided: 0.9875} {
		s := underRule(experiment.Stopping{Until: rule, AtMost: 30}, 5)
		got := judgedBy(t, s, defaults())
		fixed := defaults()
		fixed.Confidence = RuleConfidence(s.Stopping, 0.95)
		s.Stopping, s.Rounds = experiment.Stopping{}, 5
		want := judgedBy(t, s, fixed)
		for i := range want.Intervals {
			want.Intervals[i].Confidence = 0.95
		}
		for i := range want.Comparisons {
			want.Comparisons[i].Confidence = 0.95
			*want.Comparisons[i].PAdjusted = min(1, *want.Comparisons[i].PAdjusted*0.05/(1-level))
		}
		if diff := cmp.Diff(got, want, cmpopts.IgnoreFields(experiment.Results{}, "Stop", "Settings", "SettingsHash"), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Errorf("%s (-got +want):\n%s", rule, diff)
		}
	}
}

// Each stage has rounds of its own, and the sweep is done when the last of them is.
func TestARuleIsMetStageByStage(t *testing.T) {
	s := underRule(experiment.Stopping{Until: experiment.StopPrecise, AtMost: 30}, 8)
	for i := range s.Cells {
		s.Cells[i].Stage = "first"
	}
	for _, c := range s.Cells[:4] {
		c.Stage, c.Key = "second", "second-"+c.Key
		s.Cells = append(s.Cells, c)
		for round := range 3 {
			r := s.Runs[round]
			r.ID, r.Cell, r.Observations = int64(1000+len(s.Runs)), c.Key, []experiment.Observation{observed("throughput", noise(len(s.Cells), round))}
			s.Runs = append(s.Runs, r)
		}
	}
	r := judgedBy(t, s, defaults())
	if diff := cmp.Diff(r.Stop.MetIn, []string{"first"}); diff != "" || r.Stop.Met || r.Stop.At != 0 {
		t.Errorf("met %v in %v at %d, want it in the first stage alone", r.Stop.Met, r.Stop.MetIn, r.Stop.At)
	}
	for cell, want := range map[string]string{"slow": "final", "second-slow": "interim: 3 of at most 30"} {
		if got := rowOf(t, r, cell, "throughput").State; got != want {
			t.Errorf("%s: %s, want %s", cell, got, want)
		}
	}
}

// The width that is reported is that of the widest comparison.
func TestLookAt(t *testing.T) {
	rounds := []int{1, 2, 3, 4, 5}
	of := func(cell int, spread float64) Sample {
		s := Sample{Cell: experiment.CellKey(rune('a' + cell)), Rounds: rounds}
		for r := range rounds {
			s.Values = append(s.Values, math.Pow(noise(cell, r)/1000, spread))
		}
		return s
	}
	rule := experiment.Stopping{Until: experiment.StopPrecise, AtMost: 30}
	o := Options{Metric: experiment.Metric{Scale: experiment.ScaleRatio}, Confidence: 0.95, MinimumEffect: 0.03}
	l := LookAt(rule, of(0, 1), []Sample{of(1, 1), of(2, 1.2)}, o)
	widest := 0.0
	for _, c := range l.Family.Comparisons {
		widest = max(widest, math.Sqrt(*c.High / *c.Low)-1)
	}
	if math.Abs(l.HalfWidth-widest) > 1e-12 || l.Met != (widest <= 0.03) || l.Family.Comparisons[0].Confidence != RuleConfidence(rule, 0.95) {
		t.Errorf("half-width %v, met %v; the widest is %v", l.HalfWidth, l.Met, widest)
	}
	shares := o
	shares.Metric = experiment.Metric{Scale: experiment.ScaleDifference, Unit: experiment.UnitRatio}
	if got := shares.halfWidth(0); got != minimumShare {
		t.Errorf("shares are precise at %v, want %v", got, minimumShare)
	}
	shares.Metric.Unit = experiment.UnitBytes
	if l := LookAt(rule, of(0, 1), []Sample{of(1, 1)}, shares); l.Met || l.Open != 1 {
		t.Errorf("bytes, as differences, are precise by no fraction: %+v", l)
	}
}
