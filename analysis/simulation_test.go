package analysis

import (
	"encoding/csv"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// simulationsFlag is how many data sets each simulation takes; 0 is as many as an
// ordinary test run has time for.
const simulationsFlag = "simulations"

func TestMain(m *testing.M) {
	flag.Int(simulationsFlag, 0, "data sets of each simulation; 0: as many as there is time for")
	os.Exit(m.Run())
}

// figure is a line of testdata/simulated.csv: in what share of data sets an
// independent program met an outcome.
type figure struct {
	simulation
	outcome string
	share   float64
	sets    int
}

// simulation is what one row of figures was measured on.
type simulation struct {
	what   string // family, cell, ratio, verdict, precise, decided
	noise  string
	rounds float64 // precise: the half-width to be reached
	method experiment.Method
	truth  float64 // ratio of the first cell to the baseline; all others are 1
}

func (s simulation) String() string {
	return fmt.Sprintf("%s/%s/%v/%s/%v", s.what, s.noise, s.rounds, s.method, s.truth)
}

// rng is seeded by what is simulated, so that order and selection of tests change
// nothing.
func (s simulation) rng() *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(s.String()))
	return rand.New(rand.NewPCG(1, h.Sum64()))
}

// TestSimulations measures errors, power, coverage and chances of verdicts of the
// comparisons as they are made, and sets them beside those that decided the defaults.
func TestSimulations(t *testing.T) {
	var order []simulation
	figures := make(map[simulation][]figure)
	for _, f := range readFigures(t) {
		if figures[f.simulation] == nil {
			order = append(order, f.simulation)
		}
		figures[f.simulation] = append(figures[f.simulation], f)
	}
	run := map[string]struct {
		simulate func(t *testing.T, s simulation, sets int) map[string]int
		sets     int
	}{
		"family":  {simulateFamily, 500},
		"cell":    {simulateCell, 1000},
		"ratio":   {simulateRatio, 1500},
		"verdict": {simulateVerdict, 1500},
		"precise": {simulatePrecise, 1500},
		"decided": {simulateDecided, 3000},
	}
	for _, s := range order {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			r, ok := run[s.what]
			if !ok {
				t.Fatalf("nothing simulates %s", s.what)
			}
			sets := r.sets / simulationShare
			if n := flag.Lookup(simulationsFlag).Value.(flag.Getter).Get().(int); n > 0 {
				sets = n
			}
			counts := r.simulate(t, s, sets)
			for _, f := range figures[s] {
				f.check(t, counts[f.outcome], sets)
			}
		})
	}
}

// check wants the two shares to be within three standard errors of their difference.
func (f figure) check(t *testing.T, count, sets int) {
	t.Helper()
	n, m := float64(sets), float64(f.sets)
	got := float64(count) / n
	all := (float64(count) + f.share*m + 1) / (n + m + 2)
	limit := 3 * math.Sqrt(all*(1-all)*(1/n+1/m))
	if math.Abs(got-f.share) > limit {
		t.Errorf("%s: %.4f of %d data sets, want %.4f within %.4f", f.outcome, got, sets, f.share, limit)
	}
}

func readFigures(t *testing.T) []figure {
	t.Helper()
	f, err := os.Open("testdata/simulated.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var out []figure
	for _, c := range rows {
		out = append(out, figure{
			simulation: simulation{what: c[0], noise: c[1], rounds: number(c[2]), method: experiment.Method(c[3]), truth: number(c[4])},
			outcome:    c[5], share: number(c[6]), sets: int(number(c[7])),
		})
	}
	return out
}

func plain() Options {
	return Options{Metric: throughput(true), Confidence: 0.95, MinimumEffect: 0.03}
}

// noMinimum leaves out how many rounds are still needed, which takes most of the time.
func noMinimum() Options {
	o := plain()
	o.MinimumEffect = 0
	return o
}

func roundsSample(cell string, logs []float64) Sample {
	s := Sample{Cell: experiment.CellKey(cell), Rounds: roundsOf(len(logs))}
	for _, v := range logs {
		s.Values = append(s.Values, math.Exp(v))
	}
	return s
}

// simulateFamily compares 8 cells with their baseline. Rounds share a level of 8%, a
// run's own noise is 2%, four times that in noisy cells; with two modes a run loses
// 18% in three of ten. Wrong is a comparison that shows a difference where there is
// none.
func simulateFamily(t *testing.T, s simulation, sets int) map[string]int {
	t.Helper()
	const cells = 8
	rng, d, counts := s.rng(), newDunnett(), map[string]int{}
	noisy := map[string]int{"one-noisy": 1, "three-noisy": 3}[s.noise]
	for range sets {
		var samples []Sample
		level := make([]float64, int(s.rounds))
		for r := range level {
			level[r] = 0.08 * rng.NormFloat64()
		}
		for i := range cells + 1 {
			x := make([]float64, len(level))
			for r := range x {
				x[r] = level[r] + cellNoise(rng, s.noise == "two-mode", i > cells-noisy)
				if i == 1 {
					x[r] += math.Log(s.truth)
				}
			}
			samples = append(samples, roundsSample(fmt.Sprint(i), x))
		}
		f := d.compareFamily(samples[0], samples[1:], noMinimum())
		wrong := false
		for i, c := range f.Comparisons {
			if c.Method != s.method {
				t.Fatalf("method %s, want %s", c.Method, s.method)
			}
			wrong = wrong || excludesNone(c) && (i > 0 || s.truth == 1)
		}
		tally(counts, "wrong", wrong)
		tally(counts, "found", excludesNone(f.Comparisons[0]))
	}
	return counts
}

func cellNoise(rng *rand.Rand, twoModes, noisy bool) float64 {
	if !twoModes {
		if noisy {
			return 0.08 * rng.NormFloat64()
		}
		return 0.02 * rng.NormFloat64()
	}
	v := 0.01 * rng.NormFloat64()
	if rng.Float64() >= 0.7 {
		v -= 0.2
	}
	return v
}

// tally counts an outcome.
func tally(counts map[string]int, outcome string, met bool) {
	if met {
		counts[outcome]++
	}
}

// simulateCell makes the interval of one cell by each of the methods. Covered is an
// interval that holds the true mean, geometric mean or median.
func simulateCell(t *testing.T, s simulation, sets int) map[string]int {
	t.Helper()
	const resamples = 2000
	rng, counts := s.rng(), map[string]int{}
	truth := map[string]float64{"normal": 1, "lognormal": math.Exp(0.3 * 0.3 / 2), "bimodal": 0.94, "outlier": 0.97}[s.noise]
	for range sets {
		x, _ := twoCells(rng, s.noise, int(s.rounds))
		var low, high float64
		var err error
		switch s.method {
		case experiment.MethodT, experiment.MethodTLog:
			f := Mean
			if s.method == experiment.MethodTLog {
				f, truth = GeometricMean, 1
			}
			e, failed := f(x, 0.95)
			low, high, err = e.Low, e.High, failed
		case "median", "hodges-lehmann":
			f := MedianInterval
			if s.method == "hodges-lehmann" {
				f = HodgesLehmann
			}
			r, failed := f(x, 0.95)
			low, high, err = r.Low, r.High, failed
		case "bca":
			b, failed := BootstrapOf(x, mean, 0.95, resamples, rng)
			low, high, err = b.Low, b.High, failed
		default:
			t.Fatalf("no interval is made by %s", s.method)
		}
		if err != nil {
			t.Fatal(err)
		}
		tally(counts, "covered", low <= truth && truth <= high)
	}
	return counts
}

// simulateRatio compares one cell with its baseline, by round or, for Welch's t,
// without. Covered is an interval that holds the true ratio.
func simulateRatio(t *testing.T, s simulation, sets int) map[string]int {
	t.Helper()
	rng, counts := s.rng(), map[string]int{}
	for range sets {
		x, y := twoCells(rng, s.noise, int(s.rounds))
		for i := range y {
			y[i] *= s.truth
		}
		a, b := Sample{Cell: "a", Values: x}, Sample{Cell: "b", Values: y}
		if s.method == experiment.MethodOwn {
			a.Rounds, b.Rounds = roundsOf(len(x)), roundsOf(len(y))
		}
		c := Compare(a, b, noMinimum())
		if c.Method != s.method {
			t.Fatalf("method %q, want %s: %s", c.Method, s.method, c.Reason)
		}
		tally(counts, "covered", *c.Low <= s.truth && s.truth <= *c.High)
		tally(counts, "found", excludesNone(c))
	}
	return counts
}

// twoCells draws n runs of two cells that do not differ.
func twoCells(rng *rand.Rand, noise string, n int) (x, y []float64) {
	about := func(centre, cv float64) float64 { return centre * (1 + cv*rng.NormFloat64()) }
	either := func(chance, one, other float64) float64 {
		if rng.Float64() < chance {
			return one
		}
		return other
	}
	for r := range n {
		var a, b float64
		switch noise {
		case "normal":
			a, b = about(1, 0.05), about(1, 0.05)
		case "lognormal":
			a, b = math.Exp(0.3*rng.NormFloat64()), math.Exp(0.3*rng.NormFloat64())
		case "bimodal":
			a, b = about(either(0.7, 1, 0.8), 0.01), about(either(0.7, 1, 0.8), 0.01)
		case "outlier":
			a, b = about(either(0.9, 1, 0.7), 0.02), about(either(0.9, 1, 0.7), 0.02)
		case "block", "block-lognormal":
			level, own := 0.08, func(l float64) float64 { return about(l, 0.02) }
			if noise == "block-lognormal" {
				level, own = 0.2, func(l float64) float64 { return l * math.Exp(0.2*rng.NormFloat64()) }
			}
			l := math.Exp(level * rng.NormFloat64())
			a, b = own(l), own(l)
		case "drift": // of 10% over all rounds, within a round by the order of the two
			step := 0.10 / float64(n-1)
			level, late := 1-step*float64(r), either(0.5, 0, step/20)
			a, b = about(level-late, 0.02), about(level-(step/20-late), 0.02)
		case "hetero":
			a, b = about(1, 0.02), about(1, 0.08)
		default:
			panic("no such noise: " + noise)
		}
		x, y = append(x, a), append(y, b)
	}
	return x, y
}

// simulateVerdict gives verdicts on one cell whose runs vary by 2%, as its baseline's
// do, on logs.
func simulateVerdict(t *testing.T, s simulation, sets int) map[string]int {
	t.Helper()
	rng, counts := s.rng(), map[string]int{}
	for range sets {
		x, y := make([]float64, int(s.rounds)), make([]float64, int(s.rounds))
		for r := range x {
			x[r], y[r] = 0.02*rng.NormFloat64(), math.Log(s.truth)+0.02*rng.NormFloat64()
		}
		c := Compare(roundsSample("a", x), roundsSample("b", y), plain())
		if c.Method != s.method {
			t.Fatalf("method %q, want %s: %s", c.Method, s.method, c.Reason)
		}
		counts[string(c.Verdict)]++
		better := c.Verdict == experiment.VerdictBetter
		tally(counts, "proven", better && c.Material == experiment.MaterialProven)
		tally(counts, "likely or proven", better && c.Material != experiment.MaterialUnproven)
	}
	return counts
}

// simulatePrecise measures identical cells, whose log ratio varies by 3%, until the
// interval is narrow enough. Wrong is the last interval, if it excludes none.
func simulatePrecise(t *testing.T, s simulation, sets int) map[string]int {
	t.Helper()
	rule := experiment.Stopping{Until: experiment.StopPrecise, Within: math.Expm1(s.rounds), AtMost: experiment.DefaultAtMost}
	rng, d, counts := s.rng(), newDunnett(), map[string]int{}
	for range sets {
		base, other := identical(rng, rule.AtMost)
		for n := 1; n <= rule.AtMost; n++ {
			if !rule.Due(n) {
				continue
			}
			l := d.lookAt(rule, base.first(n), []Sample{other.first(n)}, noMinimum())
			if l.Met || n == rule.AtMost {
				tally(counts, "wrong", excludesNone(l.Family.Comparisons[0]))
				break
			}
		}
	}
	return counts
}

// simulateDecided looks at identical cells whenever it is due and whatever is seen, so
// that no reason to stop can do worse. Wrong is any interval that excludes none.
func simulateDecided(t *testing.T, s simulation, sets int) map[string]int {
	t.Helper()
	rule := experiment.Stopping{Until: experiment.StopDecided, AtMost: int(s.rounds)}
	rng, d, counts := s.rng(), newDunnett(), map[string]int{}
	for range sets {
		base, other := identical(rng, rule.AtMost)
		wrong := false
		for n := 1; n <= rule.AtMost; n++ {
			if rule.Due(n) {
				l := d.lookAt(rule, base.first(n), []Sample{other.first(n)}, noMinimum())
				wrong = wrong || excludesNone(l.Family.Comparisons[0])
			}
		}
		tally(counts, "wrong", wrong)
	}
	return counts
}

// identical draws two cells that do not differ and share all noise but 3%.
func identical(rng *rand.Rand, rounds int) (base, other Sample) {
	x, y := make([]float64, rounds), make([]float64, rounds)
	for r := range x {
		x[r] = 0.05 * rng.NormFloat64()
		y[r] = x[r] + 0.03*rng.NormFloat64()
	}
	return roundsSample("a", x), roundsSample("b", y)
}

// first keeps the first n rounds.
func (s Sample) first(n int) Sample {
	s.Rounds, s.Values = s.Rounds[:n], s.Values[:n]
	return s
}

func excludesNone(c experiment.Comparison) bool { return *c.Low > 1 || *c.High < 1 }
