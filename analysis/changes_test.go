package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ceteris/ceteris/experiment"
)

// crossed is a sweep of the factors lock and log in the stages and under the conditions
// given, corners included. value gives the throughput of a cell but for noise of one in a
// hundred, and for the level of the round.
func crossed(design experiment.Design, rounds int, seed uint64, value func(c experiment.Cell) float64) experiment.Sweep {
	levels := func(texts ...string) (out []experiment.Level) {
		for _, t := range texts {
			out = append(out, experiment.Level{Text: t})
		}
		return out
	}
	m := experiment.Matrix{Design: design, Factors: []experiment.Factor{
		{Name: "lock", Levels: levels("on", "off")}, {Name: "log", Levels: levels("info", "off")}, {Name: "users", Levels: levels("50", "500")},
	}}
	s := experiment.Sweep{ID: int64(seed), Rounds: rounds, Settings: defaults(), Factors: m.Factors, Across: design.Across, Cells: m.Cells()}
	rng := rand.New(rand.NewPCG(seed, 9))
	for _, stage := range []string{s.Cells[0].Stage, s.Cells[len(s.Cells)-1].Stage} {
		if slices.ContainsFunc(s.Runs, func(r experiment.RunRecord) bool { return stageOf(s, r.Cell) == stage }) {
			continue
		}
		for round := 1; round <= rounds; round++ {
			level := math.Exp(0.08 * rng.NormFloat64())
			for _, c := range s.Cells {
				if c.Stage != stage {
					continue
				}
				r := experiment.RunRecord{Run: experiment.Run{ID: int64(len(s.Runs) + 1), Cell: c.Key, Round: round, State: experiment.StateOK}}
				r.Observations = []experiment.Observation{observed("throughput", value(c)*level*math.Exp(0.01*rng.NormFloat64()))}
				s.Runs = append(s.Runs, r)
			}
		}
	}
	return s
}

func stageOf(s experiment.Sweep, key experiment.CellKey) string {
	c, _ := s.Cell(key)
	return c.Stage
}

// changesOf names the changes of the primary metric of one kind.
func changesOf(s experiment.Sweep, r experiment.Results, kind experiment.ChangeKind) map[string]experiment.Change {
	out := map[string]experiment.Change{}
	for _, c := range r.Changes {
		if cell, _ := s.Cell(c.Cell); c.Kind == kind && !c.Secondary {
			out[fmt.Sprint(cell.Label(), " ", cell.Stage, " ", cell.Condition)] = c
		}
	}
	return out
}

func off(c experiment.Cell, factor string) bool {
	level, _ := c.Lookup(factor)
	return level == "off"
}

// An effect that another setting hides: the log costs a third, but only where nobody
// waits for the lock.
func hiddenLog(c experiment.Cell) float64 {
	v := 100.0
	if off(c, "lock") {
		v = 900
		if !off(c, "log") {
			v = 600
		}
	}
	return v
}

func TestInteractionIsTheContrastOfTheReferenceCases(t *testing.T) {
	var file struct{ Cases []referenceCase }
	readJSON(t, "testdata/interaction.json", &file)
	for _, c := range file.Cases {
		if c.Expected["error"] != nil {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			rows := c.Input["rounds"].([]any)
			s := crossed(experiment.Design{Interactions: [][]string{{"lock", "log"}}}, len(rows), 1, hiddenLog)
			column := map[string]int{"baseline": 0, "lock=off": 1, "log=off": 2, "lock=off,log=off": 3}
			for i, r := range s.Runs {
				cell, _ := s.Cell(r.Cell)
				values := asList(rows[r.Round-1])
				s.Runs[i].Observations = []experiment.Observation{observed("throughput", values[column[cell.Label()]])}
			}
			got, ok := changesOf(s, analysed(t, s), experiment.ChangeInteraction)["lock=off,log=off main "]
			if !ok {
				t.Fatal("no interaction")
			}
			for name, v := range map[string]*float64{
				"ratio_of_ratios": got.Estimate, "lo": got.Low, "hi": got.High, "p": got.P, "effect_a_without_b": got.Before, "effect_a_with_b": got.After,
			} {
				if v == nil || !c.Tolerance.agree(*v, asNumber(c.Expected[name])) {
					t.Errorf("%s: %v, want %v", name, v, c.Expected[name])
				}
			}
		})
	}
}

func TestWhatABottleneckHidesIsSeenAsAChange(t *testing.T) {
	design := experiment.Design{Stages: []experiment.Stage{
		{Name: "found"}, {Name: "unlocked", Baseline: []experiment.Setting{{Factor: "lock", Level: "off"}}},
	}}
	s := crossed(design, 5, 2, hiddenLog)
	got := changesOf(s, analysed(t, s), experiment.ChangeStage)
	if len(got) != 2 { // users, as a factor, and log; the lock is off another baseline
		t.Fatalf("%d changes, want 2: %v", len(got), got)
	}
	c := got["log=off unlocked "]
	if c.Verdict != experiment.VerdictHigher || c.Material != experiment.MaterialProven || c.Method != experiment.MethodWelch || c.N != 5 {
		t.Errorf("%+v", c)
	}
	if math.Abs(*c.Before-1) > 0.03 || math.Abs(*c.After-1.5) > 0.05 || *c.Low > 1.5 || *c.High < 1.5 || *c.Low < 1.4 {
		t.Errorf("before %v, after %v, change [%v, %v]", *c.Before, *c.After, *c.Low, *c.High)
	}
	if v := got["users=500 unlocked "].Verdict; v == experiment.VerdictHigher || v == experiment.VerdictLower {
		t.Errorf("users: %s", v)
	}
}

// A level of the factor that is moved is set against another one than before: that its
// ratio is another is no change of an effect. Here nothing hides anything.
func TestAFactorThatIsMovedHasNoChange(t *testing.T) {
	speed := map[string]float64{"1": 50, "4": 100, "8": 150}
	levels := []experiment.Level{{Text: "4"}, {Text: "1"}, {Text: "8"}}
	m := experiment.Matrix{
		Factors: []experiment.Factor{{Name: "pool", Levels: levels}, {Name: "log", Levels: []experiment.Level{{Text: "on"}, {Text: "off"}}}},
		Design: experiment.Design{
			Stages:       []experiment.Stage{{Name: "found"}, {Name: "moved", Baseline: []experiment.Setting{{Factor: "pool", Level: "8"}}}},
			Interactions: [][]string{{"pool", "log"}},
		},
	}
	s := experiment.Sweep{Rounds: 5, Settings: defaults(), Factors: m.Factors, Cells: m.Cells()}
	for i, c := range s.Cells {
		pool, _ := c.Lookup("pool")
		for round := range s.Rounds {
			s.Runs = append(s.Runs, experiment.RunRecord{
				Run:          experiment.Run{ID: int64(len(s.Runs) + 1), Cell: c.Key, Round: round + 1, State: experiment.StateOK},
				Observations: []experiment.Observation{observed("throughput", speed[pool]*noise(i, round))},
			})
		}
	}
	got := changesOf(s, analysed(t, s), experiment.ChangeStage)
	if _, ok := got["log=off moved "]; !ok || len(got) != 1 {
		t.Errorf("want a change of the log alone, got %+v", got)
	}
}

// A chain of sweeps is read as one of stages is.
func TestAPeelIsAChainOfSweeps(t *testing.T) {
	first, second := peelOf(5, 4)
	second.Before = &first
	c, ok := changesOf(second, analysed(t, second), experiment.ChangeStage)["log=off peel-2 "]
	if !ok || c.FromSweep != first.ID || c.N != 4 || c.Verdict != experiment.VerdictHigher {
		t.Fatalf("%v, %+v", ok, c)
	}
	if from, _ := first.Cell(c.From); from.Label() != "log=off" || from.Stage != "peel-1" {
		t.Errorf("from %+v", from)
	}
	// Both in one sweep, the numbers are the same.
	both := first
	both.Cells, both.Runs = slices.Concat(first.Cells, second.Cells), slices.Concat(first.Runs, second.Runs)
	for i := range both.Runs {
		both.Runs[i].ID = int64(i + 1)
	}
	both.Rounds = 4
	same := changesOf(both, analysed(t, both), experiment.ChangeStage)["log=off peel-2 "]
	same.FromSweep = c.FromSweep
	if diff := cmp.Diff(c, same, nearly); diff != "" {
		t.Errorf("(-chain +stages):\n%s", diff)
	}
}

// Fan-out helps few users and hurts many: the sign of an effect depends on the load.
func TestASignThatDependsOnTheConditionIsFlagged(t *testing.T) {
	s := crossed(experiment.Design{Across: []string{"users"}}, 5, 5, func(c experiment.Cell) float64 {
		many := slices.Contains(c.Settings, experiment.Setting{Factor: "users", Level: "500"})
		switch {
		case !off(c, "lock"):
			return 100
		case many:
			return 35
		default:
			return 150
		}
	})
	got := changesOf(s, analysed(t, s), experiment.ChangeCondition)
	c := got["lock=off main users=500"]
	if c.Verdict != experiment.VerdictLower || c.Method != experiment.MethodOwn || !slices.Contains(c.Flags, experiment.FlagReversal) {
		t.Errorf("%+v", c)
	}
	if c := got["log=off main users=500"]; slices.Contains(c.Flags, experiment.FlagReversal) || c.Verdict == experiment.VerdictLower {
		t.Errorf("log: %+v", c)
	}
}

// Effects that end under the second condition turn round in 5% of sweeps at most, however
// many they are.
func TestEffectsThatEndSeldomTurnRound(t *testing.T) {
	const sweeps, cells, rounds = 200, 8, 5
	s := experiment.Sweep{Rounds: rounds, Settings: defaults()}
	for _, condition := range []string{"users=50", "users=500"} {
		for i := range cells + 1 {
			c := experiment.Cell{Key: experiment.CellKey(fmt.Sprint(condition, i)), Stage: experiment.MainStage, Condition: condition, Role: experiment.RoleBaseline}
			if i > 0 {
				c.Role, c.Off = experiment.RoleVaried, []experiment.Setting{{Factor: fmt.Sprint("f", i), Level: "off"}}
			}
			s.Cells = append(s.Cells, c)
		}
	}
	rng := rand.New(rand.NewPCG(12, 3))
	turned := 0
	for range sweeps {
		s.Runs = nil
		for _, c := range s.Cells {
			for round := range rounds {
				v := math.Exp(0.02 * rng.NormFloat64())
				if c.Role == experiment.RoleVaried && c.Condition == "users=50" {
					v *= 0.7
				}
				s.Runs = append(s.Runs, experiment.RunRecord{
					Run:          experiment.Run{ID: int64(len(s.Runs) + 1), Cell: c.Key, Round: round + 1, State: experiment.StateOK},
					Observations: []experiment.Observation{observed("throughput", v)},
				})
			}
		}
		if slices.ContainsFunc(analysed(t, s).Changes, func(c experiment.Change) bool { return slices.Contains(c.Flags, experiment.FlagReversal) }) {
			turned++
		}
	}
	if share := float64(turned) / sweeps; share > 0.05 {
		t.Errorf("in %.1f%% of sweeps", 100*share)
	}
}

func TestAChangeMirrorsWhenThePlacesSwap(t *testing.T) {
	design := experiment.Design{Across: []string{"users"}}
	for seed := range uint64(20) {
		value := func(c experiment.Cell) float64 {
			h := 100.0
			for _, x := range c.Settings {
				if x.Level == "off" || x.Level == "500" {
					h *= 1 + 0.1*float64(len(x.Factor)%3)
				}
			}
			return h
		}
		s := crossed(design, 3+int(seed%8), 100+seed, value)
		there := changesOf(s, analysed(t, s), experiment.ChangeCondition)
		slices.Reverse(s.Cells)
		back := changesOf(s, analysed(t, s), experiment.ChangeCondition)
		for _, cell := range []string{"lock=off", "log=off"} {
			a, b := there[cell+" main users=500"], back[cell+" main users=50"]
			p := tolerance{Rel: 1e-9}
			if !p.agree(*a.Estimate**b.Estimate, 1) || !p.agree(*a.Low**b.High, 1) || !p.agree(*a.P, *b.P) {
				t.Errorf("seed %d, %s: %v [%v, %v] and back %v [%v, %v]", seed, cell, *a.Estimate, *a.Low, *a.High, *b.Estimate, *b.Low, *b.High)
			}
		}
	}
}

// Every reason for which an effect cannot be compared names the change, too.
func TestChangesThatCannotBeTested(t *testing.T) {
	design := experiment.Design{Across: []string{"users"}}
	for _, c := range []struct {
		name   string
		spoil  func(s *experiment.Sweep)
		rounds int
		want   string
	}{
		{"two rounds", func(*experiment.Sweep) {}, 2, "n < 3"},
		{"a zero", func(s *experiment.Sweep) { s.Runs[len(s.Runs)-1].Observations[0].Value = 0 }, 5, "ErrNonPositive"},
		{"no number", func(s *experiment.Sweep) { s.Runs[len(s.Runs)-1].Observations[0].Value = math.NaN() }, 5, "ErrNotFinite"},
		{"no valid run", func(s *experiment.Sweep) {
			for i := range s.Runs {
				if s.Runs[i].Cell == s.Runs[len(s.Runs)-1].Cell {
					s.Runs[i].State = experiment.StateInvalid
				}
			}
		}, 5, "no valid run"},
		{"failed throughout", func(s *experiment.Sweep) {
			for i := range s.Runs {
				if s.Runs[i].Cell == s.Runs[len(s.Runs)-1].Cell {
					s.Runs[i].State, s.Runs[i].Observations = experiment.StateFailedSubject, nil
				}
			}
		}, 5, "the subject failed in every round"},
		{"all equal", func(s *experiment.Sweep) {
			for i := range s.Runs {
				s.Runs[i].Observations[0].Value = 100
			}
		}, 5, "AllTied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := crossed(design, c.rounds, 6, func(experiment.Cell) float64 { return 100 })
			c.spoil(&s)
			last, _ := s.Cell(s.Runs[len(s.Runs)-1].Cell)
			got := changesOf(s, analysed(t, s), experiment.ChangeCondition)[fmt.Sprint(last.Label(), " ", last.Stage, " ", last.Condition)]
			if got.Verdict != experiment.VerdictNotTested || got.Reason != c.want || got.Low != nil {
				t.Errorf("%s, %q, %v; want not-tested, %q", got.Verdict, got.Reason, got.Low, c.want)
			}
		})
	}
}

// A change lacks a round whichever place lacks it, and few rounds of either are few.
func TestFlagsOfAChangeAreThoseOfBothPlaces(t *testing.T) {
	flat := func(experiment.Cell) float64 { return 100 }
	for _, users := range []string{"50", "500"} {
		s := crossed(experiment.Design{Across: []string{"users"}}, 6, 7, flat)
		for i, r := range s.Runs {
			if c, _ := s.Cell(r.Cell); r.Round == 2 && c.Label() == "log=off" && c.Condition == "users="+users {
				s.Runs[i].State = experiment.StateInvalid
			}
		}
		got := changesOf(s, analysed(t, s), experiment.ChangeCondition)
		if c := got["log=off main users=500"]; c.N != 5 || !slices.Contains(c.Flags, experiment.FlagIncomplete) {
			t.Errorf("a round lacks under %s users: n %d, %v", users, c.N, c.Flags)
		}
		if c := got["lock=off main users=500"]; c.N != 6 || slices.Contains(c.Flags, experiment.FlagIncomplete) {
			t.Errorf("a round lacks in another cell: n %d, %v", c.N, c.Flags)
		}
	}
	for _, rounds := range [][2]int{{3, 6}, {6, 3}} {
		before, s := peelOf(rounds[0], rounds[1])
		s.Before = &before
		if c := changesOf(s, analysed(t, s), experiment.ChangeStage)["log=off peel-2 "]; c.N != 3 || !slices.Contains(c.Flags, experiment.FlagFewRounds) {
			t.Errorf("%v rounds: n %d, %v", rounds, c.N, c.Flags)
		}
	}
}

// peelOf makes the first two sweeps of a peel, of so many rounds each.
func peelOf(first, second int) (before, after experiment.Sweep) {
	stage := func(k int, moved ...experiment.Setting) experiment.Design {
		return experiment.Design{Stages: []experiment.Stage{{Name: experiment.PeelStage(k), Baseline: moved}}}
	}
	before = crossed(stage(1), first, 3, hiddenLog)
	after = crossed(stage(2, experiment.Setting{Factor: "lock", Level: "off"}), second, 4, hiddenLog)
	after.PeelParent = before.ID
	return before, after
}

// What one stage of a peel hides is not told apart from what another host does.
func TestNoChangeAcrossHosts(t *testing.T) {
	before, s := peelOf(5, 5)
	s.Before, s.Host.Name = &before, "another"
	c := changesOf(s, analysed(t, s), experiment.ChangeStage)["log=off peel-2 "]
	if c.Verdict != experiment.VerdictNotTested || c.Reason != reasonHosts || c.Low != nil || c.P != nil || c.Estimate == nil {
		t.Errorf("%s (%s), [%v], p %v", c.Verdict, c.Reason, c.Low, c.P)
	}
}

// What comes after a sweep that was stopped by hand does not wait for its rounds, and
// says that they were stopped.
func TestAChangeSinceASweepThatWasStopped(t *testing.T) {
	before, s := peelOf(4, 5)
	before.Rounds = 10
	s.Before = &before
	c := changesOf(s, analysed(t, s), experiment.ChangeStage)["log=off peel-2 "]
	if c.Verdict != experiment.VerdictHigher || c.State != "stopped: 4 of 10" {
		t.Errorf("%s, %q", c.Verdict, c.State)
	}
	s.Rounds = 10
	if c := changesOf(s, analysed(t, s), experiment.ChangeStage)["log=off peel-2 "]; c.Verdict != experiment.VerdictPending || c.Material != "" {
		t.Errorf("with rounds to come: %s, %q", c.Verdict, c.Material)
	}
}

// Rates that may be zero change by differences. Contrasts of 0.029, 0.030 and 0.031 have a mean of 0.030 and a
// standard error of 0.001/sqrt(3); t with 2 degrees of freedom is 4.302653 at 97.5%.
func TestInteractionOfARate(t *testing.T) {
	s := crossed(experiment.Design{Interactions: [][]string{{"lock", "log"}}}, 3, 8, hiddenLog)
	rates := map[string]float64{"baseline": 0, "lock=off": 0.01, "log=off": 0.002, "lock=off,log=off": 0.041}
	for i, r := range s.Runs {
		c, _ := s.Cell(r.Cell)
		v := rates[c.Label()]
		if len(c.Off) == 2 {
			v += 0.001 * float64(r.Round-1)
		}
		s.Runs[i].Observations = append(s.Runs[i].Observations, observed("error_rate", v))
	}
	var got []experiment.Change
	for _, c := range analysed(t, s).Changes {
		if c.Kind == experiment.ChangeInteraction && c.Metric == "error_rate" {
			got = append(got, c)
		}
	}
	if len(got) != 1 {
		t.Fatalf("%d changes of the error rate, want 1", len(got))
	}
	c := got[0]
	half := 4.302653 * 0.001 / math.Sqrt(3)
	for name, v := range map[string][2]float64{
		"before": {*c.Before, 0.01}, "after": {*c.After, 0.04}, "change": {*c.Estimate, 0.03}, "low": {*c.Low, 0.03 - half}, "high": {*c.High, 0.03 + half},
	} {
		if !(tolerance{Rel: 1e-6}).agree(v[0], v[1]) {
			t.Errorf("%s: %v, want %v", name, v[0], v[1])
		}
	}
	if c.Scale != experiment.ScaleDifference || !c.Secondary || c.Verdict != experiment.VerdictHigher || c.Material != experiment.MaterialProven {
		t.Errorf("%+v", c)
	}
}

// The two effects under the second condition are one family: each interval at 97.5%, and
// Holm's p, the smaller one doubled.
func TestChangesBetweenTwoPlacesHoldTogether(t *testing.T) {
	s := crossed(experiment.Design{Across: []string{"users"}}, 6, 11, func(c experiment.Cell) float64 {
		if off(c, "log") && c.Condition == "users=500" {
			return 103
		}
		return 100
	})
	value := map[string]float64{}
	for _, r := range s.Runs {
		c, _ := s.Cell(r.Cell)
		value[fmt.Sprint(c.Label(), " ", c.Condition, " ", r.Round)] = math.Log(r.Observations[0].Value)
	}
	got := changesOf(s, analysed(t, s), experiment.ChangeCondition)
	var p []float64
	for _, cell := range []string{"lock=off", "log=off"} {
		var x []float64
		for round := 1; round <= s.Rounds; round++ {
			at := func(cell, users string) float64 { return value[fmt.Sprint(cell, " users=", users, " ", round)] }
			x = append(x, at(cell, "500")-at("baseline", "500")-at(cell, "50")+at("baseline", "50"))
		}
		mean, sd := stat.MeanStdDev(x, nil)
		se := sd / math.Sqrt(6)
		student := distuv.StudentsT{Sigma: 1, Nu: 5}
		half := student.Quantile(1-0.05/4) * se
		c := got[cell+" main users=500"]
		near := tolerance{Rel: 1e-9}
		if !near.agree(*c.Estimate, math.Exp(mean)) || !near.agree(*c.Low, math.Exp(mean-half)) || !near.agree(*c.High, math.Exp(mean+half)) {
			t.Errorf("%s: %v [%v, %v], want %v [%v, %v]", cell, *c.Estimate, *c.Low, *c.High, math.Exp(mean), math.Exp(mean-half), math.Exp(mean+half))
		}
		if want := 2 * student.CDF(-math.Abs(mean)/se); !near.agree(*c.P, want) {
			t.Errorf("%s: p %v, want %v", cell, *c.P, want)
		}
		p = append(p, *c.P, *c.PAdjusted)
	}
	if smaller, larger := min(p[0], p[2]), max(p[0], p[2]); min(p[1], p[3]) != 2*smaller || max(p[1], p[3]) != max(2*smaller, larger) {
		t.Errorf("p and adjusted p: %v", p)
	}
}
