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
	"gonum.org/v1/gonum/stat"

	"github.com/ceteris/ceteris/experiment"
)

// doseSweep makes a sweep with one factor, the first level being the baseline's. Rounds
// share a level, runs have 1% of noise of their own, and effect says what becomes of 1000.
func doseSweep(levels []string, rounds int, effect func(level float64) float64) experiment.Sweep {
	s := experiment.Sweep{Rounds: rounds, Settings: defaults()}
	for i, text := range levels {
		setting := []experiment.Setting{{Factor: "pool", Level: text}}
		c := experiment.Cell{
			Key: experiment.CellKey("pool=" + text), Stage: experiment.MainStage, Role: experiment.RoleBaseline, Settings: setting,
		}
		if i > 0 {
			c.Role, c.Off, c.Factor, c.Level = experiment.RoleVaried, setting, "pool", text
		}
		s.Cells = append(s.Cells, c)
	}
	for round := 1; round <= rounds; round++ {
		rng := rand.New(rand.NewPCG(uint64(round), 7))
		shared := math.Exp(0.08 * rng.NormFloat64())
		for _, c := range s.Cells {
			v, _, _ := experiment.LevelValue(c.Settings[0].Level)
			s.Runs = append(s.Runs, experiment.RunRecord{
				Run: experiment.Run{ID: int64(len(s.Runs) + 1), Cell: c.Key, Round: round, State: experiment.StateOK},
				Observations: []experiment.Observation{
					observed("throughput", 1000*shared*effect(v)*math.Exp(0.01*rng.NormFloat64())),
				},
			})
		}
	}
	return s
}

func responseOf(t *testing.T, s experiment.Sweep) experiment.Response {
	t.Helper()
	r := analysed(t, s).Responses
	if len(r) != 1 {
		t.Fatalf("%d responses, want 1: %+v", len(r), r)
	}
	return r[0]
}

// shape of a response in words.
func shape(r experiment.Response) string {
	out := []string{string(r.Trend)}
	if r.Test != "" {
		out[0] = r.Test + " " + out[0]
	}
	if r.Reason != "" {
		out[0] += " (" + r.Reason + ")"
	}
	if r.Best != "" {
		out = append(out, fmt.Sprintf("best %s smallest %s", r.Best, r.Smallest))
	}
	if r.Knee != nil {
		out = append(out, fmt.Sprintf("knee %.3g", r.Knee.At))
	}
	switch {
	case r.USL == nil:
	case r.USL.Peak != nil:
		out = append(out, fmt.Sprintf("peak %.3g", *r.USL.Peak))
	default:
		out = append(out, "no peak: "+r.USL.Reason)
	}
	return strings.NewReplacer("pool=", "", "main|varied|", "", "||ladder", "").Replace(strings.Join(out, "; "))
}

func TestResponses(t *testing.T) {
	doubling := []string{"1", "2", "4", "8", "16", "32"}
	saturating := func(v float64) float64 { return min(v, 8) }
	law := func(v float64) float64 { return v / (1 + 0.05*(v-1) + 0.002*v*(v-1)) }
	for _, tc := range []struct {
		name   string
		levels []string
		rounds int
		effect func(float64) float64
		want   string
	}{
		{"saturates", doubling[:5], 5, saturating, "page rising; best 8 smallest 8; knee 8"},
		{"the best mean is not that of the smallest equivalent level", []string{"1", "8", "9", "10", "11"}, 5, func(v float64) float64 { return min(v, 8) * (1 + 0.001*v) }, "page rising; best 10 smallest 8; knee 8"},
		{"falls", doubling[:5], 5, func(v float64) float64 { return 1 / (1 + v/10) }, "page falling; best 1 smallest 1; knee 5.49"},
		{"flat", doubling[:5], 5, func(float64) float64 { return 1 }, "page none; best 1 smallest 1"},
		{"a hump is no trend", doubling, 5, func(v float64) float64 { return 1 / (1 + math.Pow(math.Log2(v)-2.5, 2)) }, "page none; best 8 smallest 4; knee 5.67; no peak: coherency cannot be told from none"},
		{"contention and coherency", append(doubling[:6:6], "64"), 10, law, "page rising; best 16 smallest 16; knee 12.1; peak 21.8"},
		{"before the bend", doubling, 5, func(v float64) float64 { return v }, "page rising; best 32 smallest 32; no peak: the levels do not reach past the bend"},
		{"contention alone", doubling, 5, func(v float64) float64 { return v / (1 + 0.2*(v-1)) }, "page rising; best 32 smallest 32; knee 5.52; no peak: coherency cannot be told from none"},
		{"durations are no parallel work", []string{"1ms", "2ms", "4ms", "8ms", "16ms", "32ms"}, 5, law, "page rising; best 32ms smallest 32ms"},
		{"three levels, in any order", []string{"4", "1", "16"}, 5, saturating, "page rising; best 16 smallest 16"},
		{"a level that is no number", []string{"off", "1", "4", "16"}, 5, func(v float64) float64 { return 1 + min(v, 8) }, "page rising; best 16 smallest 16"},
		{"a zero has no logarithm", append([]string{"0"}, doubling[:5]...), 5, func(v float64) float64 { return 1 + min(v, 8) }, "page rising; best 8 smallest 8; knee 8"},
		{"few rounds", doubling[:5], 4, saturating, "page not-tested (n < 5); best 8 smallest 8"},
		{"two rounds", doubling[:5], 2, saturating, "not-tested (n < 3)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := responseOf(t, doseSweep(tc.levels, tc.rounds, tc.effect))
			if got := shape(r); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestResponseOfRoundsThatAreMissing(t *testing.T) {
	levels := []string{"1", "2", "4", "8", "16"}
	effect := func(v float64) float64 { return min(v, 8) }
	drop := func(s *experiment.Sweep, gone func(r experiment.RunRecord) bool) {
		s.Runs = slices.DeleteFunc(s.Runs, gone)
	}
	for _, tc := range []struct {
		name   string
		change func(s *experiment.Sweep)
		levels string
		want   string
	}{
		{"rounds to come", func(s *experiment.Sweep) { s.Rounds = 10 }, "1 2 4 8 16", "page not-tested (pending); knee 8"},
		{
			"rounds to come that nobody waits for",
			func(s *experiment.Sweep) { s.Rounds, s.Settings.AcceptRounds = 10, true }, "1 2 4 8 16", "page rising; best 8 smallest 8; knee 8",
		},
		{"a level that failed is left out", func(s *experiment.Sweep) {
			eachRun(s, "pool=16", func(r *experiment.RunRecord) { r.State = experiment.StateFailedSubject })
		}, "1 2 4 8", "page rising; best 8 smallest 8"},
		{"a level with a round less", func(s *experiment.Sweep) {
			drop(s, func(r experiment.RunRecord) bool { return r.Cell == "pool=16" && r.Round == 2 })
		}, "1 2 4 8 16", "page rising; best 8 smallest 8; knee 8"},
		{"a zero in a level", func(s *experiment.Sweep) {
			eachRun(s, "pool=2", func(r *experiment.RunRecord) { r.Observations[0].Value = 0 })
		}, "1 4 8 16", "page rising; best 8 smallest 8"},
		{"no number in a level", func(s *experiment.Sweep) {
			eachRun(s, "pool=2", func(r *experiment.RunRecord) { r.Observations[0].Value = math.NaN() })
		}, "1 4 8 16", "page rising; best 8 smallest 8"},
		{"no rounds at all", func(s *experiment.Sweep) {
			for i := range s.Runs {
				s.Runs[i].Round = 0
			}
		}, "1 2 4 8 16", "jonckheere rising; best 8 smallest 8; knee 8"},
		{"all one number", func(s *experiment.Sweep) {
			for i := range s.Runs {
				s.Runs[i].Observations[0].Value = 7
			}
		}, "1 2 4 8 16", "page none; best 1 smallest 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := doseSweep(levels, 6, effect)
			tc.change(&s)
			r := responseOf(t, s)
			var texts []string
			for _, l := range r.Levels {
				texts = append(texts, l.Text)
			}
			if got := strings.Join(texts, " "); got != tc.levels {
				t.Errorf("levels %s, want %s", got, tc.levels)
			}
			if got := shape(r); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
	for name, change := range map[string]func(s *experiment.Sweep){
		"no run of the baseline": func(s *experiment.Sweep) {
			drop(s, func(r experiment.RunRecord) bool { return r.Cell == "pool=1" })
		},
		"two levels left": func(s *experiment.Sweep) {
			drop(s, func(r experiment.RunRecord) bool { return r.Cell != "pool=1" && r.Cell != "pool=2" })
		},
	} {
		s := doseSweep(levels, 6, effect)
		change(&s)
		if r := analysed(t, s).Responses; len(r) > 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// The mean of a level that lacks a round is not that of the other rounds' level.
func TestResponseAllowsForTheLevelOfRounds(t *testing.T) {
	s := doseSweep([]string{"1", "2", "4"}, 5, func(float64) float64 { return 1 })
	for i := range s.Runs {
		s.Runs[i].Observations[0].Value = 1000 * math.Pow(2, float64(s.Runs[i].Round))
	}
	s.Runs = slices.DeleteFunc(s.Runs, func(r experiment.RunRecord) bool { return r.Cell == "pool=4" && r.Round == 5 })
	for _, l := range responseOf(t, s).Levels {
		if math.Abs(l.Mean-8000) > 1e-6 {
			t.Errorf("%s: mean %v of %d runs, want 8000", l.Text, l.Mean, l.N)
		}
	}
}

// Under a rule of stopping the p-value is one at the nominal confidence, as the trend is.
func TestATrendUnderARule(t *testing.T) {
	undecided := 0
	for slope := 0.0; slope < 0.01; slope += 0.0002 {
		s := doseSweep([]string{"1", "2", "4", "8", "16"}, 5, func(v float64) float64 { return math.Exp(slope * math.Log2(v)) })
		fixed := *responseOf(t, s).P
		s.Rounds, s.Settings.AcceptRounds = 30, true
		s.Stopping = experiment.Stopping{Until: experiment.StopDecided, AtMost: s.Rounds}
		r := responseOf(t, s)
		if want := min(1, 4*fixed); math.Abs(*r.P-want) > 1e-12 {
			t.Errorf("slope %v: p = %v, want %v", slope, *r.P, want)
		}
		if (*r.P < 0.05) != (r.Trend == experiment.TrendRising) {
			t.Errorf("slope %v: %s at p = %v", slope, r.Trend, *r.P)
		}
		if fixed < 0.05 && r.Trend == experiment.TrendNone {
			undecided++
		}
	}
	if undecided == 0 {
		t.Error("no slope tells the two levels apart")
	}
}

func TestResponsesOfConditionsAndStages(t *testing.T) {
	s := designed(5, 1)
	var got []string
	for _, r := range analysed(t, s).Responses {
		got = append(got, fmt.Sprintf("%s %s %s %d", r.Stage, r.Condition, r.Factor, len(r.Levels)))
	}
	want := []string{"found users=60 pool 3", "found users=1000 pool 3", "tuned users=60 pool 3", "tuned users=1000 pool 3"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}

	users := doseSweep([]string{"1", "2", "4", "8", "16", "32", "64"}, 5, func(v float64) float64 { return v / (1 + 0.05*(v-1) + 0.002*v*(v-1)) })
	users.Across = []string{"users"}
	for i, c := range users.Cells {
		level, _ := c.Lookup("pool")
		setting := []experiment.Setting{{Factor: "users", Level: level}, {Factor: "pool", Level: "1"}}
		users.Cells[i] = experiment.Cell{
			Key: c.Key, Stage: c.Stage, Role: experiment.RoleBaseline, Settings: setting, Condition: "users=" + level,
		}
	}
	r := responseOf(t, users)
	if got, want := r.Condition+r.Factor+" "+shape(r), "users page rising; knee 12.1; peak 21.7"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	eachRun(&users, "pool=1", func(r *experiment.RunRecord) { r.Observations = append(r.Observations, observed("dropped", 0)) })
	if r := responseOf(t, users); r.USL != nil {
		t.Errorf("open load: the rate is that of the arrivals, yet there is a law: %+v", r.USL)
	}
}

func TestResponsesOfLadders(t *testing.T) {
	s := climbed(t, 5, map[string]float64{"8": 1500, "16": 2500, "32": 3500, "64": 3500})
	var got []string
	for _, r := range analysed(t, s).Responses {
		if r.Metric == experiment.MetricCeiling || r.Metric == "throughput" && r.Factor == "rate" {
			text := fmt.Sprintf("%s %s(%s):", r.Metric, r.Factor, r.Condition)
			for _, l := range r.Levels {
				text += fmt.Sprintf(" %.0f", l.Mean/100)
			}
			got = append(got, text+" "+shape(r))
		}
	}
	want := []string{"throughput rate(): 10 15 15 15 page rising", "ceiling pool(): 15 25 35 35 page rising; best 32 smallest 32"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
}

// In another unit means, fits and the law are in that unit, and nothing else changes.
func TestRescalingAResponse(t *testing.T) {
	s := doseSweep([]string{"1", "2", "4", "8", "16", "32", "64"}, 6, func(v float64) float64 { return v / (1 + 0.05*(v-1) + 0.002*v*(v-1)) })
	want := responseOf(t, s)
	for i := range s.Runs {
		s.Runs[i].Observations[0].Value *= 1e-3
	}
	for i := range want.Levels {
		want.Levels[i].Mean *= 1e-3
		want.Levels[i].Fit *= 1e-3
	}
	want.USL.Lambda *= 1e-3
	if diff := cmp.Diff(responseOf(t, s), want, cmpopts.EquateApprox(1e-6, 0)); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
}

// A straight line shows a knee in about 5% of sweeps.
func TestKneeOfAStraightLine(t *testing.T) {
	const sweeps = 2000
	rng := rand.New(rand.NewPCG(4, 4))
	for _, levels := range []int{5, 8, 12} {
		found := 0
		for range sweeps {
			d := doses{paired: true, rounds: make([][]float64, 5)}
			for i := range levels {
				d.levels = append(d.levels, axisLevel{value: math.Exp2(float64(i))})
				for r := range d.rounds {
					d.rounds[r] = append(d.rounds[r], 0.3*float64(i)+0.1*rng.NormFloat64())
				}
			}
			if d.knee(Options{Confidence: 0.95}) != nil {
				found++
			}
		}
		if share := float64(found) / sweeps; share < 0.025 || share > 0.075 {
			t.Errorf("%d levels: a knee in %.1f%% of sweeps", levels, 100*share)
		}
	}
}

func TestMetricsOfResponses(t *testing.T) {
	s := doseSweep([]string{"1", "2", "4"}, 5, func(v float64) float64 { return v })
	s.Settings.Metric = "app.cpu"
	s.Declared = []experiment.Metric{{Name: "app.queued"}, {Name: "app.cpu"}}
	all := []string{"throughput", "app.cpu", "app.queued", "app.memory", "latency_p50", "service_time_p50", "latency_p90", "service_time_p99"}
	for i := range s.Runs {
		v := s.Runs[i].Observations[0].Value
		s.Runs[i].Observations = nil
		for _, m := range all {
			s.Runs[i].Observations = append(s.Runs[i].Observations, observed(m, v))
		}
	}
	var got []string
	for _, r := range analysed(t, s).Responses {
		got = append(got, r.Metric)
	}
	if diff := cmp.Diff(got, []string{"app.cpu", "throughput", "latency_p50", "service_time_p99", "app.queued"}); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
}

// A level that is worse than the best by just the minimum effect is recommended in at most
// 5% of sweeps, and one that is as good as the best in most.
func TestWhatIsRecommended(t *testing.T) {
	const sweeps = 1000
	o := Options{Metric: throughput(true), Confidence: 0.95, MinimumEffect: 0.03, paired: true}
	w := worker{dunnett: newDunnett()}
	rng := rand.New(rand.NewPCG(6, 6))
	for _, tc := range []struct {
		name        string
		low         float64 // of the smallest level; the others are 1
		least, most float64 // share of sweeps in which it is recommended
	}{
		{"worse by the minimum effect", 1 / 1.03, 0, 0.05},
		{"as good", 1, 0.8, 1},
	} {
		picked := 0
		for range sweeps {
			var d doses
			for i, truth := range []float64{tc.low, 1, 1, 1} {
				s := Sample{Cell: experiment.CellKey(fmt.Sprint(i))}
				for round := 1; round <= 5; round++ {
					s.Rounds, s.Values = append(s.Rounds, round), append(s.Values, truth*math.Exp(0.01*rng.NormFloat64()))
				}
				d.samples, d.weights = append(d.samples, s), append(d.weights, 5)
				d.means = append(d.means, stat.Mean(logs(s.Values), nil))
			}
			var out experiment.Response
			if w.recommend(&out, d, o); out.Smallest == "0" {
				picked++
			}
		}
		if share := float64(picked) / sweeps; share < tc.least || share > tc.most {
			t.Errorf("%s: recommended in %.1f%% of sweeps", tc.name, 100*share)
		}
	}
}
