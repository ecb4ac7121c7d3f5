package analysis

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// planningMethods computes the cases on numbers of rounds, stopping, resampling and
// components of variance.
func planningMethods() map[string]func(in values) (values, error) {
	return map[string]func(in values) (values, error){
		"chi2_quantile": func(in values) (values, error) {
			return grid(in.list("df"), in.list("p"), func(df, p float64) float64 { return distuv.ChiSquared{K: df}.Quantile(p) }), nil
		},
		"noncentral_t_cdf": noncentralCase,

		"sample_size_ratio":  sampleSizeCase,
		"power_two_sample_t": powerCase,
		"sample_size_half_width": func(in values) (values, error) {
			n, err := RoundsForHalfWidth(in.num("sd"), in.num("half_width"), in.confidence())
			return values{"n": n}, err
		},
		"tost_power_at_equality": func(in values) (values, error) {
			p, err := EquivalencePower(in.num("sd"), in.num("delta"), int(in.num("n")), in.num("alpha"))
			return values{"power": p}, err
		},

		"alpha_spending":  spendingCase,
		"look_confidence": lookCase,
		"aa_alarm":        alarmCase,

		"bootstrap_mean":             func(in values) (values, error) { return bootstrapCase(in, mean) },
		"bootstrap_median":           func(in values) (values, error) { return bootstrapCase(in, median) },
		"bootstrap_ratio_of_means":   func(in values) (values, error) { return bootstrapRatioCase(in, mean) },
		"bootstrap_ratio_of_medians": func(in values) (values, error) { return bootstrapRatioCase(in, median) },

		"permutation_mean_difference": permuteSamplesCase,
		"permutation_sign_flip": func(in values) (values, error) {
			p, err := PermuteSigns(in.list("differences"), nil)
			return permutationValues(p), err
		},
		"permutation_within_rounds": func(in values) (values, error) {
			cells := in.table("rounds")
			for i := range cells {
				cells[i] = logs(cells[i])
			}
			p, err := PermuteRounds(cells, nil)
			return permutationValues(p), err
		},
		"permutation_sampled_p": sampledCase,

		"variance_components": componentsCase,
		"optimal_inner_repetitions": func(in values) (values, error) {
			c := Components{Between: in.num("var_between"), Within: in.num("var_within")}
			m, err := c.SlicesPerRun(in.num("cost_run"), in.num("cost_slice"))
			return values{"m": m, "m_used": math.Ceil(m)}, err
		},
		"cell_mean_variance": func(in values) (values, error) {
			c := Components{Between: in.num("var_between"), Within: in.num("var_within")}
			v, share, err := c.OfMean(int(in.num("runs")), int(in.num("slices")))
			return values{"variance": v, "share_between": share}, err
		},
	}
}

func noncentralCase(in values) (values, error) {
	var rows [][]float64
	for i, df := range in.list("df") {
		rows = append(rows, apply(in.list("t"), distuv.NoncentralT{Nu: df, Mu: in.list("ncp")[i]}.CDF))
	}
	return values{"values": rows}, nil
}

// sampleSizeCase has the spread of one cell; the other varies as much, independently.
func sampleSizeCase(in values) (values, error) {
	sd, delta := math.Sqrt2*in.num("sd_log"), math.Log1p(in.num("min_effect"))
	power, alpha := in.num("power"), in.num("alpha")
	n, err := RoundsForPower(sd, delta, power, alpha)
	if err != nil {
		return nil, err
	}
	exact := root(fewestPaired, mostRounds, func(n float64) float64 { return power - powerAt(delta/sd, n, alpha) })
	return values{"n_paired": exact, "n_paired_used": n}, nil
}

func powerCase(in values) (values, error) {
	p, err := PowerOf(in.num("sd"), in.num("delta"), int(in.num("n")), in.num("alpha"))
	return values{"power_paired": p}, err
}

func spendingCase(in values) (values, error) {
	out := values{}
	for name, spent := range map[string]func(alpha, information float64) (float64, error){
		"obrien_fleming": SpentOBrienFleming, "pocock": SpentPocock,
	} {
		var cumulative, increment []float64
		var before float64
		for _, information := range in.list("information") {
			s, err := spent(in.num("alpha"), information)
			if err != nil {
				return nil, err
			}
			cumulative, increment = append(cumulative, s), append(increment, s-before)
			before = s
		}
		out[name+"_cumulative"], out[name+"_increment"] = cumulative, increment
	}
	return out, nil
}

// lookCase looks after 5, 10, 20 and 30 rounds, as the critical values of the case do.
func lookCase(in values) (values, error) {
	confidence := LookConfidence(1-in.num("alpha"), int(in.num("looks")))
	rounds := []float64{5, 10, 20, 30}
	return values{
		"bonferroni_confidence": confidence, "n": rounds,
		"t_critical_bonferroni": apply(rounds, func(n float64) float64 { return tQuantile(twoSided(confidence), n-1) }),
	}, nil
}

func alarmCase(in values) (values, error) {
	n := int(in.num("comparisons"))
	at := alarmAt(n, in.num("alpha"), in.num("alarm_level"))
	tenth, err := ProportionOf(int64(math.Round(0.1*float64(n))), int64(n), 0.95)
	return values{
		"alarm_at": at, "p_at_alarm": alarmChance(at, n, in.num("alpha")),
		"lo_if_10pct": tenth.ExactLow, "hi_if_10pct": tenth.ExactHigh,
	}, err
}

func mean(x []float64) float64 { return stat.Mean(x, nil) }

func bootstrapCase(in values, statistic func([]float64) float64) (values, error) {
	b, err := BootstrapOf(in.list("x"), statistic, in.confidence(), int(in.num("resamples")), Seeded(2, "bootstrap", ""))
	return bootstrapValues(b), err
}

func bootstrapRatioCase(in values, statistic func([]float64) float64) (values, error) {
	b, err := BootstrapRatio(in.list("baseline"), in.list("treatment"), statistic, in.confidence(), int(in.num("resamples")), Seeded(2, "bootstrap", ""))
	return bootstrapValues(b), err
}

func bootstrapValues(b Bootstrap) values {
	out := values{
		"estimate": b.Value, "se": b.SE, "z0": b.Bias, "acceleration": b.Acceleration,
		"percentile_lo": b.PercentileLow, "percentile_hi": b.PercentileHigh,
		"bca_lo": b.Low, "bca_hi": b.High, "alpha_lo": b.LowLevel, "alpha_hi": b.HighLevel,
	}
	if b.ZeroVariance {
		out["flag"] = "ZeroVariance"
	}
	return out
}

func permutationValues(p PermutationTest) values {
	return values{"extreme": p.Extreme, "total": p.Total, "p": p.P}
}

func permuteSamplesCase(in values) (values, error) {
	a, b := in.list("baseline"), in.list("treatment")
	p, err := PermuteSamples(a, b, nil)
	out := permutationValues(p)
	if err == nil {
		onLogs, _ := PermuteSamples(logs(a), logs(b), nil)
		out["p_log"] = onLogs.P
	}
	return out, err
}

// sampledCase meets the observed arrangement once more, as the test does.
func sampledCase(in values) (values, error) {
	left := int(in.num("extreme"))
	p := permutation{observed: 1, count: math.Inf(1), draw: func() float64 {
		left--
		if left >= 0 {
			return 1
		}
		return 0
	}}.test()
	return values{"p": p.P}, nil
}

func componentsCase(in values) (values, error) {
	var runs [][]float64
	for _, r := range in["runs"].([]any) {
		runs = append(runs, asList(r))
	}
	c, err := ComponentsOf(runs)
	return values{
		"ms_between": c.MeanSquareBetween, "ms_within": c.MeanSquareWithin, "n0": c.Slices,
		"anova_between": c.Untruncated, "anova_between_truncated": c.Between, "anova_within": c.Within, "icc": c.ICC,
	}, err
}

// The effect that is detectable is the one for which the power is as wanted.
func TestDetectableEffect(t *testing.T) {
	for _, n := range []int{2, 3, 5, 10, 30, 1000} {
		for _, alpha := range []float64{0.05, 0.05 / 20} {
			const sd, power = 0.02, 0.8
			d, err := DetectableEffect(sd, n, power, alpha)
			if err != nil {
				t.Fatal(err)
			}
			got, err := PowerOf(sd, d, n, alpha)
			if err != nil || math.Abs(got-power) > 1e-9 {
				t.Errorf("%d rounds at %v: an effect of %v has power %v (%v), want %v", n, alpha, d, got, err, power)
			}
			rounds, err := RoundsForPower(sd, d*(1+1e-9), power, alpha)
			if err != nil || rounds != n {
				t.Errorf("an effect of %v needs %d rounds (%v), want %d", d, rounds, err, n)
			}
		}
	}
}

// Where gonum's noncentral t gives out, the power goes on without a step.
func TestPowerBeyondTheNoncentralT(t *testing.T) {
	for _, n := range []float64{2, 3, 5} {
		for _, alpha := range []float64{0.05, 1e-3} {
			below, above := powerAt(noncentralReach/math.Sqrt(n)*(1-1e-9), n, alpha), powerAt(noncentralReach/math.Sqrt(n)*(1+1e-9), n, alpha)
			if math.Abs(below-above) > 1e-3 {
				t.Errorf("%v rounds at %v: %v below and %v above", n, alpha, below, above)
			}
		}
	}
}

func TestPlanningRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want error
	}{
		"power without spread":   {second(PowerOf(0, 0.03, 5, 0.05)), ErrZeroVariance},
		"power of one round":     {second(PowerOf(0.02, 0.03, 1, 0.05)), ErrTooFew},
		"power of no effect":     {second(PowerOf(0.02, 0, 5, 0.05)), ErrBadParameter},
		"level":                  {second(PowerOf(0.02, 0.03, 5, 1)), ErrBadParameter},
		"power at the level":     {second(RoundsForPower(0.02, 0.03, 0.05, 0.05)), ErrBadParameter},
		"certainty":              {second(RoundsForPower(0.02, 0.03, 1, 0.05)), ErrBadParameter},
		"no end of rounds":       {second(RoundsForPower(1, 1e-3, 0.8, 0.05)), ErrOutOfReach},
		"negative spread":        {second(RoundsForHalfWidth(-1, 0.03, 0.95)), ErrBadParameter},
		"width of nothing":       {second(RoundsForHalfWidth(0.02, 0, 0.95)), ErrBadParameter},
		"infinite spread":        {second(RoundsForHalfWidth(math.Inf(1), 0.03, 0.95)), ErrNotFinite},
		"spread without a pilot": {second(UpperSD(0.02, 0, 0.8)), ErrTooFew},
		"spread not a number":    {second(UpperSD(math.NaN(), 4, 0.8)), ErrNotFinite},
		"equivalence of none":    {second(EquivalencePower(0.02, -0.03, 5, 0.05)), ErrBadParameter},
		"effect of one round":    {second(DetectableEffect(0.02, 1, 0.8, 0.05)), ErrTooFew},
		"information beyond all": {second(SpentPocock(0.05, 1.1)), ErrBadParameter},
		"no information":         {second(SpentOBrienFleming(0.05, 0)), ErrBadParameter},
	} {
		if !errors.Is(tc.err, tc.want) {
			t.Errorf("%s: %v, want %v", name, tc.err, tc.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// The 80% limit of a pilot's deviation lies above the true one in 80% of pilots.
func TestUpperSD(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	const pilots = 4000
	covered := 0
	for range pilots {
		x := make([]float64, 4)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		limit, err := UpperSD(stat.StdDev(x, nil), len(x)-1, 0.8)
		if err != nil {
			t.Fatal(err)
		}
		if limit > 1 {
			covered++
		}
	}
	if share := float64(covered) / pilots; math.Abs(share-0.8) > 3*math.Sqrt(0.8*0.2/pilots) {
		t.Errorf("the limit lies above in %v of pilots, want 0.8", share)
	}
}

// Where arrangements are drawn, the chance is near that of all of them.
func TestSampledPermutations(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	draw := func(n int, shift float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = shift + rng.NormFloat64()
		}
		return x
	}
	differences := draw(18, 0.4)
	a, b := draw(11, 0), draw(12, 0.6)
	cells := [][]float64{draw(8, 0), draw(8, 0.5), draw(8, 0.2)}
	for name, tc := range map[string]struct {
		test func() (PermutationTest, error)
		want float64 // by the test that assumes normal data, which these are
	}{
		"signs":   {func() (PermutationTest, error) { return PermuteSigns(differences, rng) }, pairedP(t, differences)},
		"samples": {func() (PermutationTest, error) { return PermuteSamples(a, b, rng) }, welchP(t, a, b)},
		"rounds":  {func() (PermutationTest, error) { return PermuteRounds(cells, rng) }, roundsP(cells)},
	} {
		got, err := tc.test()
		if err != nil || got.Total != sampledArrangements+1 {
			t.Errorf("%s: %d arrangements (%v), want 10000", name, got.Total, err)
		}
		if math.Abs(got.P-tc.want) > 0.02 {
			t.Errorf("%s: p %v, want about %v", name, got.P, tc.want)
		}
	}
}

func pairedP(t *testing.T, differences []float64) float64 {
	t.Helper()
	e, err := Mean(differences, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	return e.P
}

func welchP(t *testing.T, a, b []float64) float64 {
	t.Helper()
	e, err := Welch(a, b, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	return e.P
}

// roundsP is the F test of the additive model.
func roundsP(cells [][]float64) float64 {
	fit := fitAdditive(cells)
	var means []float64
	for _, c := range cells {
		means = append(means, mean(c))
	}
	between := float64(len(cells[0])) * stat.Variance(means, nil)
	return distuv.F{D1: float64(len(cells) - 1), D2: float64(fit.df)}.Survival(between / fit.mse)
}

func TestResamplingRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x := []float64{1, 2, 3}
	for name, tc := range map[string]struct {
		err  error
		want error
	}{
		"no resamples":         {second(BootstrapOf(x, mean, 0.95, 0, rng)), ErrBadParameter},
		"certainty":            {second(BootstrapOf(x, mean, 1, 10, rng)), ErrBadParameter},
		"a ratio with one run": {second(BootstrapRatio(x, x[:1], mean, 0.95, 10, rng)), ErrTooFew},
		"no differences":       {second(PermuteSigns(nil, rng)), ErrNoData},
		"no cells":             {second(PermuteRounds(nil, rng)), ErrNoData},
		"a cell lacks a round": {second(PermuteRounds([][]float64{x, x[:2]}, rng)), ErrLengthMismatch},
		"no runs":              {second(ComponentsOf(nil)), ErrNoData},
		"a slice is no number": {second(ComponentsOf([][]float64{{1, 2}, {1, math.NaN()}})), ErrNotFinite},
		"nothing between runs": {second(Components{Within: 1}.SlicesPerRun(60, 1)), ErrZeroVariance},
		"slices for nothing":   {second(Components{Within: 1, Between: 1}.SlicesPerRun(60, 0)), ErrBadParameter},
	} {
		if !errors.Is(tc.err, tc.want) {
			t.Errorf("%s: %v, want %v", name, tc.err, tc.want)
		}
	}
	if _, _, err := (Components{Between: 1}).OfMean(0, 1); !errors.Is(err, ErrBadParameter) {
		t.Errorf("mean of no runs: %v", err)
	}
}
