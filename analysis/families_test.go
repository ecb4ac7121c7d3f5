package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ceteris/ceteris/experiment"
)

// designed is a sweep of two stages under two conditions, with corners. Every stage
// and condition has a level and noise of its own.
func designed(rounds int, seed uint64) experiment.Sweep {
	levels := func(texts ...string) (out []experiment.Level) {
		for _, t := range texts {
			out = append(out, experiment.Level{Text: t})
		}
		return out
	}
	m := experiment.Matrix{
		Control: true,
		Factors: []experiment.Factor{
			{Name: "pool", Levels: levels("1", "8", "64")}, {Name: "cache", Levels: levels("off", "on")}, {Name: "users", Levels: levels("60", "1000")},
		},
		Design: experiment.Design{
			Across: []string{"users"}, Interactions: [][]string{{"pool", "cache"}},
			Stages: []experiment.Stage{{Name: "found"}, {Name: "tuned", Baseline: []experiment.Setting{{Factor: "pool", Level: "64"}}}},
		},
	}
	s := experiment.Sweep{Rounds: rounds, Settings: defaults(), Across: m.Design.Across, Factors: m.Factors, Cells: m.Cells()}
	rng := rand.New(rand.NewPCG(seed, 2))
	for _, stage := range []string{"found", "tuned"} {
		for round := 1; round <= rounds; round++ {
			for i, c := range s.Cells {
				if c.Stage != stage {
					continue
				}
				r := experiment.RunRecord{Run: experiment.Run{ID: int64(len(s.Runs) + 1), Cell: c.Key, Round: round, State: experiment.StateOK}}
				r.Observations = []experiment.Observation{observed("throughput", 1000*(1+0.01*float64(i))*math.Exp(0.02*rng.NormFloat64()))}
				s.Runs = append(s.Runs, r)
			}
		}
	}
	return s
}

// only keeps one stage and condition of a sweep.
func only(s experiment.Sweep, stage, condition string) experiment.Sweep {
	mine := map[experiment.CellKey]bool{}
	for _, c := range s.Cells {
		mine[c.Key] = c.Stage == stage && c.Condition == condition
	}
	s.Cells = slices.DeleteFunc(slices.Clone(s.Cells), func(c experiment.Cell) bool { return !mine[c.Key] })
	s.Runs = slices.DeleteFunc(slices.Clone(s.Runs), func(r experiment.RunRecord) bool { return !mine[r.Cell] })
	return s
}

func TestFamiliesDoNotInfluenceOneAnother(t *testing.T) {
	for _, rounds := range []int{3, 5, 10} {
		s := designed(rounds, uint64(rounds))
		whole := analysed(t, s)
		seen := 0
		for _, stage := range []string{"found", "tuned"} {
			for _, condition := range []string{"users=60", "users=1000"} {
				alone := analysed(t, only(s, stage, condition))
				for _, want := range alone.Comparisons {
					got := rowOf(t, whole, string(want.Cell), want.Metric)
					if diff := cmp.Diff(want, got, nearly); diff != "" {
						t.Errorf("%d rounds, %s (-alone +among others):\n%s", rounds, want.Cell, diff)
					}
					seen++
				}
			}
		}
		// 6 combinations less the baseline, and the control, in each of 4 families
		if want := 4 * 6; seen != want || len(whole.Comparisons) != want {
			t.Errorf("%d comparisons alone and %d together, want %d", seen, len(whole.Comparisons), want)
		}
	}
}

func TestPermutingStagesAndConditionsChangesOnlyOrder(t *testing.T) {
	s := designed(5, 1)
	want := analysed(t, s)
	slices.Reverse(s.Cells)
	slices.Reverse(s.Runs)
	got := analysed(t, s)
	// What was the earlier place is the later one now.
	if len(got.Changes) != len(want.Changes) {
		t.Errorf("%d changes, %d in order", len(got.Changes), len(want.Changes))
	}
	got.Changes, want.Changes = nil, nil
	order := cmp.Options{
		cmpopts.SortSlices(func(a, b experiment.Interval) bool { return a.Metric+string(a.Cell) < b.Metric+string(b.Cell) }),
		cmpopts.SortSlices(func(a, b experiment.Comparison) bool { return a.Metric+string(a.Cell) < b.Metric+string(b.Cell) }),
		cmpopts.SortSlices(func(a, b experiment.SweepNote) bool { return a.Code+string(a.Cell) < b.Code+string(b.Cell) }),
		cmpopts.SortSlices(func(a, b experiment.Response) bool {
			return a.Metric+a.Factor+a.Stage+a.Condition < b.Metric+b.Factor+b.Stage+b.Condition
		}),
	}
	if diff := cmp.Diff(want, got, nearly, order); diff != "" {
		t.Errorf("(-in order +reversed):\n%s", diff)
	}
}

func TestStagesHaveRoundsOfTheirOwn(t *testing.T) {
	s := designed(5, 3)
	tuned := map[experiment.CellKey]bool{}
	for _, c := range s.Cells {
		tuned[c.Key] = c.Stage == "tuned"
	}
	s.Runs = slices.DeleteFunc(s.Runs, func(r experiment.RunRecord) bool { return tuned[r.Cell] && r.Round > 2 })
	r := analysed(t, s)
	if r.RoundsDone != 2 || r.Planned != 5 {
		t.Errorf("%d of %d rounds, want those of the stage that has fewest: 2 of 5", r.RoundsDone, r.Planned)
	}
	for _, c := range r.Comparisons {
		state, pending := "final", false
		if tuned[c.Cell] {
			state, pending = "interim: 2 of 5", true
		}
		if c.State != state || (c.Verdict == experiment.VerdictPending) != pending {
			t.Errorf("%s: %s, %s; want %s", c.Cell, c.State, c.Verdict, state)
		}
	}
}

// A baseline that never counts takes only its own stage and condition with it.
func TestANoteNamesItsFamily(t *testing.T) {
	s := designed(5, 4)
	broken := s.Cells[slices.IndexFunc(s.Cells, func(c experiment.Cell) bool {
		return c.Role == experiment.RoleBaseline && c.Stage == "tuned" && c.Condition == "users=60"
	})]
	for i := range s.Runs {
		if s.Runs[i].Cell == broken.Key && s.Runs[i].Round == 2 {
			s.Runs[i].State = experiment.StateInvalid
		}
	}
	r := analysed(t, s)
	notes := slices.DeleteFunc(r.Notes, func(n experiment.SweepNote) bool { return n.Code == NoteSpread })
	if len(notes) != 1 || notes[0].Code != NoteWithoutBaseline || notes[0].Cell != broken.Key {
		t.Errorf("notes %+v, want one on %s", notes, broken.Key)
	}
	for _, c := range r.Comparisons {
		want := 5
		if strings.Contains(string(c.Cell), "tuned|") && strings.HasSuffix(string(c.Cell), "users=60") {
			want = 4
		}
		if c.N != want {
			t.Errorf("%s is compared over %d rounds, want %d", c.Cell, c.N, want)
		}
	}
}

func TestObjectives(t *testing.T) {
	s := sweepOf(5, "base ooooo", "control ooooo", "slow ooooo", "near ooooo", "few oiiio", "errs ooooo", "dead xxxxx", "gone iiiii", "once xiiii")
	s.Settings.Objectives = []experiment.Objective{{Metric: "latency_p95{search}", Limit: 0.3}, {Metric: "latency_p95{unseen}", Limit: 1}}
	centre := map[string]float64{"base": 0.1, "control": 0.1, "slow": 0.5, "near": 0.3, "few": 0.1, "errs": 0.1}
	for i := range s.Runs {
		r := &s.Runs[i]
		v := centre[string(r.Cell)] * noise(9, r.Round) / 1000
		r.Observations = append(r.Observations, observed("latency_p95{search}", v))
		if r.Cell == "errs" {
			r.Observations = append(r.Observations, observed("error_rate{search}", 0.2))
		}
	}
	r := analysed(t, s)
	got := map[string]string{}
	for _, c := range s.Cells {
		got[string(c.Key)] = summary(rowOf(t, r, string(c.Key), "slo:latency_p95{search}"))
	}
	want := map[string]string{
		"base": "base n=5 meets", "control": "control n=5 meets", "slow": "slow n=5 misses", "near": "near n=5 inconclusive",
		"few": "few n=2 not-tested (n < 3)", "errs": "errs n=5 not-tested (errors)",
		"dead": "dead n=0 fails (the subject failed in every round)", "gone": "gone n=0 invalid (no valid run)",
		"once": "once n=0 invalid (no valid run)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	slow, alone := rowOf(t, r, "slow", "slo:latency_p95{search}"), intervalOf(t, r, "slow", "latency_p95{search}")
	if *slow.Estimate != *alone.Estimate || *slow.Low != *alone.Low || !slow.Secondary {
		t.Errorf("the row %+v is not the interval of the cell %+v", slow, alone)
	}
	if c := rowOf(t, r, "base", "slo:latency_p95{unseen}"); c.Verdict != experiment.VerdictNotTested || c.Reason != "ErrNoData" {
		t.Errorf("what nothing observes: %s", summary(c))
	}
	s.Rounds = 6
	if c := rowOf(t, analysed(t, s), "base", "slo:latency_p95{search}"); c.Verdict != experiment.VerdictPending {
		t.Errorf("before the last round: %s", summary(c))
	}
}

// A baseline that fails in every round fails its objective; one that fails once does not.
func TestTheBaselineFailsAnObjective(t *testing.T) {
	for runs, want := range map[string]experiment.Verdict{"base xxx": experiment.VerdictFails, "base xii": experiment.VerdictInvalid} {
		s := sweepOf(3, runs, "a ooo")
		s.Settings.Objectives = []experiment.Objective{{Metric: "latency_p95", Limit: 1}}
		if c := rowOf(t, analysed(t, s), "base", "slo:latency_p95"); c.Verdict != want {
			t.Errorf("%s: %s, want %s", runs, summary(c), want)
		}
	}
}

// The limit itself is met.
func TestAnObjectiveIsMetAtItsLimit(t *testing.T) {
	s := sweepOf(3, "base ooo")
	for i := range s.Runs {
		s.Runs[i].Observations = []experiment.Observation{observed("latency_p95", 0.25)}
	}
	for limit, want := range map[float64]experiment.Verdict{0.25: experiment.VerdictMeets, 0.2499: experiment.VerdictMisses} {
		s.Settings.Objectives = []experiment.Objective{{Metric: "latency_p95", Limit: limit}}
		if c := rowOf(t, analysed(t, s), "base", "slo:latency_p95"); c.Verdict != want || !slices.Contains(c.Flags, experiment.FlagZeroVariance) {
			t.Errorf("0.25 s against %v: %s, want %s, without variance", limit, summary(c), want)
		}
	}
}

func TestQuantilesOfAPhaseNeedItsOwnRequests(t *testing.T) {
	for name, tc := range map[string]struct {
		count, rate string
		want        string
	}{
		"enough":      {"", "", "equivalent"},
		"few":         {"spike:latency_count{search}", "", "too few requests"},
		"errors":      {"", "spike:error_rate{search}", "errors"},
		"errors else": {"", "recovery:error_rate{search}", "equivalent"},
	} {
		t.Run(name, func(t *testing.T) {
			s := sweepOf(5, "base ooooo", "a ooooo")
			for i := range s.Runs {
				r := &s.Runs[i]
				v := r.Observations[0].Value
				r.Observations = []experiment.Observation{observed("spike:latency_p99{search}", v/1e5)}
				for metric, value := range map[string]float64{tc.count: 999, tc.rate: 0.5} {
					if metric != "" {
						r.Observations = append(r.Observations, observed(metric, value))
					}
				}
			}
			c := rowOf(t, analysed(t, s), "a", "spike:latency_p99{search}")
			if got := fmt.Sprint(c.Verdict); got != tc.want && c.Reason != tc.want {
				t.Errorf("got %s, want %s", summary(c), tc.want)
			}
		})
	}
}

// What a matrix says of its metrics decides verdicts; the unit may be left to what was
// observed.
func TestDeclaredMetrics(t *testing.T) {
	s := sweepOf(5, "base ooooo", "a ooooo")
	for i := range s.Runs {
		r := &s.Runs[i]
		v := noise(3, r.Round)
		if r.Cell == "a" {
			v = 2 * noise(5, r.Round)
		}
		r.Observations = []experiment.Observation{{Metric: "app.queue", Phase: experiment.PhaseMeasure, Value: v, Unit: experiment.UnitCount}}
	}
	for better, want := range map[experiment.Direction]experiment.Verdict{
		experiment.LowerIsBetter: experiment.VerdictWorse, experiment.HigherIsBetter: experiment.VerdictBetter, experiment.NoDirection: experiment.VerdictHigher,
	} {
		s.Declared = []experiment.Metric{{Name: "app.queue", Better: better}}
		r := analysed(t, s)
		if c := rowOf(t, r, "a", "app.queue"); c.Verdict != want {
			t.Errorf("%q is better: %s, want %s", better, summary(c), want)
		}
		if i := intervalOf(t, r, "a", "app.queue"); i.Unit != experiment.UnitCount {
			t.Errorf("unit %q, want that of the observations", i.Unit)
		}
	}
}
