package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// scaled multiplies what a cell showed.
func scaled(s experiment.Sweep, cell, metric string, factor float64) experiment.Sweep {
	s.Runs = slices.Clone(s.Runs)
	for i, r := range s.Runs {
		if cell != "" && string(r.Cell) != cell {
			continue
		}
		s.Runs[i].Observations = slices.Clone(r.Observations)
		for j, o := range r.Observations {
			if o.Metric == metric {
				s.Runs[i].Observations[j].Value = o.Value * factor
			}
		}
	}
	return s
}

// reseeded is the same sweep with other noise.
func reseeded(planned, seed int, lines ...string) experiment.Sweep {
	s := sweepOf(planned, lines...)
	for i := range s.Runs {
		for j := range s.Runs[i].Observations {
			s.Runs[i].Observations[j].Value = noise(100*seed+i, i)
		}
	}
	s.ID = int64(seed)
	return s
}

func versusOf(t *testing.T, old, now experiment.Sweep) Versus {
	t.Helper()
	v, err := CompareSweeps(old, now, now.Settings)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func versusRow(t *testing.T, v Versus, cell, metric string) VersusRow {
	t.Helper()
	i := slices.IndexFunc(v.Rows, func(r VersusRow) bool { return string(r.New.Key) == cell && r.Metric == metric })
	if i < 0 {
		t.Fatalf("no row of %s in %s", metric, cell)
	}
	return v.Rows[i]
}

// The numbers are those of Welch's t on logs, at a confidence that holds over all pairs.
func TestTwoSweepsByWelch(t *testing.T) {
	old, now := reseeded(5, 1, "base ooooo", "control ooooo", "x ooooo"), reseeded(7, 2, "base ooooooo", "control ooooooo", "x ooooooo")
	v := versusOf(t, old, now)
	if len(v.Rows) != 3 {
		t.Fatalf("%d rows", len(v.Rows))
	}
	var p []float64
	for _, r := range v.Rows {
		e, err := RatioWelch(valuesIn(old, r.Old), valuesIn(now, r.New), 1-0.05/3)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(*r.Estimate-e.Value) > 1e-12 || math.Abs(*r.Low-e.Low) > 1e-12 || math.Abs(*r.High-e.High) > 1e-12 || *r.P != e.P {
			t.Errorf("%s: %v [%v, %v], p %v, want %v", r.New.Key, *r.Estimate, *r.Low, *r.High, *r.P, e)
		}
		if r.Method != experiment.MethodWelch || r.OldN != 5 || r.NewN != 7 || r.N != 5 || r.Old.Key != r.New.Key {
			t.Errorf("%+v", r)
		}
		p = append(p, e.P)
	}
	holm, err := Holm(p)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range v.Rows {
		if *r.PAdjusted != holm[i] {
			t.Errorf("%s: adjusted %v, want %v", r.New.Key, *r.PAdjusted, holm[i])
		}
	}
}

func valuesIn(s experiment.Sweep, c experiment.Cell) []float64 {
	var out []float64
	for _, r := range s.Runs {
		if r.Cell == c.Key {
			v, _ := r.Observed("throughput")
			out = append(out, v)
		}
	}
	return out
}

// What is better by one is worse by the other.
func TestTwoSweepsMirror(t *testing.T) {
	old := reseeded(6, 1, "base oooooo", "x oooooo", "y oooooo")
	now := scaled(scaled(reseeded(6, 2, "base oooooo", "x oooooo", "y oooooo"), "x", "throughput", 0.5), "y", "throughput", 1.6)
	there, back := versusOf(t, old, now), versusOf(t, now, old)
	mirror := map[experiment.Verdict]experiment.Verdict{experiment.VerdictBetter: experiment.VerdictWorse, experiment.VerdictWorse: experiment.VerdictBetter}
	for i, r := range there.Rows {
		b := back.Rows[i]
		want := r.Verdict
		if m, ok := mirror[want]; ok {
			want = m
		}
		if math.Abs(*r.Estimate**b.Estimate-1) > 1e-12 || math.Abs(*r.Low**b.High-1) > 1e-12 || b.Verdict != want || b.Material != r.Material {
			t.Errorf("%s: %v [%v, %v] %s and back %v [%v, %v] %s", r.New.Key, *r.Estimate, *r.Low, *r.High, r.Verdict, *b.Estimate, *b.Low, *b.High, b.Verdict)
		}
	}
	if x := versusRow(t, there, "x", "throughput"); x.Verdict != experiment.VerdictWorse || x.Material != experiment.MaterialProven || !there.ProvenWorse() {
		t.Errorf("x: %s, %s", x.Verdict, x.Material)
	}
	if worse := versusOf(t, old, scaled(old, "y", "throughput", 1.2)); worse.ProvenWorse() {
		t.Error("a sweep that is nowhere worse")
	}
}

// setIn gives cells the levels of their names: "a=1,b=2"; the first is the baseline, a
// cell named control has its levels.
func setIn(s experiment.Sweep, factors ...string) experiment.Sweep {
	for i := range s.Cells {
		name := string(s.Cells[i].Key)
		if i == 0 || name == "control" {
			name = factors[0]
		}
		s.Cells[i].Settings = nil
		for one := range strings.SplitSeq(name, ",") {
			f, l, _ := strings.Cut(one, "=")
			s.Cells[i].Settings = append(s.Cells[i].Settings, experiment.Setting{Factor: f, Level: l})
		}
	}
	return s
}

// Cells are the same if every level is, whatever is the baseline and in whatever order
// factors stand; the control is not the baseline.
func TestPairsOfEqualSettings(t *testing.T) {
	old := setIn(reseeded(3, 1, "base ooo", "control ooo", "a=2,b=1 ooo", "a=9,b=1 ooo"), "a=1,b=1")
	now := setIn(reseeded(3, 2, "base ooo", "control ooo", "b=1,a=1 ooo", "a=2,b=7 ooo"), "a=2,b=1")
	v := versusOf(t, old, now)
	var got []string
	for _, r := range v.Rows {
		got = append(got, fmt.Sprintf("%s: %s", r.New.Key, r.Old.Key))
	}
	for _, c := range v.OnlyOld {
		got = append(got, "old "+string(c.Key))
	}
	for _, c := range v.OnlyNew {
		got = append(got, "new "+string(c.Key))
	}
	want := []string{"base: a=2,b=1", "b=1,a=1: base", "old control", "old a=9,b=1", "new control", "new a=2,b=7"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}

// The name of a stage counts where there are several.
func TestPairsOfStages(t *testing.T) {
	old, now := reseeded(3, 1, "base ooo", "x ooo"), reseeded(3, 2, "base ooo", "x ooo")
	for i := range now.Cells {
		now.Cells[i].Stage = "peel-1"
	}
	if v := versusOf(t, old, now); len(v.Rows) != 2 {
		t.Errorf("one stage each: %d rows", len(v.Rows))
	}
	old.Cells[1].Stage = "second"
	if v := versusOf(t, old, now); len(v.Rows) != 0 || len(v.OnlyNew) != 2 {
		t.Errorf("two stages: %d rows", len(v.Rows))
	}
}

func TestTwoSweepsWithoutVerdict(t *testing.T) {
	const worse = "worse final FewRounds" // of a half, whatever the noise
	lines := []string{"base ooo", "x ooo"}
	for name, c := range map[string]struct {
		change    func(old, now *experiment.Sweep)
		want      string
		estimated bool
		tested    bool
	}{
		"nothing in the way":  {func(_, _ *experiment.Sweep) {}, worse, true, true},
		"different hosts":     {func(_, now *experiment.Sweep) { now.Host.Cores = experiment.CoreSet{0, 1, 2} }, "not-tested (different hosts) final FewRounds", true, false},
		"hosts and interim":   {func(_, now *experiment.Sweep) { now.Host.CPU, now.Rounds = "z80", 5 }, "not-tested (different hosts) interim: 3 of 5 FewRounds", true, false},
		"another kernel":      {func(_, now *experiment.Sweep) { now.Host.Kernel = "7.0" }, worse, true, true},
		"the new is interim":  {func(_, now *experiment.Sweep) { now.Rounds = 5 }, "pending interim: 3 of 5 FewRounds", true, true},
		"the old is interim":  {func(old, _ *experiment.Sweep) { old.Rounds = 4 }, "pending interim: 3 of 4 FewRounds", true, true},
		"accepted rounds":     {func(old, _ *experiment.Sweep) { old.Rounds, old.Settings.AcceptRounds = 4, true }, "worse stopped: 3 of 4 FewRounds", true, true},
		"the new fails":       {func(_, now *experiment.Sweep) { *now = reseeded(3, 2, "base ooo", "x xxx") }, "fails (the subject failed in every round of the new sweep) final Survivors", false, false},
		"the old failed":      {func(old, _ *experiment.Sweep) { *old = reseeded(3, 1, "base ooo", "x xxx") }, "invalid (no valid run in the old sweep) final Survivors", false, false},
		"no success any more": {func(_, now *experiment.Sweep) { *now = scaled(*now, "x", "throughput", 0) }, "fails (no request succeeded in any round of the new sweep) final FewRounds", false, false},
		"no valid run now":    {func(_, now *experiment.Sweep) { *now = reseeded(3, 2, "base ooo", "x iii") }, "invalid (no valid run in the new sweep) final", false, false},
		"one run is left":     {func(_, now *experiment.Sweep) { *now = reseeded(3, 2, "base ooo", "x oix") }, "not-tested (n < 3) final Survivors", true, false},
		"a zero":              {func(old, _ *experiment.Sweep) { *old = scaled(*old, "x", "throughput", 0) }, "not-tested (ErrNonPositive) final FewRounds", false, false},
		"no finite number":    {func(_, now *experiment.Sweep) { *now = scaled(*now, "x", "throughput", math.Inf(1)) }, "not-tested (ErrNotFinite) final FewRounds", false, false},
		"all values are one":  {func(old, now *experiment.Sweep) { constant(old, 7); constant(now, 7) }, "not-tested (AllTied) final FewRounds AllTied", true, false},
		"no variance at all":  {func(old, now *experiment.Sweep) { constant(old, 7); constant(now, 8) }, "not-tested (ZeroVariance) final FewRounds ZeroVariance", true, false},
		"a metric is missing": {func(_, now *experiment.Sweep) { now.Settings.Metric = "other" }, "not-tested (ErrNoData) final", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			old, now := reseeded(3, 1, lines...), scaled(reseeded(3, 2, lines...), "x", "throughput", 0.3)
			c.change(&old, &now)
			v := versusOf(t, old, now)
			r := versusRow(t, v, "x", now.Settings.Metric)
			got := string(r.Verdict)
			if r.Reason != "" {
				got += " (" + r.Reason + ")"
			}
			got += " " + r.State
			for _, f := range r.Flags {
				got += " " + string(f)
			}
			if got != c.want || (r.Estimate != nil) != c.estimated || (r.Low != nil) != c.tested {
				t.Errorf("%s, estimate %v, low %v, want %s", got, r.Estimate, r.Low, c.want)
			}
		})
	}
}

// A sweep that may stop when it has seen enough has looked several times; its intervals
// are the wider for it, and it is pending until the rule is met.
func TestTwoSweepsWithARule(t *testing.T) {
	old, now := reseeded(5, 1, "base ooooo", "x ooooo"), reseeded(5, 2, "base ooooo", "x ooooo")
	plain := versusRow(t, versusOf(t, old, now), "x", "throughput")
	now.Rounds, now.Stopping = 30, experiment.Stopping{Until: experiment.StopPrecise, Within: 1, AtMost: 30}
	met := versusRow(t, versusOf(t, old, now), "x", "throughput")
	if met.State != "final" || !(*met.Low < *plain.Low && *met.High > *plain.High) || met.Confidence != plain.Confidence || *met.PAdjusted < *plain.PAdjusted {
		t.Errorf("%+v by the rule, %+v without", met, plain)
	}
	now.Stopping.Within = 1e-9
	if open := versusRow(t, versusOf(t, old, now), "x", "throughput"); open.Verdict != experiment.VerdictPending {
		t.Errorf("%s, %s", open.Verdict, open.State)
	}
}

func constant(s *experiment.Sweep, v float64) {
	for i := range s.Runs {
		s.Runs[i].Observations = []experiment.Observation{observed("throughput", v)}
	}
}

// A sweep that fails where the old one did not is worse than worse.
func TestAFailureIsProvenWorse(t *testing.T) {
	old, now := reseeded(3, 1, "base ooo", "x ooo"), reseeded(3, 2, "base ooo", "x xxx")
	if !versusOf(t, old, now).ProvenWorse() || versusOf(t, now, old).ProvenWorse() {
		t.Error("want the new sweep to be worse, and not the other way round")
	}
}

// Rates are compared as differences, and other metrics are families of their own.
func TestTwoSweepsOfOtherMetrics(t *testing.T) {
	old, now := reseeded(4, 1, "base oooo", "x oooo"), reseeded(4, 2, "base oooo", "x oooo")
	for _, s := range []*experiment.Sweep{&old, &now} {
		for i := range s.Runs {
			add(&s.Runs[i], "error_rate", float64(i%3)*1e-4)
		}
	}
	v := versusOf(t, old, now)
	r := versusRow(t, v, "x", "error_rate")
	if !r.Secondary || r.Scale != experiment.ScaleDifference || r.Estimate == nil || math.Abs(*r.Estimate) > 3e-4 {
		t.Errorf("%+v", r)
	}
	if v.Rows[0].Secondary || v.Rows[0].Metric != "throughput" {
		t.Errorf("first row: %s", v.Rows[0].Metric)
	}
}

func TestWhatElseDiffers(t *testing.T) {
	old, now := reseeded(3, 1, "base ooo", "x ooo"), reseeded(3, 2, "base ooo", "x ooo")
	began := time.Date(2026, 3, 4, 5, 6, 0, 0, time.UTC)
	old.Began, now.Began = began, began.AddDate(0, 0, 1)
	old.Images, now.Images = experiment.Images{"app:1": "sha256:aa", "redis:7": "sha256:cc"}, experiment.Images{"app:1": "sha256:bb", "redis:7": "sha256:cc", "new:1": "sha256:dd"}
	old.Version, now.Version = "0.1.0", "0.2.0"
	old.Host.Kernel, now.Host.Kernel = "6.1", "6.2"
	now.Settings.MinimumEffect = 0.05
	for i := range old.Runs {
		old.Runs[i].ConfigHash, now.Runs[i].ConfigHash = "same", "same"
		if now.Runs[i].Cell == "x" {
			now.Runs[i].ConfigHash = "other"
		}
	}
	want := []Difference{
		{"began", "2026-03-04 05:06 UTC", "2026-03-05 05:06 UTC"},
		{"ceteris", "0.1.0", "0.2.0"},
		{"kernel", "6.1", "6.2"},
		{"image app:1", "sha256:aa", "sha256:bb"},
		{"image new:1", "-", "sha256:dd"},
		{"judge.minimum_effect", "0.03", "0.05"},
		{"configuration of a run", "of 2 paired cells", "1 differ"},
	}
	if diff := cmp.Diff(versusOf(t, old, now).Differs, want); diff != "" {
		t.Error(diff)
	}
}

// Ladders are compared as a whole, by their ceilings.
func TestLaddersOfTwoSweeps(t *testing.T) {
	old := climbed(t, 4, map[string]float64{"8": 2500, "64": 2500})
	now := climbed(t, 4, map[string]float64{"8": 1500, "64": 2500})
	v := versusOf(t, old, now)
	n := 0
	for _, r := range v.Rows {
		if r.Metric != experiment.MetricCeiling {
			continue
		}
		n++
		worse := r.New.Label() != "pool=64"
		if r.NewN != 4 || r.Secondary || (r.Verdict == experiment.VerdictWorse && r.Material == experiment.MaterialProven) != worse {
			t.Errorf("%s: n %d, %v, %s (%s)", r.New.Label(), r.NewN, r.Estimate, r.Verdict, r.Reason)
		}
	}
	if n != len(now.Ladders) {
		t.Errorf("%d rows of %d ladders", n, len(now.Ladders))
	}
}

// Among sweeps without any difference one in twenty claims one, in any of its cells: the
// intervals hold together. With 2000 pairs of sweeps the standard error is 0.5 points.
func TestFamilyErrorOfTwoSweeps(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 5))
	noisy := func() experiment.Sweep {
		s := sweepOf(5, "base ooooo", "x ooooo", "y ooooo", "z ooooo")
		for i := range s.Runs {
			s.Runs[i].Observations[0].Value = 1000 * math.Exp(0.05*rng.NormFloat64())
		}
		return s
	}
	const sweeps = 2000
	claims := 0
	for range sweeps {
		if slices.ContainsFunc(versusOf(t, noisy(), noisy()).Rows, func(r VersusRow) bool {
			return r.Verdict == experiment.VerdictBetter || r.Verdict == experiment.VerdictWorse
		}) {
			claims++
		}
	}
	if rate := float64(claims) / sweeps; math.Abs(rate-0.045) > 3*0.005 { // Welch's t is a little below 5% at n = 5
		t.Errorf("%.1f%% of sweeps claim a difference", 100*rate)
	}
}
