package analysis

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// climbed is a sweep of ladders of 1000 to 4000/s. Every setting of the pool has a
// capacity, above which arrivals are dropped.
func climbed(t *testing.T, rounds int, capacity map[string]float64) experiment.Sweep {
	t.Helper()
	rate, err := experiment.ParseTemplate("${rate}/s", experiment.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	var pool []experiment.Level
	value := func(text string) float64 { v, _, _ := experiment.LevelValue(text); return v }
	for _, text := range slices.SortedFunc(maps.Keys(capacity), func(a, b string) int { return sign(value(a) - value(b)) }) {
		pool = append(pool, experiment.Level{Text: text})
	}
	m := experiment.Matrix{
		Control: true,
		Factors: []experiment.Factor{
			{Name: "pool", Levels: pool},
			{Name: "rate", Levels: []experiment.Level{{Text: "1000"}, {Text: "2000"}, {Text: "3000"}, {Text: "4000"}}},
		},
		Design: experiment.Design{Across: []string{"rate"}},
		Load:   experiment.LoadSpec{Open: &experiment.OpenSpec{Rate: rate}},
	}
	s := experiment.Sweep{
		Rounds: rounds, Settings: defaults(), Factors: m.Factors, Across: m.Design.Across, Cells: m.Cells(), Ladders: m.Ladders(),
		Placement: experiment.Placement{Load: experiment.CoreSet{1}},
	}
	s.Settings.Metric = experiment.MetricCeiling
	rng := rand.New(rand.NewPCG(1, 9))
	for round := 1; round <= rounds; round++ {
		for _, c := range s.Cells {
			setting, _ := c.Lookup("pool")
			level, _ := c.Lookup("rate")
			var offered float64
			if _, err := fmt.Sscan(level, &offered); err != nil {
				t.Fatal(err)
			}
			most := capacity[setting] * math.Exp(0.01*rng.NormFloat64())
			achieved := min(offered, most)
			r := experiment.RunRecord{Run: experiment.Run{ID: int64(len(s.Runs) + 1), Cell: c.Key, Round: round, State: experiment.StateOK}}
			r.Observations = []experiment.Observation{
				observed("offered", offered), observed("throughput", achieved), observed("dropped", 1-achieved/offered),
				observed("error_rate", 0), observed("latency_p50", 0.001*(1+offered/4000)), observed("latency_p99", 0.004), observed("generator.cpu", 0.3),
			}
			if achieved < offered {
				r.Observations[5].Value = 0.4
			}
			s.Runs = append(s.Runs, r)
		}
	}
	return s
}

// inLadder changes the runs of one rung.
func inLadder(s *experiment.Sweep, pool, rate string, f func(r *experiment.RunRecord)) {
	for i := range s.Runs {
		c := s.Cells[slices.IndexFunc(s.Cells, func(c experiment.Cell) bool { return c.Key == s.Runs[i].Cell })]
		p, _ := c.Lookup("pool")
		x, _ := c.Lookup("rate")
		if p == pool && x == rate && c.Role != experiment.RoleControl {
			f(&s.Runs[i])
		}
	}
}

func setValue(r *experiment.RunRecord, metric string, v float64) {
	for i := range r.Observations {
		if r.Observations[i].Metric == metric {
			r.Observations[i].Value = v
		}
	}
}

func TestLaddersAreCompared(t *testing.T) {
	capacity := map[string]float64{"8": 2500, "64": 3200}
	for _, tc := range []struct {
		name   string
		change func(s *experiment.Sweep)
		want   string // the other ladder's row
		status LadderStatus
		notes  []string
	}{
		{"a ceiling each", func(*experiment.Sweep) {}, "n=5 pooled+own better", LadderFound, nil},
		{
			"two of five rounds to come", func(s *experiment.Sweep) {
				s.Runs = slices.DeleteFunc(s.Runs, func(r experiment.RunRecord) bool { return r.Round > 3 })
			}, "n=3 pooled+own pending FewRounds", LadderFound, nil,
		},
		{
			"nothing breaks in one round", func(s *experiment.Sweep) {
				inLadder(s, "64", "4000", func(r *experiment.RunRecord) {
					if r.Round == 2 {
						setValue(r, "throughput", 4000)
						setValue(r, "dropped", 0)
					}
				})
			}, "n=4 not-tested (above 4000/s) Incomplete FewRounds", LadderFound, nil,
		},
		{
			"nothing ever breaks", func(s *experiment.Sweep) {
				inLadder(s, "64", "4000", func(r *experiment.RunRecord) { setValue(r, "throughput", 4000); setValue(r, "dropped", 0) })
			}, "n=0 not-tested (above 4000/s)", LadderNotReached, nil,
		},
		{
			"a rung is invalid in one round", func(s *experiment.Sweep) {
				inLadder(s, "64", "2000", func(r *experiment.RunRecord) {
					if r.Round == 2 {
						r.State = experiment.StateInvalid
					}
				})
			}, "n=4 own better Incomplete FewRounds", LadderFound, nil,
		},
		{
			"a rung is always invalid", func(s *experiment.Sweep) {
				inLadder(s, "64", "4000", func(r *experiment.RunRecord) { r.State = experiment.StateInvalid })
			}, "n=0 invalid (no round with the whole ladder)", LadderNotReached, nil,
		},
		{
			"the subject fails at the top", func(s *experiment.Sweep) {
				inLadder(s, "64", "4000", func(r *experiment.RunRecord) { r.State = experiment.StateFailedSubject })
			}, "n=0 fails (the subject failed in every round)", LadderFound, nil,
		},
		{
			"a rung passes above a break", func(s *experiment.Sweep) {
				inLadder(s, "64", "2000", func(r *experiment.RunRecord) { setValue(r, "throughput", 1500); setValue(r, "dropped", 0.25) })
			}, "n=0 not-tested (non-monotone)", LadderNonMonotone, []string{NoteNonMonotone},
		},
		{
			"the generator is the limit", func(s *experiment.Sweep) {
				inLadder(s, "64", "4000", func(r *experiment.RunRecord) { setValue(r, "generator.cpu", 0.95) })
			}, "n=0 not-tested (the generator breaks first)", LadderClientLimited, []string{NoteClientLimited},
		},
		{
			"the generator's guard is off", func(s *experiment.Sweep) {
				inLadder(s, "64", "4000", func(r *experiment.RunRecord) { setValue(r, "generator.cpu", 0.95) })
				s.Settings.Guards = map[string]experiment.GuardSetting{"generator-cpu": {Off: true}}
			}, "n=5 pooled+own better", LadderFound, nil,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := climbed(t, 5, capacity)
			tc.change(&s)
			r := analysed(t, s)
			var others []string
			for _, c := range r.Comparisons {
				if c.Secondary {
					continue
				}
				if !strings.HasSuffix(string(c.Cell), "|ladder") {
					t.Errorf("a rung is compared by the ceiling: %s", c.Cell)
				}
				if (c.Estimate == nil) != (c.Reason != "") {
					t.Errorf("%s, %q: estimate %v; want one where there is a ceiling, and only there", c.Cell, c.Reason, c.Estimate)
				}
				if strings.Contains(string(c.Cell), string(experiment.RoleVaried)) {
					others = append(others, strings.TrimPrefix(summary(c), string(c.Cell)+" "))
				}
			}
			if diff := cmp.Diff([]string{tc.want}, others); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
			var notes []string
			for _, n := range r.Notes {
				if n.Code == NoteNonMonotone || n.Code == NoteClientLimited {
					notes = append(notes, n.Code)
				}
			}
			if diff := cmp.Diff(tc.notes, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			climbs, err := Climbs(s, s.Settings)
			if err != nil || len(climbs) != 3 {
				t.Fatalf("%d ladders, %v; want 3: baseline, control, pool=64", len(climbs), err)
			}
			if got := climbs[2].Ceiling.Status; got != tc.status {
				t.Errorf("status %s, want %s", got, tc.status)
			}
		})
	}
}

func TestTheSampleOfACeilingIsThePlateauOfEachRound(t *testing.T) {
	s := climbed(t, 3, map[string]float64{"8": 2500, "64": 3200})
	r := analysed(t, s)
	for _, l := range s.Ladders {
		got := intervalOf(t, r, string(l.Cell.Key), experiment.MetricCeiling)
		var want []float64
		for round := 1; round <= 3; round++ {
			sum, n := 0.0, 0.0
			for _, run := range s.Runs {
				achieved, _ := run.Observed("throughput")
				offered, _ := run.Observed("offered")
				if run.Round == round && slices.Contains(l.Rungs, run.Cell) && achieved < 0.97*offered {
					sum, n = sum+achieved, n+1
				}
			}
			want = append(want, sum/n)
		}
		if diff := cmp.Diff(want, got.Values, nearly); diff != "" {
			t.Errorf("%s (-want +got):\n%s", l.Cell.Key, diff)
		}
		if got.Unit != experiment.UnitPerSecond || got.Low == nil {
			t.Errorf("%s: %+v, want an interval in 1/s", l.Cell.Key, got)
		}
	}
}

func TestClimbsNameTheirRungs(t *testing.T) {
	s := climbed(t, 3, map[string]float64{"8": 2500, "64": 3200})
	s.Settings.Metric = "throughput" // whatever the primary metric is
	climbs, err := Climbs(s, s.Settings)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range climbs[0].Rungs {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s n=%d %s", r.Level, r.N, r.Broken)))
	}
	if diff := cmp.Diff([]string{"1000 n=3", "2000 n=3", "3000 n=3 dropped", "4000 n=3 dropped"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c := climbs[0].Ceiling
	if c.Sustained != 1 || c.Broken != 2 || c.TailFirst != 2 || c.MedianFirst != -1 {
		t.Errorf("got %+v", c)
	}
	if row := rowOf(t, analysed(t, s), string(s.Ladders[2].Cell.Key), experiment.MetricCeiling); !row.Secondary || row.Verdict != experiment.VerdictBetter {
		t.Errorf("beside another primary metric: %s", summary(row))
	}
}

// An objective is the limit of the tail: it breaks a rung by itself.
func TestAnObjectiveBreaksARung(t *testing.T) {
	s := climbed(t, 3, map[string]float64{"8": 2500, "64": 3200})
	s.Settings.Objectives = []experiment.Objective{{Metric: "latency_p50", Limit: 0.0014}}
	climbs, err := Climbs(s, s.Settings)
	if err != nil {
		t.Fatal(err)
	}
	if c := climbs[0]; c.Ceiling.Broken != 1 || c.Rungs[1].Broken != "objective" || c.Tail != "latency_p50" {
		t.Errorf("got %+v, want a break at the second rung", c)
	}
}

// A quantile of too few requests is not used, in a ladder as elsewhere.
func TestAnObjectiveOfFewRequestsBreaksNothing(t *testing.T) {
	for requests, broken := range map[float64]int{19: 2, 20: 1} {
		s := climbed(t, 3, map[string]float64{"8": 2500, "64": 3200})
		s.Settings.Objectives = []experiment.Objective{{Metric: "latency_p50", Limit: 0.0014}}
		inLadder(&s, "8", "2000", func(r *experiment.RunRecord) {
			r.Observations = append(r.Observations, observed("latency_count", requests))
		})
		climbs, err := Climbs(s, s.Settings)
		if err != nil {
			t.Fatal(err)
		}
		if c := climbs[0]; c.Ceiling.Broken != broken {
			t.Errorf("%v requests: got %+v, want a break at rung %d", requests, c.Ceiling, broken)
		}
	}
}

// Where the baseline fails, it was climbed, and has no plateau.
func TestABaselineThatFailsAboveItsCeiling(t *testing.T) {
	s := climbed(t, 3, map[string]float64{"8": 2500, "64": 3200})
	for _, rate := range []string{"3000", "4000"} {
		inLadder(&s, "8", rate, func(r *experiment.RunRecord) { r.State, r.Observations = experiment.StateFailedSubject, nil })
	}
	want := "n=0 invalid (no ladder with a plateau of the baseline)"
	if row := rowOf(t, analysed(t, s), string(s.Ladders[2].Cell.Key), experiment.MetricCeiling); !strings.HasSuffix(summary(row), want) {
		t.Errorf("%s, want %s", summary(row), want)
	}
}

func TestALadderOfUnknownCells(t *testing.T) {
	s := climbed(t, 3, map[string]float64{"8": 2500, "64": 3200})
	s.Ladders[0].Rungs = append(s.Ladders[0].Rungs, "nowhere")
	if _, err := New().Analyse(s, s.Settings); err == nil || !strings.Contains(err.Error(), `no cell "nowhere"`) {
		t.Errorf("got %v", err)
	}
}
