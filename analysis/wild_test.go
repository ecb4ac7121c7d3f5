package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// wildSweep draws a sweep of any kind and damages it.
func wildSweep(t *testing.T, seed uint64) experiment.Sweep {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 41))
	rounds := []int{1, 2, 3, 4, 5, 7, 10, 12}[rng.IntN(8)]
	var s experiment.Sweep
	switch rng.IntN(4) {
	case 0:
		s = designed(rounds, seed)
	case 1:
		s = climbed(t, rounds, map[string]float64{"1": 1500, "8": 2500 + 3000*rng.Float64(), "64": 3200})
	case 2:
		levels := []string{"1", "2", "4", "8", "16", "32", "64"}
		s = doseSweep(levels[:2+rng.IntN(6)], rounds, func(level float64) float64 { return level / (1 + 0.05*level) })
	default:
		metrics := []string{"throughput", "latency_p99", "latency_count", "error_rate", "app.cpu", "unheard_of"}
		s = sampleSweep(2+rng.IntN(5), rounds, metrics, seed)
	}
	s.Rounds = max(1, rounds+rng.IntN(3)-1)
	s.Settings.MinimumEffect = []float64{0, 0.03, 0.3}[rng.IntN(3)]
	s.Settings.Objectives = []experiment.Objective{{Metric: "latency_p99", Limit: 0.01}}
	if rng.IntN(4) == 0 {
		s.Stopping = experiment.Stopping{Until: experiment.StopPrecise, AtMost: max(5, rounds)}
	} else if rng.IntN(4) == 0 {
		s.Stopping = experiment.Stopping{Until: experiment.StopDecided, AtMost: max(5, rounds)}
	}
	damageRuns(rng, &s)
	damageCells(rng, &s)
	if rng.IntN(8) == 0 {
		for i := range s.Runs {
			s.Runs[i].Round = 0
		}
	}
	return s
}

// damageRuns spoils single runs: state, values, metrics, or the whole of it.
func damageRuns(rng *rand.Rand, s *experiment.Sweep) {
	states := []experiment.RunState{
		experiment.StateInvalid, experiment.StateFailedSubject, experiment.StateFailedInfra, experiment.StateSkipped,
		experiment.StatePending, experiment.StateSuperseded,
	}
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1e308, -1e308, 5e-324, 1}
	often := []float64{0, 0.02, 0.1, 0.4}[rng.IntN(4)]
	runs := s.Runs[:0]
	for _, r := range s.Runs {
		if rng.Float64() < often {
			switch rng.IntN(4) {
			case 0:
				continue
			case 1:
				r.State = states[rng.IntN(len(states))]
			case 2:
				if n := len(r.Observations); n > 0 {
					r.Observations[rng.IntN(n)].Value = odd[rng.IntN(len(odd))]
				}
			default:
				if n := len(r.Observations); n > 0 {
					i := rng.IntN(n)
					r.Observations = slices.Delete(r.Observations, i, i+1)
				}
			}
		}
		runs = append(runs, r)
	}
	s.Runs = runs
}

// damageCells spoils whole cells: nothing counts, nothing varies, or a metric is always
// zero.
func damageCells(rng *rand.Rand, s *experiment.Sweep) {
	for _, c := range s.Cells {
		switch rng.IntN(12) {
		case 0:
			state := []experiment.RunState{experiment.StateInvalid, experiment.StateFailedSubject}[rng.IntN(2)]
			eachRun(s, string(c.Key), func(r *experiment.RunRecord) { r.State = state })
		case 1, 2:
			v := float64(100 * rng.IntN(2))
			eachRun(s, string(c.Key), func(r *experiment.RunRecord) {
				for i := range r.Observations {
					r.Observations[i].Value = v
				}
			})
		default: // it stays
		}
	}
}

// However broken a sweep is, its results are numbers or say why there is none, and do
// not depend on the order of its runs.
func TestWildSweeps(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(250) {
		s := wildSweep(t, seed)
		r, err := New().Analyse(s, s.Settings)
		if err != nil {
			t.Errorf("sweep %d: %v", seed, err)
			continue
		}
		finite(t, r)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { checkResults(t, r) })
		rng := rand.New(rand.NewPCG(seed, 42))
		if s.Runs[0].Round > 0 { // runs without rounds are listed in their order
			rng.Shuffle(len(s.Runs), func(i, j int) { s.Runs[i], s.Runs[j] = s.Runs[j], s.Runs[i] })
		}
		if diff := cmp.Diff(r, analysed(t, s)); diff != "" {
			t.Errorf("sweep %d (-in order +shuffled):\n%s", seed, diff)
		}
		for _, c := range r.Comparisons {
			seen[string(c.Verdict)]++
		}
		seen["changes"] += len(r.Changes)
		seen["responses"] += len(r.Responses)
		seen["ladders"] += len(r.Ladders)
	}
	for _, kind := range []string{
		"better", "worse", "higher", "lower", "equivalent", "inconclusive", "not-tested", "fails", "invalid", "pending", "meets", "misses",
		"changes", "responses", "ladders",
	} {
		if seen[kind] < 3 {
			t.Errorf("%d %s in all sweeps: too few to show anything", seen[kind], kind)
		}
	}
}

func checkResults(t *testing.T, r experiment.Results) {
	t.Helper()
	for _, c := range r.Comparisons {
		checkSane(t, c)
		checkOrder(t, "comparison of "+string(c.Cell)+" in "+c.Metric, c.Low, c.EqLow, c.Estimate, c.EqHigh, c.High)
		checkChance(t, c.P, c.PAdjusted)
		if tested(c.Verdict) && c.Reason != "" {
			t.Errorf("tested, and yet a reason: %+v", c)
		}
	}
	for _, i := range r.Intervals {
		checkOrder(t, "interval of "+string(i.Cell)+" in "+i.Metric, i.Low, i.Estimate, i.High)
	}
	for _, c := range r.Changes {
		if c.Verdict == "" || c.Verdict == experiment.VerdictNotTested && c.Reason == "" || tested(c.Verdict) && c.Low == nil {
			t.Errorf("no verdict, or no reason for it: %+v", c)
		}
		checkOrder(t, "change of "+string(c.Cell)+" in "+c.Metric, c.Low, c.EqLow, c.Estimate, c.EqHigh, c.High)
		checkChance(t, c.P, c.PAdjusted)
	}
	for _, a := range r.Responses {
		if a.Trend == "" || a.Trend == experiment.TrendUntest && a.Reason == "" || (a.P == nil) != (a.Test == "") || len(a.Levels) < 3 {
			t.Errorf("half a response: %+v", a)
		}
		checkChance(t, a.P)
		if !slices.IsSortedFunc(a.Levels, func(x, y experiment.ResponseLevel) int { return sign(x.Value - y.Value) }) {
			t.Errorf("levels are out of order: %+v", a)
		}
	}
	for _, l := range r.Ladders {
		known := slices.ContainsFunc(l.Rungs, func(r experiment.RungResult) bool { return r.N > 0 || r.Broken != "" })
		if (l.Status != "") != known || len(l.Rungs) == 0 {
			t.Errorf("half a ladder: %+v", l)
		}
	}
}

func tested(v experiment.Verdict) bool {
	switch v {
	case experiment.VerdictBetter, experiment.VerdictWorse, experiment.VerdictHigher, experiment.VerdictLower,
		experiment.VerdictEquivalent, experiment.VerdictInconclusive:
		return true
	default:
		return false
	}
}

// checkOrder wants the numbers that there are to be in order, but for rounding.
func checkOrder(t *testing.T, what string, ascending ...*float64) {
	t.Helper()
	before := math.Inf(-1)
	for _, v := range ascending {
		if v == nil {
			continue
		}
		if *v < before-1e-9*math.Abs(before) {
			t.Errorf("%s: %v after %v", what, *v, before)
		}
		before = *v
	}
}

func checkChance(t *testing.T, chances ...*float64) {
	t.Helper()
	before := 0.0
	for _, p := range chances { // adjusted after unadjusted
		if p == nil {
			continue
		}
		if *p < before || *p > 1 {
			t.Errorf("chance %v after %v", *p, before)
		}
		before = *p
	}
}
