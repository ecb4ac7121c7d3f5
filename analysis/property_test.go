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

// nearly compares results whose sums were made in another order.
var nearly = cmp.Options{cmpopts.EquateApprox(1e-9, 1e-12), cmpopts.EquateEmpty()}

func randomSample(rng *rand.Rand, cell string, n int, effect, noise float64) Sample {
	s := Sample{Cell: experiment.CellKey(cell), Rounds: roundsOf(n)}
	for range n {
		s.Values = append(s.Values, 100*effect*math.Exp(noise*rng.NormFloat64()))
	}
	return s
}

func TestCompareMirrors(t *testing.T) {
	mirror := map[experiment.Verdict]experiment.Verdict{
		experiment.VerdictBetter: experiment.VerdictWorse, experiment.VerdictWorse: experiment.VerdictBetter,
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		a := randomSample(rng, "c", 3+rng.IntN(9), 1, 0.03)
		b := randomSample(rng, "c", 3+rng.IntN(9), 1+0.1*rng.Float64(), 0.03)
		if i%2 == 0 {
			a.Rounds, b.Rounds = nil, nil
		}
		// Incomplete is said of the cell that lacks a round of the baseline: not symmetric.
		if i%2 == 1 {
			n := min(len(a.Values), len(b.Values))
			a, b = Sample{Cell: "c", Rounds: roundsOf(n), Values: a.Values[:n]}, Sample{Cell: "c", Rounds: roundsOf(n), Values: b.Values[:n]}
		}
		for _, scale := range []experiment.Scale{experiment.ScaleRatio, experiment.ScaleDifference} {
			m := experiment.Metric{Name: "m", Scale: scale, Better: experiment.HigherIsBetter}
			o := Options{Metric: m, Confidence: 0.95, MinimumEffect: 0.03}
			got, want := Compare(b, a, o), Compare(a, b, o)
			turn := func(v *float64) *float64 {
				if scale == experiment.ScaleDifference {
					return number(-*v)
				}
				return number(1 / *v)
			}
			want.Estimate = turn(want.Estimate)
			want.Low, want.High = turn(want.High), turn(want.Low)
			want.EqLow, want.EqHigh = turn(want.EqHigh), turn(want.EqLow)
			if v, ok := mirror[want.Verdict]; ok {
				want.Verdict = v
			}
			// n and its label are the cell's own; the medians of even samples are
			// midpoints on the raw scale, where a ratio and its inverse may part.
			ignore := cmpopts.IgnoreFields(experiment.Comparison{}, "N", "Flags")
			if diff := cmp.Diff(got, want, nearly, ignore); diff != "" {
				t.Fatalf("case %d, %s (got -, want +):\n%s", i, scale, diff)
			}
		}
	}
}

func TestRescalingChangesNothing(t *testing.T) {
	metrics := []string{"throughput", "latency_p99", "error_rate", "app.log_bytes", "app.cpu", "unheard_of"}
	for _, rounds := range []int{3, 5, 12} {
		for name, s := range map[string]experiment.Sweep{
			"plain": sampleSweep(6, rounds, metrics, uint64(rounds)), "designed": designed(rounds, uint64(rounds)),
		} {
			s.Settings.ErrorRate = 1e12 // the values of error_rate here are no shares
			want := analysed(t, s)
			for _, factor := range []float64{1e-6, 1024} {
				for i := range s.Runs {
					for j := range s.Runs[i].Observations {
						s.Runs[i].Observations[j].Value *= factor
					}
				}
				rescale(&want, factor)
				got := analysed(t, s)
				// A difference of shares has a minimum effect in absolute terms.
				shares := cmp.FilterValues(func(a, b experiment.Comparison) bool { return a.Metric == "error_rate" }, cmp.Ignore())
				means := cmpopts.IgnoreFields(experiment.Results{}, "Responses") // they have a test of their own
				if diff := cmp.Diff(got, want, cmpopts.EquateApprox(1e-9, 0), shares, means); diff != "" {
					t.Fatalf("%s, %d rounds, times %v (got -, want +):\n%s", name, rounds, factor, diff)
				}
			}
		}
	}
}

// rescale multiplies what has the unit of a metric.
func rescale(r *experiment.Results, factor float64) {
	for i := range r.Intervals {
		w := &r.Intervals[i]
		for _, p := range []**float64{&w.Estimate, &w.Low, &w.High, &w.Median, &w.Min, &w.Max} {
			*p = number(**p * factor)
		}
		w.Values = slices.Clone(w.Values)
		for j := range w.Values {
			w.Values[j] *= factor
		}
	}
	for i := range r.Comparisons {
		w := &r.Comparisons[i]
		if w.Scale == experiment.ScaleDifference {
			for _, p := range []**float64{&w.Estimate, &w.Low, &w.High, &w.EqLow, &w.EqHigh} {
				*p = number(**p * factor)
			}
		}
	}
}

// Whichever of the cells is the baseline, two of them are as far apart and as surely so;
// the family of Holm's p-values is another with another baseline.
func TestFamiliesMirror(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	o := Options{Metric: throughput(true), Confidence: 0.95, MinimumEffect: 0.03}
	mirror := map[experiment.Verdict]experiment.Verdict{
		experiment.VerdictBetter: experiment.VerdictWorse, experiment.VerdictWorse: experiment.VerdictBetter,
	}
	for _, rounds := range []int{3, 4, 5, 9, 10, 13} {
		var cells []Sample
		for i := range 4 {
			cells = append(cells, randomSample(rng, fmt.Sprint(i), rounds, 1+0.02*float64(i), 0.015))
		}
		against := func(base int) map[experiment.CellKey]experiment.Comparison {
			out := make(map[experiment.CellKey]experiment.Comparison)
			others := slices.Delete(slices.Clone(cells), base, base+1)
			for _, c := range CompareFamily(cells[base], others, o).Comparisons {
				out[c.Cell] = c
			}
			return out
		}
		for i := range cells {
			for j := range i {
				got, want := against(i)[cells[j].Cell], against(j)[cells[i].Cell]
				turn := func(v *float64) *float64 { return number(1 / *v) }
				want.Cell, want.Estimate = got.Cell, turn(want.Estimate)
				want.Low, want.High, want.EqLow, want.EqHigh = turn(want.High), turn(want.Low), turn(want.EqHigh), turn(want.EqLow)
				if v, ok := mirror[want.Verdict]; ok {
					want.Verdict = v
				}
				if rounds >= ownRounds {
					want.PAdjusted = got.PAdjusted
				}
				if diff := cmp.Diff(got, want, nearly); diff != "" {
					t.Errorf("%d rounds, %d and %d (got -, want +):\n%s", rounds, i, j, diff)
				}
			}
		}
	}
}

func TestPermutingCellsChangesOnlyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, rounds := range []int{3, 5, 10} {
		s := sampleSweep(8, rounds, []string{"throughput", "error_rate"}, 7)
		want := analysed(t, s)
		rng.Shuffle(len(s.Cells), func(i, j int) { s.Cells[i], s.Cells[j] = s.Cells[j], s.Cells[i] })
		rng.Shuffle(len(s.Runs), func(i, j int) { s.Runs[i], s.Runs[j] = s.Runs[j], s.Runs[i] })
		got := analysed(t, s)
		order := cmp.Options{
			cmpopts.SortSlices(func(a, b experiment.Interval) bool { return a.Metric+string(a.Cell) < b.Metric+string(b.Cell) }),
			cmpopts.SortSlices(func(a, b experiment.Comparison) bool { return a.Metric+string(a.Cell) < b.Metric+string(b.Cell) }),
			cmpopts.SortSlices(func(a, b experiment.SweepNote) bool { return a.Code+string(a.Cell) < b.Code+string(b.Cell) }),
		}
		if diff := cmp.Diff(got, want, nearly, order); diff != "" {
			t.Fatalf("%d rounds (got -, want +):\n%s", rounds, diff)
		}
		for i, c := range s.Cells {
			if got.Intervals[i].Cell != c.Key {
				t.Errorf("interval %d is of %s, want order of declaration", i, got.Intervals[i].Cell)
			}
		}
	}
}

// Rounds still needed is the smallest number that an interval of the same method
// and spread would have to rest on.
func TestRoundsNeeded(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	o := Options{Metric: throughput(true), Confidence: 0.95, MinimumEffect: 0.03}
	seen := 0
	for _, rounds := range []int{3, 5, 9, 10, 14} {
		base := randomSample(rng, "base", rounds, 1, 0.06)
		var others []Sample
		for i := range 4 {
			others = append(others, randomSample(rng, fmt.Sprint(i), rounds, 1, 0.06))
		}
		// The half-width at a larger n follows from the same contrasts.
		d := newDunnett()
		f := d.compareFamily(base, others, o)
		halves := halfWidths(d, base, others, o)
		for i, c := range f.Comparisons {
			if c.Verdict != experiment.VerdictInconclusive {
				continue
			}
			seen++
			want := c.N
			for halves[i](o.Confidence, want) > math.Log1p(o.MinimumEffect) {
				want++
			}
			if c.RoundsNeeded != want-c.N {
				t.Errorf("%d rounds, cell %d: got %d more, want %d", rounds, i, c.RoundsNeeded, want-c.N)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d inconclusive comparisons", seen)
	}
}

// halfWidths rebuilds the half-widths from the formula, not from the code under test.
func halfWidths(d *dunnett, base Sample, others []Sample, o Options) []func(float64, int) float64 {
	cells := [][]float64{logs(base.Values)}
	for _, s := range others {
		cells = append(cells, logs(s.Values))
	}
	fit := fitAdditive(cells)
	k := len(others)
	var out []func(float64, int) float64
	for i := range others {
		e, _ := Mean(minus(cells[i+1], cells[0]), o.Confidence)
		sd := e.SE * math.Sqrt(float64(len(base.Values)))
		out = append(out, func(confidence float64, n int) float64 {
			root := math.Sqrt(float64(n))
			if len(base.Values) >= 10 {
				return tQuantile(1-(1-confidence)/(2*float64(k)), float64(n-1)) * sd / root
			}
			return max(d.quantile(confidence, k, k*(n-1))*math.Sqrt(2*fit.mse)/root, tQuantile(1-(1-confidence)/2, float64(n-1))*sd/root)
		})
	}
	return out
}

func analysed(t *testing.T, s experiment.Sweep) experiment.Results {
	t.Helper()
	r, err := New().Analyse(s, s.Settings)
	if err != nil {
		t.Fatal(err)
	}
	finite(t, r)
	return r
}

// FuzzAnalyse throws broken sweeps at the analysis: each byte is a run, its state
// and its value among them NaN, zero, negative, huge and tied ones.
func FuzzAnalyse(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"), uint8(3), uint8(3))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0}, uint8(2), uint8(3))
	f.Add([]byte{1, 17, 33, 49, 65, 81, 97, 113, 129, 145, 161, 177, 193, 209, 225, 241}, uint8(4), uint8(4))
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		b := make([]byte, 60)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		f.Add(b, uint8(rng.Uint32()), uint8(rng.Uint32()))
	}
	f.Fuzz(func(t *testing.T, runs []byte, cells, rounds uint8) {
		s := hostileSweep(runs, 1+int(cells%6), int(rounds%13))
		r, err := New().Analyse(s, s.Settings)
		if err != nil {
			return
		}
		finite(t, r)
		for _, c := range r.Comparisons {
			checkSane(t, c)
		}
	})
}

func checkSane(t *testing.T, c experiment.Comparison) {
	t.Helper()
	if c.Verdict == "" {
		t.Errorf("no verdict: %+v", c)
	}
	objective := strings.HasPrefix(c.Metric, experiment.ObjectivePrefix) // the interval is that of the cell
	if (c.Low == nil) != (c.High == nil) || (c.Low == nil) != (c.Method == "") && !objective {
		t.Errorf("half an interval: %+v", c)
	}
	if c.Low != nil && (*c.Low > *c.Estimate || *c.High < *c.Estimate || c.N < 3) {
		t.Errorf("interval without its estimate, or too few runs: %+v", c)
	}
	decided := []experiment.Verdict{
		experiment.VerdictBetter, experiment.VerdictWorse, experiment.VerdictHigher,
		experiment.VerdictLower, experiment.VerdictEquivalent, experiment.VerdictInconclusive,
	}
	if slices.Contains(decided, c.Verdict) && c.Low == nil {
		t.Errorf("verdict without an interval: %+v", c)
	}
	if c.Verdict == experiment.VerdictNotTested && c.Reason == "" {
		t.Errorf("not tested, and no reason: %+v", c)
	}
}

func hostileSweep(runs []byte, cells, rounds int) experiment.Sweep {
	states := []experiment.RunState{
		experiment.StateOK, experiment.StateOK, experiment.StateOK, experiment.StateInvalid,
		experiment.StateFailedSubject, experiment.StateFailedInfra, experiment.StateSkipped, experiment.StatePending,
	}
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1e308, -1e308, 5e-324, 1, 1, 1, 1 + 1e-15, 100, 101, 99, 3e-7}
	s := sampleSweep(cells, 0, nil, 0)
	s.Rounds = rounds
	for i, b := range runs {
		r := experiment.RunRecord{Run: experiment.Run{ID: int64(i + 1), Cell: s.Cells[i%cells].Key, State: states[b>>5]}}
		if rounds > 0 {
			r.Round = 1 + i/cells
		}
		for j, m := range []string{"throughput", "latency_p99", "error_rate", "app.cpu"} {
			if int(b)%7 != j {
				r.Observations = append(r.Observations, experiment.Observation{Metric: m, Phase: experiment.PhaseMeasure, Value: odd[(int(b)+j*i)%len(odd)]})
			}
		}
		s.Runs = append(s.Runs, r)
	}
	return s
}
