package analysis

import (
	"math"
	"math/rand/v2"

	"github.com/ceteris/ceteris/experiment"
)

// shapeMethods computes the cases on trends, changes, doses and interactions.
func shapeMethods() map[string]func(in values) (values, error) {
	return map[string]func(in values) (values, error){
		"mann_kendall": mannKendallCase,
		"page": func(in values) (values, error) {
			p, err := pageMoments(transposed(in.table("rounds")))
			return values{"l": p.Statistic, "mean": p.Mean, "variance": p.Variance, "z": p.Z, "p_increasing_normal": p.RisingP}, err
		},
		"page_exact": func(in values) (values, error) {
			p, err := Page(transposed(in.table("rounds")))
			return values{"l": p.Statistic, "p_increasing": p.RisingP}, err
		},
		"jonckheere_terpstra": func(in values) (values, error) {
			j := jonckheereMoments(in.lists("groups"))
			return values{"j": j.Statistic, "mean": j.Mean, "variance": j.Variance, "z": j.Z, "p_two_sided": j.P(), "p_increasing": j.RisingP}, nil
		},
		"jonckheere_terpstra_exact": func(in values) (values, error) {
			j, err := Jonckheere(in.lists("groups"))
			return values{
				"j": j.Statistic, "p_increasing": j.RisingP, "p_decreasing": j.FallingP, "p_two_sided": j.P(),
				"arrangements": j.Arrangements,
			}, err
		},

		"autocorrelation": func(in values) (values, error) {
			a, err := Lag1(in.list("y"), fixedChance())
			return values{"r1": a.R1}, err
		},
		"lag1_autocorrelation_exact": func(in values) (values, error) {
			a, err := Lag1(in.list("y"), nil)
			return values{"r1": a.R1, "p_positive": a.PositiveP, "p_negative": a.NegativeP}, err
		},
		"pettitt": func(in values) (values, error) {
			c, err := Pettitt(in.list("y"), fixedChance())
			return values{"k": c.K, "change_after": c.After}, err
		},
		"pettitt_exact": func(in values) (values, error) {
			c, err := Pettitt(in.list("y"), nil)
			return values{"k": c.K, "change_after": c.After, "p": c.P, "arrangements": arrangements(ones(len(in.list("y"))))}, err
		},
		"mser5": mser5Case,

		"isotonic_increasing": func(in values) (values, error) { return isotonicCase(in, Isotonic) },
		"isotonic_decreasing": func(in values) (values, error) { return isotonicCase(in, Antitonic) },
		"usl_fit":             uslCase,
		"broken_stick_log2": func(in values) (values, error) {
			s, err := BrokenStick(apply(in.list("level"), math.Log2), apply(in.list("response"), math.Log2))
			return values{
				"break_log2": s.Break, "break_level": math.Exp2(s.Break), "sse": s.Squares, "slope_before": s.Before, "slope_after": s.After,
			}, err
		},

		"interaction_2x2_log_paired": factorialCase,
	}
}

func fixedChance() *rand.Rand { return Seeded(1, "throughput", "cell") }

func (v values) lists(key string) [][]float64 {
	var out [][]float64
	for _, x := range v[key].([]any) {
		out = append(out, asList(x))
	}
	return out
}

func transposed(columns [][]float64) [][]float64 {
	rows := make([][]float64, len(columns[0]))
	for _, c := range columns {
		for i, v := range c {
			rows[i] = append(rows[i], v)
		}
	}
	return rows
}

func mannKendallCase(in values) (values, error) {
	t, err := MannKendall(in.list("y"))
	out := values{
		"s": t.S, "var_s": t.Variance, "z": t.Z, "p_normal_corrected": t.NormalP,
		"exact_p": t.ExactP, "sen_slope": t.Slope,
	}
	if t.AllTied {
		out["flag"] = string(experiment.FlagAllTied)
	}
	return out, err
}

func mser5Case(in values) (values, error) {
	w, err := Truncate(in.list("y"))
	return values{
		"batches": w.Batches, "truncate_batches": w.Cut / experiment.MSERBatch, "truncate_samples": w.Cut,
		"steady_mean": w.Level, "at_limit": w.AtLimit,
	}, err
}

func factorialCase(in values) (values, error) {
	c := in.table("rounds")
	confidence := 0.95
	f, err := FactorialPaired(c[0], c[1], c[2], c[3], confidence)
	return values{
		"ratio_of_ratios": f.Interaction.Value, "lo": f.Interaction.Low, "hi": f.Interaction.High,
		"t": f.Interaction.T, "df": f.Interaction.DF, "p": f.Interaction.P,
		"effect_a_without_b": f.AWithoutB.Value, "effect_a_with_b": f.AWithB.Value, "effect_b_without_a": f.BWithoutA.Value,
		"p_a_without_b": f.AWithoutB.P, "p_a_with_b": f.AWithB.P,
	}, err
}

func isotonicCase(in values, fit func(y, weight []float64) ([]float64, error)) (values, error) {
	y, weight := in.list("y"), in.list("w")
	got, err := fit(y, weight)
	if err != nil {
		return nil, err
	}
	return values{"fit": got, "sse": squaresApart(y, got, weight)}, nil
}

func uslCase(in values) (values, error) {
	u, err := FitUSL(in.list("n"), in.list("throughput"))
	var peak any = u.Peak()
	if math.IsInf(u.Peak(), 1) {
		peak = "Infinity"
	}
	return values{
		"lambda": u.Lambda, "sigma": u.Sigma, "kappa": u.Kappa, "se_lambda": u.LambdaSE, "se_sigma": u.SigmaSE, "se_kappa": u.KappaSE,
		"sse": u.Squares, "r2": u.R2, "peak_n": peak, "peak_throughput": u.At(u.Peak()), "contention_limit": u.Lambda / u.Sigma,
	}, err
}
