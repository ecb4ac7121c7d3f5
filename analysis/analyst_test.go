package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// gridState reads a letter of a grid of runs: one line a cell, one letter a round, in order of rounds.
//
//	o ok   i invalid   x failed:subject   s skipped   p pending   r running
//	f failed:infrastructure   t interrupted   u superseded   . no run
func gridState(letter rune) experiment.RunState {
	return map[rune]experiment.RunState{
		'o': experiment.StateOK, 'i': experiment.StateInvalid, 'x': experiment.StateFailedSubject, 's': experiment.StateSkipped,
		'p': experiment.StatePending, 'r': experiment.StateRunning, 'f': experiment.StateFailedInfra,
		't': experiment.StateInterrupted, 'u': experiment.StateSuperseded,
	}[letter]
}

// noise is what rounds and cells add to 1000, so that nothing is tied.
func noise(cell, round int) float64 {
	level := rand.New(rand.NewPCG(uint64(round), 0)).NormFloat64()
	own := rand.New(rand.NewPCG(uint64(round), uint64(cell)+1)).NormFloat64()
	return 1000 * math.Exp(0.05*level+0.003*own)
}

// sweepOf builds a sweep from a grid: the first cell is the baseline, one named
// control is the control.
func sweepOf(planned int, lines ...string) experiment.Sweep {
	s := experiment.Sweep{Rounds: planned, Settings: defaults()}
	for i, line := range lines {
		name, states, _ := strings.Cut(line, " ")
		c := experiment.Cell{Key: experiment.CellKey(name), Stage: experiment.MainStage, Role: experiment.RoleVaried, Factor: "f", Level: name}
		switch {
		case i == 0:
			c.Role = experiment.RoleBaseline
		case name == "control":
			c.Role = experiment.RoleControl
		}
		s.Cells = append(s.Cells, c)
		for round, letter := range []rune(strings.TrimSpace(states)) {
			if letter == '.' {
				continue
			}
			r := experiment.RunRecord{Run: experiment.Run{ID: int64(len(s.Runs) + 1), Cell: c.Key, Round: round + 1, State: gridState(letter)}}
			r.Observations = []experiment.Observation{observed("throughput", noise(i, round))}
			s.Runs = append(s.Runs, r)
		}
	}
	return s
}

func observed(metric string, v float64) experiment.Observation {
	return experiment.Observation{Metric: metric, Phase: experiment.PhaseMeasure, Value: v}
}

// eachRun changes every run of a cell.
func eachRun(s *experiment.Sweep, cell string, f func(r *experiment.RunRecord)) {
	for i := range s.Runs {
		if string(s.Runs[i].Cell) == cell {
			f(&s.Runs[i])
		}
	}
}

func rowOf(t *testing.T, r experiment.Results, cell, metric string) experiment.Comparison {
	t.Helper()
	i := slices.IndexFunc(r.Comparisons, func(c experiment.Comparison) bool { return string(c.Cell) == cell && c.Metric == metric })
	if i < 0 {
		t.Fatalf("no comparison of %s in %s", metric, cell)
	}
	return r.Comparisons[i]
}

func intervalOf(t *testing.T, r experiment.Results, cell, metric string) experiment.Interval {
	t.Helper()
	i := slices.IndexFunc(r.Intervals, func(c experiment.Interval) bool { return string(c.Cell) == cell && c.Metric == metric })
	if i < 0 {
		t.Fatalf("no interval of %s in %s", metric, cell)
	}
	return r.Intervals[i]
}

// summary of a row: cell n method verdict (reason) flags.
func summary(c experiment.Comparison) string {
	out := fmt.Sprintf("%s n=%d %s %s", c.Cell, c.N, c.Method, c.Verdict)
	if c.Reason != "" {
		out += " (" + c.Reason + ")"
	}
	for _, f := range c.Flags {
		out += " " + string(f)
	}
	return strings.Join(strings.Fields(out), " ")
}

func TestWhichRunsCount(t *testing.T) {
	for _, tc := range []struct {
		name    string
		planned int
		grid    []string
		want    []string
		done    int
		state   string
		notes   []string
	}{
		{
			"complete", 5,
			[]string{"base ooooo", "a ooooo", "b ooooo"},
			[]string{"a n=5 pooled+own equivalent", "b n=5 pooled+own equivalent"},
			5, "final", nil,
		},
		{
			"more rounds than planned", 3,
			[]string{"base ooooo", "a ooooo"},
			[]string{"a n=5 pooled+own equivalent"},
			5, "final", nil,
		},
		{
			"interim", 5,
			[]string{"base ooopp", "a ooopp", "b oooop"},
			[]string{"a n=3 pooled+own pending FewRounds", "b n=3 pooled+own pending FewRounds"},
			3, "interim: 3 of 5", nil,
		},
		{
			"a cell still under way keeps its round out", 4,
			[]string{"base oooo", "a oroo", "b oooo"},
			[]string{"a n=3 pooled+own pending FewRounds", "b n=3 pooled+own pending FewRounds"},
			3, "interim: 3 of 4", nil,
		},
		{
			"interrupted and superseded runs are to come again", 5,
			[]string{"base ooooo", "a ootoo", "b ooouo"},
			[]string{"a n=3 pooled+own pending FewRounds", "b n=3 pooled+own pending FewRounds"},
			3, "interim: 3 of 5", nil,
		},
		{
			"infrastructure failed: the cell is missing", 5,
			[]string{"base ooooo", "a oofoo", "b ooooo"},
			[]string{"a n=4 own equivalent Incomplete FewRounds", "b n=5 pooled+own equivalent"},
			5, "final", nil,
		},
		{
			"invalid runs leave", 5,
			[]string{"base ooooo", "a iiooo", "b iiiio", "c iiiii"},
			[]string{"a n=3 own equivalent Incomplete FewRounds", "b n=1 not-tested (n < 3) Incomplete", "c n=0 invalid (no valid run)"},
			5, "final", nil,
		},
		{
			"the subject fails", 4,
			[]string{"base oooo", "a xxss", "b xxoo", "c xooo", "d xxxi"},
			[]string{
				"a n=0 fails (the subject failed in every round)", "b n=2 not-tested (n < 3) Incomplete Survivors",
				"c n=3 own equivalent Incomplete FewRounds Survivors", "d n=0 invalid (no valid run)",
			},
			4, "final", nil,
		},
		{
			"fails counts the rounds of the baseline", 4,
			[]string{"base ooxo", "a xxix", "b oooo"},
			[]string{"a n=0 fails (the subject failed in every round)", "b n=3 pooled+own equivalent FewRounds"},
			4, "final",
			[]string{"round-without-baseline"},
		},
		{
			"a failure where the baseline has no run makes no survivors", 4,
			[]string{"base ooox", "a ooox"},
			[]string{"a n=3 pooled+own equivalent FewRounds"},
			4, "final",
			[]string{"round-without-baseline"},
		},
		{
			"round without baseline", 5,
			[]string{"base oiooo", "a ooooo"},
			[]string{"a n=4 pooled+own equivalent FewRounds"},
			5, "final",
			[]string{"round-without-baseline"},
		},
		{
			"no baseline", 3,
			[]string{"base iii", "a ooo", "b xxx"},
			[]string{"a n=0 invalid (no valid run of the baseline)", "b n=0 invalid (no valid run of the baseline)"},
			3, "final", nil,
		},
		{
			"ten rounds of the baseline choose the method for all", 10,
			[]string{"base oooooooooo", "a oooooooooo", "b ooooooooi."},
			[]string{"a n=10 own equivalent", "b n=8 own equivalent Incomplete"},
			10, "final", nil,
		},
		{
			"nine rounds and a round without baseline", 10,
			[]string{"base oooooooooi", "a oooooooooo", "b oooooooooo"},
			[]string{"a n=9 pooled+own equivalent", "b n=9 pooled+own equivalent"},
			10, "final",
			[]string{"round-without-baseline"},
		},
		{
			"the control stands outside the family", 5,
			[]string{"base ooooo", "control ooooo", "a ooooo"},
			[]string{"control n=5 own equivalent", "a n=5 pooled+own equivalent"},
			5, "final", nil,
		},
		{"two rounds", 2, []string{"base oo", "a oo"}, []string{"a n=2 not-tested (n < 3)"}, 2, "final", nil},
		{"nothing yet", 3, []string{"base ppp", "a ppp"}, []string{"a n=0 pending (no valid run of the baseline)"}, 0, "interim: 0 of 3", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := analysed(t, sweepOf(tc.planned, tc.grid...))
			var got, notes []string
			for _, c := range r.Comparisons {
				got = append(got, summary(c))
				if c.State != tc.state {
					t.Errorf("%s: state %q, want %q", c.Cell, c.State, tc.state)
				}
			}
			for _, n := range r.Notes {
				notes = append(notes, n.Code)
			}
			if diff := cmp.Diff(got, tc.want); diff != "" {
				t.Errorf("rows (got -, want +):\n%s", diff)
			}
			if diff := cmp.Diff(notes, tc.notes); diff != "" {
				t.Errorf("notes (got -, want +):\n%s", diff)
			}
			if r.RoundsDone != tc.done || r.Planned != tc.planned {
				t.Errorf("%d of %d rounds, want %d of %d", r.RoundsDone, r.Planned, tc.done, tc.planned)
			}
		})
	}
}

func TestPendingKeepsItsNumbers(t *testing.T) {
	r := analysed(t, sweepOf(5, "base ooo", "a ooo"))
	c := rowOf(t, r, "a", "throughput")
	if c.Verdict != experiment.VerdictPending || c.Material != "" {
		t.Errorf("verdict %s %s, want pending", c.Verdict, c.Material)
	}
	if c.Low == nil || c.High == nil || c.P == nil {
		t.Errorf("no interval: %+v", c)
	}
}

func TestValuesThatCannotBeTested(t *testing.T) {
	set := func(v func(i int, old float64) float64) func(r *experiment.RunRecord) {
		i := 0
		return func(r *experiment.RunRecord) {
			r.Observations[0].Value = v(i, r.Observations[0].Value)
			i++
		}
	}
	constant := func(v float64) func(int, float64) float64 { return func(int, float64) float64 { return v } }
	second := func(v float64) func(int, float64) float64 {
		return func(i int, old float64) float64 {
			if i == 1 {
				return v
			}
			return old
		}
	}
	for _, tc := range []struct {
		name   string
		change func(s *experiment.Sweep)
		want   []string
	}{
		{
			"zero in a cell", func(s *experiment.Sweep) { eachRun(s, "a", set(second(0))) },
			[]string{"a n=4 not-tested (ErrNonPositive)", "b n=4 pooled+own equivalent FewRounds"},
		},
		{
			"negative in the baseline", func(s *experiment.Sweep) { eachRun(s, "base", set(second(-1))) },
			[]string{"a n=4 not-tested (ErrNonPositive)", "b n=4 not-tested (ErrNonPositive)"},
		},
		{
			"NaN in a cell", func(s *experiment.Sweep) { eachRun(s, "a", set(second(math.NaN()))) },
			[]string{"a n=4 not-tested (ErrNotFinite)", "b n=4 pooled+own equivalent FewRounds"},
		},
		{
			"infinity in the baseline", func(s *experiment.Sweep) { eachRun(s, "base", set(second(math.Inf(1)))) },
			[]string{"a n=4 not-tested (ErrNotFinite)", "b n=4 not-tested (ErrNotFinite)"},
		},
		{"metric missing in a cell", func(s *experiment.Sweep) {
			eachRun(s, "a", func(r *experiment.RunRecord) { r.Observations = nil })
		}, []string{"a n=0 not-tested (ErrNoData)", "b n=4 pooled+own equivalent FewRounds"}},
		{"metric missing in the other rounds", func(s *experiment.Sweep) {
			for cell, rest := range map[string]int{"base": 0, "a": 1} {
				i := 0
				eachRun(s, cell, func(r *experiment.RunRecord) {
					if i%2 == rest {
						r.Observations = nil
					}
					i++
				})
			}
		}, []string{"a n=0 not-tested (no round in common with the baseline)", "b n=2 not-tested (n < 3)"}},
		{"metric missing everywhere", func(s *experiment.Sweep) {
			for i := range s.Runs {
				s.Runs[i].Observations = nil
			}
		}, []string{"a n=0 not-tested (ErrNoData)", "b n=0 not-tested (ErrNoData)"}},
		{"constant ratio", func(s *experiment.Sweep) {
			i := 0
			eachRun(s, "a", func(r *experiment.RunRecord) { r.Observations[0].Value = 1.07 * noise(0, i); i++ })
		}, []string{"a n=4 not-tested (ZeroVariance) FewRounds ZeroVariance", "b n=4 pooled+own equivalent FewRounds"}},
		{"all one number", func(s *experiment.Sweep) {
			eachRun(s, "a", set(constant(7)))
			eachRun(s, "base", set(constant(7)))
		}, []string{"a n=4 not-tested (AllTied) FewRounds AllTied", "b n=4 pooled+own better FewRounds"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := sweepOf(4, "base oooo", "a oooo", "b oooo")
			tc.change(&s)
			var got []string
			for _, c := range analysed(t, s).Comparisons {
				got = append(got, summary(c))
			}
			if diff := cmp.Diff(got, tc.want); diff != "" {
				t.Errorf("rows (got -, want +):\n%s", diff)
			}
		})
	}
}

func TestTiedAndConstantRows(t *testing.T) {
	s := sweepOf(5, "base ooooo", "tied ooooo", "twice ooooo")
	for cell, v := range map[string]float64{"base": 3, "tied": 3, "twice": 6} {
		eachRun(&s, cell, func(r *experiment.RunRecord) { r.Observations[0].Value = v })
	}
	r := analysed(t, s)
	if c := rowOf(t, r, "tied", "throughput"); c.P == nil || *c.P != 1 || *c.Estimate != 1 || c.Low != nil {
		t.Errorf("tied: %+v", c)
	}
	if c := rowOf(t, r, "twice", "throughput"); c.P != nil || math.Abs(*c.Estimate-2) > 1e-12 || c.Low != nil {
		t.Errorf("twice: %+v", c)
	}
	if i := intervalOf(t, r, "tied", "throughput"); *i.Low != 3 || *i.High != 3 || !slices.Contains(i.Flags, experiment.FlagZeroVariance) {
		t.Errorf("interval: %+v", i)
	}
}

func TestErrorsOfTheSweep(t *testing.T) {
	twice := sweepOf(3, "base ooo", "a ooo")
	again := twice.Runs[4]
	again.ID = 99
	twice.Runs = append(twice.Runs, again)
	unknown := sweepOf(3, "base ooo", "a ooo")
	unknown.Runs[3].Cell = "nowhere"
	given := sweepOf(3, "base ooo", "a ooo")
	given.Runs[0].Observations = append(given.Runs[0].Observations, observed("throughput", 5))
	mixed := sweepOf(3, "base ooo", "a ooo")
	mixed.Runs[2].Round = 0
	for _, tc := range []struct {
		name  string
		sweep experiment.Sweep
		want  []string
	}{
		{"two counting runs", twice, []string{"f=a", "round 2", "run 5", "run 99"}},
		{"unknown cell", unknown, []string{"run 4", "nowhere"}},
		{"two values in one run", given, []string{"run 1", "throughput", "5"}},
		{"with and without rounds", mixed, []string{"main", "round"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := New().Analyse(tc.sweep, tc.sweep.Settings)
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range tc.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not name %q", err, w)
				}
			}
		})
	}
}

func TestSettingsOutOfRange(t *testing.T) {
	nan := math.NaN()
	for name, change := range map[string]func(*experiment.Settings){
		"metric":     func(s *experiment.Settings) { s.Metric = "" },
		"confidence": func(s *experiment.Settings) { s.Confidence = 1 },
		"nan":        func(s *experiment.Settings) { s.Confidence = nan },
		"effect":     func(s *experiment.Settings) { s.MinimumEffect = -0.1 },
		"error rate": func(s *experiment.Settings) { s.ErrorRate = nan },
		"guard":      func(s *experiment.Settings) { s.Guards = map[string]experiment.GuardSetting{"g": {Above: &nan}} },
	} {
		t.Run(name, func(t *testing.T) {
			s := sweepOf(3, "base ooo", "a ooo")
			change(&s.Settings)
			if _, err := New().Analyse(s, s.Settings); err == nil {
				t.Error("no error")
			}
		})
	}
}
