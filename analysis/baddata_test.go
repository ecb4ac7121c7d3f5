package analysis

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// What cannot be tested has a named result: never a panic, and never a number that is
// none. Rows are of cell a; the others show that it takes none of them with it.
func TestBadData(t *testing.T) {
	set := func(cell string, round int, v float64) func(*experiment.Sweep) {
		return func(s *experiment.Sweep) {
			eachRun(s, cell, func(r *experiment.RunRecord) {
				if round == 0 || r.Round == round {
					r.Observations[0].Value = v
				}
			})
		}
	}
	state := func(cell string, round int, state experiment.RunState) func(*experiment.Sweep) {
		return func(s *experiment.Sweep) {
			eachRun(s, cell, func(r *experiment.RunRecord) {
				if round == 0 || r.Round == round {
					r.State = state
				}
			})
		}
	}
	missing := func(cell string, rounds ...int) func(*experiment.Sweep) {
		return func(s *experiment.Sweep) {
			eachRun(s, cell, func(r *experiment.RunRecord) {
				for _, round := range rounds {
					if r.Round == round {
						r.Observations = nil
					}
				}
			})
		}
	}
	rounds := func(n int) func(*experiment.Sweep) {
		return func(s *experiment.Sweep) {
			var kept []experiment.RunRecord
			for _, r := range s.Runs {
				if r.Round <= n {
					kept = append(kept, r)
				}
			}
			s.Runs, s.Rounds = kept, n
		}
	}
	renamed := func(s *experiment.Sweep) {
		s.Settings.Metric = "app.balance"
		for i := range s.Runs {
			s.Runs[i].Observations[0].Metric = "app.balance"
		}
	}
	const fine = "b n=5 pooled+own equivalent"
	tests := map[string]struct {
		change   []func(*experiment.Sweep)
		a, b     string // rows
		interval string // of cell a: values, whether there is an estimate, an interval; flags
	}{
		"nothing is wrong":      {nil, "a n=5 pooled+own equivalent", fine, "5 estimate interval"},
		"one round":             {[]func(*experiment.Sweep){rounds(1)}, "a n=1 not-tested (n < 3)", "b n=1 not-tested (n < 3)", "1 estimate"},
		"two rounds":            {[]func(*experiment.Sweep){rounds(2)}, "a n=2 not-tested (n < 3)", "b n=2 not-tested (n < 3)", "2 estimate"},
		"two runs in common":    {[]func(*experiment.Sweep){missing("a", 1, 2, 3)}, "a n=2 not-tested (n < 3) Incomplete", fine, "2 estimate"},
		"missing in a run":      {[]func(*experiment.Sweep){missing("a", 2)}, "a n=4 own equivalent Incomplete FewRounds", fine, "4 estimate interval FewRounds"},
		"missing in all runs":   {[]func(*experiment.Sweep){missing("a", 1, 2, 3, 4, 5)}, "a n=0 not-tested (ErrNoData)", fine, "0"},
		"missing in a baseline": {[]func(*experiment.Sweep){missing("base", 2)}, "a n=4 pooled+own equivalent FewRounds", "b n=4 pooled+own equivalent FewRounds", "5 estimate interval"},
		"missing in all baselines": {
			[]func(*experiment.Sweep){missing("base", 1, 2, 3, 4, 5)}, "a n=0 not-tested (ErrNoData)", "b n=0 not-tested (ErrNoData)", "5 estimate interval",
		},
		"a ratio that does not vary": {
			[]func(*experiment.Sweep){func(s *experiment.Sweep) {
				eachRun(s, "a", func(r *experiment.RunRecord) { r.Observations[0].Value = 1.1 * noise(0, r.Round) })
				eachRun(s, "base", func(r *experiment.RunRecord) { r.Observations[0].Value = noise(0, r.Round) })
			}}, "a n=5 not-tested (ZeroVariance) ZeroVariance", "b n=5 pooled+own inconclusive", "5 estimate interval",
		},
		"values that do not vary": {[]func(*experiment.Sweep){set("a", 0, 1000)}, "a n=5 pooled+own inconclusive", fine, "5 estimate interval ZeroVariance"},
		"all values are equal": {
			[]func(*experiment.Sweep){set("a", 0, 1000), set("base", 0, 1000)},
			"a n=5 not-tested (AllTied) AllTied", "b n=5 pooled+own inconclusive", "5 estimate interval ZeroVariance",
		},
		"zero":                   {[]func(*experiment.Sweep){set("a", 3, 0)}, "a n=5 not-tested (ErrNonPositive)", fine, "5 estimate interval"},
		"negative":               {[]func(*experiment.Sweep){set("a", 3, -1)}, "a n=5 not-tested (ErrNonPositive)", fine, "5 estimate interval"},
		"negative, by its unit":  {[]func(*experiment.Sweep){set("a", 3, -1), renamed}, "a n=5 own inconclusive", "b n=5 own inconclusive", "5 estimate interval"},
		"negative in a baseline": {[]func(*experiment.Sweep){set("base", 3, -1)}, "a n=5 not-tested (ErrNonPositive)", "b n=5 not-tested (ErrNonPositive)", "5 estimate interval"},
		"NaN":                    {[]func(*experiment.Sweep){set("a", 3, math.NaN())}, "a n=5 not-tested (ErrNotFinite)", fine, "5"},
		"infinite":               {[]func(*experiment.Sweep){set("a", 3, math.Inf(-1))}, "a n=5 not-tested (ErrNotFinite)", fine, "5"},
		"NaN, by its unit":       {[]func(*experiment.Sweep){set("a", 3, math.NaN()), renamed}, "a n=5 not-tested (ErrNotFinite)", fine, "5"},
		"NaN in a baseline":      {[]func(*experiment.Sweep){set("base", 3, math.NaN())}, "a n=5 not-tested (ErrNotFinite)", "b n=5 not-tested (ErrNotFinite)", "5 estimate interval"},
		"as large as can be":     {[]func(*experiment.Sweep){set("a", 3, math.MaxFloat64)}, "a n=5 pooled+own inconclusive", "b n=5 pooled+own inconclusive", "5 estimate"},
		"no valid run":           {[]func(*experiment.Sweep){state("a", 0, experiment.StateInvalid)}, "a n=0 invalid (no valid run)", fine, "0"},
		"no valid baseline": {
			[]func(*experiment.Sweep){state("base", 0, experiment.StateInvalid)},
			"a n=0 invalid (no valid run of the baseline)", "b n=0 invalid (no valid run of the baseline)", "5 estimate interval",
		},
		"the baseline fails": {
			[]func(*experiment.Sweep){state("base", 0, experiment.StateFailedSubject)},
			"a n=0 invalid (no valid run of the baseline)", "b n=0 invalid (no valid run of the baseline)", "5 estimate interval",
		},
		"one baseline is not valid": {
			[]func(*experiment.Sweep){state("base", 3, experiment.StateInvalid)},
			"a n=4 pooled+own equivalent FewRounds", "b n=4 pooled+own equivalent FewRounds", "5 estimate interval",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := sweepOf(5, "base ooooo", "a ooooo", "b ooooo")
			for _, change := range tt.change {
				change(&s)
			}
			r := analysed(t, s)
			of := s.Settings.Metric
			got := []string{summary(rowOf(t, r, "a", of)), summary(rowOf(t, r, "b", of)), shown(intervalOf(t, r, "a", of))}
			if diff := cmp.Diff([]string{tt.a, tt.b, tt.interval}, got); diff != "" {
				t.Errorf("rows of a and b, interval of a (-want +got):\n%s", diff)
			}
			if row := rowOf(t, r, "a", of); row.Verdict == experiment.VerdictNotTested && (row.Low != nil || row.EqLow != nil || row.Material != "" || row.Method != "") {
				t.Errorf("not tested, and yet %+v", row)
			}
			if _, err := json.Marshal(r); err != nil { // which refuses NaN and infinities
				t.Error(err)
			}
		})
	}
}

// shown says what there is of an interval.
func shown(i experiment.Interval) string {
	parts := []string{string('0' + rune(i.N))}
	if i.Estimate != nil {
		parts = append(parts, "estimate")
	}
	if i.Low != nil && i.High != nil {
		parts = append(parts, "interval")
	}
	for _, f := range i.Flags {
		parts = append(parts, string(f))
	}
	return strings.Join(parts, " ")
}
