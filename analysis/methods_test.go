package analysis

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ceteris/ceteris/experiment"
)

// methods computes what a reference case names.
func methods() map[string]func(in values) (values, error) {
	return map[string]func(in values) (values, error){
		"student_t_quantile": func(in values) (values, error) {
			return grid(in.list("df"), in.list("p"), func(df, p float64) float64 { return tQuantile(p, df) }), nil
		},
		"student_t_two_sided_p": func(in values) (values, error) {
			return grid(in.list("df"), in.list("t"), func(df, t float64) float64 { return tTwoSided(t, df) }), nil
		},
		"normal_quantile":    func(in values) (values, error) { return each(in.list("p"), normalQuantile), nil },
		"normal_two_sided_p": func(in values) (values, error) { return each(in.list("z"), normalTwoSided), nil },
		"binomial_cdf": func(in values) (values, error) {
			return each(in.list("k"), distuv.Binomial{N: in.num("n"), P: in.num("p")}.CDF), nil
		},
		"beta_quantile": func(in values) (values, error) {
			var rows [][]float64
			for i, a := range in.list("a") {
				rows = append(rows, apply(in.list("p"), distuv.Beta{Alpha: a, Beta: in.list("b")[i]}.Quantile))
			}
			return values{"values": rows}, nil
		},

		"quantile_type7": quantileCase,
		"median":         func(in values) (values, error) { return values{"estimate": median(in.list("x"))}, nil },
		"mad": func(in values) (values, error) {
			m := mad(in.list("x"))
			return values{"raw": m, "scaled": madScale * m}, nil
		},
		"describe":                        describeCase,
		"mean_t_interval":                 func(in values) (values, error) { return meanCase(in, Mean) },
		"geomean_t_interval":              func(in values) (values, error) { return meanCase(in, GeometricMean) },
		"median_order_statistic_interval": medianCase,
		"hodges_lehmann_one_sample":       hodgesLehmannCase,

		"welch":            func(in values) (values, error) { return twoCase(in, "difference", Welch) },
		"paired_t":         func(in values) (values, error) { return twoCase(in, "difference", Paired) },
		"ratio_log_welch":  func(in values) (values, error) { return twoCase(in, "ratio", RatioWelch) },
		"ratio_log_paired": func(in values) (values, error) { return twoCase(in, "ratio", RatioPaired) },
		"fieller_welch":    func(in values) (values, error) { return fiellerCase(in, FiellerWelch) },
		"fieller_paired":   func(in values) (values, error) { return fiellerCase(in, FiellerPaired) },

		"mann_whitney":         mannWhitneyCase,
		"wilcoxon_signed_rank": signedRankCase,
		"hodges_lehmann_shift": shiftCase,

		"ceiling": ceilingCase,

		"adjust":            adjustCase,
		"dunnett_critical":  dunnettCriticalCase,
		"dunnett":           dunnettCase,
		"dunnett_block_log": dunnettBlockCase,
		"holm_paired_log":   holmPairedCase,

		"tost_log_paired":             func(in values) (values, error) { return tostCase(in, true) },
		"tost_log_welch":              func(in values) (values, error) { return tostCase(in, false) },
		"verdict":                     verdictCase,
		"compare_rounds":              compareRoundsCase,
		"compare_rounds_own_variance": compareRoundsCase,
		"compare_unpaired":            compareUnpairedCase,

		"multimodal_gap":      gapCase,
		"outlier_mad":         outlierCase,
		"proportion_interval": proportionCase,
	}
}

func apply(x []float64, f func(float64) float64) []float64 {
	var out []float64
	for _, v := range x {
		out = append(out, f(v))
	}
	return out
}

func each(x []float64, f func(float64) float64) values { return values{"values": apply(x, f)} }

func grid(rows, columns []float64, f func(row, column float64) float64) values {
	var out [][]float64
	for _, r := range rows {
		out = append(out, apply(columns, func(c float64) float64 { return f(r, c) }))
	}
	return values{"values": out}
}

func quantileCase(in values) (values, error) {
	var out []float64
	for _, p := range in.list("p") {
		q, err := Quantile(in.list("x"), p)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return values{"values": out}, nil
}

func describeCase(in values) (values, error) {
	x := in.list("x")
	var i experiment.Interval
	describe(&i, x)
	g, err := GeometricMean(x, 0.95)
	m, _ := Mean(x, 0.95)
	sd := *i.CV * m.Value
	return values{
		"n": len(x), "mean": m.Value, "variance": sd * sd, "sd": sd, "cv": *i.CV,
		"geomean": g.Value, "min": *i.Min, "max": *i.Max,
	}, err
}

func meanCase(in values, f func([]float64, float64) (Estimate, error)) (values, error) {
	e, err := f(in.list("x"), in.confidence())
	out := estimateValues(e)
	out["estimate"] = e.Value
	out["rel_half_width"] = (e.High - e.Low) / 2 / e.Value
	return out, err
}

func estimateValues(e Estimate) values {
	out := values{"se": e.SE, "df": e.DF, "lo": e.Low, "hi": e.High, "t": e.T, "p": e.P}
	if e.ZeroVariance {
		out["flag"] = "ZeroVariance"
	}
	return out
}

func rankIntervalValues(r RankInterval, name string) values {
	return values{name: r.Value, "lo": r.Low, "hi": r.High, "k": r.K, "achieved_confidence": r.Achieved, "below_nominal": r.BelowNominal}
}

func medianCase(in values) (values, error) {
	r, err := MedianInterval(in.list("x"), in.confidence())
	return rankIntervalValues(r, "estimate"), err
}

func hodgesLehmannCase(in values) (values, error) {
	r, err := HodgesLehmann(in.list("x"), in.confidence())
	out := rankIntervalValues(r, "estimate")
	out["walsh_averages"] = len(walshAverages(in.list("x")))
	return out, err
}

func shiftCase(in values) (values, error) {
	r, err := HodgesLehmannShift(in.list("baseline"), in.list("treatment"), in.confidence())
	return rankIntervalValues(r, "shift"), err
}

func twoCase(in values, name string, f func(a, b []float64, c float64) (Estimate, error)) (values, error) {
	e, err := f(in.list("baseline"), in.list("treatment"), in.confidence())
	out := estimateValues(e)
	out[name] = e.Value
	out["log_ratio"], out["se_log"] = math.Log(e.Value), e.SE
	return out, err
}

func fiellerCase(in values, f func(a, b []float64, c float64) (RatioOfMeans, error)) (values, error) {
	r, err := f(in.list("baseline"), in.list("treatment"), in.confidence())
	return values{"ratio": r.Value, "df": r.DF, "g": r.G, "lo": r.Low, "hi": r.High}, err
}

func rankValues(r RankTest) values {
	out := values{
		"u": r.Statistic, "v": r.Statistic, "n_used": r.N, "exact_p": r.ExactP, "ties": r.Ties,
		"asymptotic_p_corrected": r.CorrectedP, "asymptotic_p_uncorrected": r.UncorrectedP,
	}
	if r.AllTied {
		out["flag"] = "AllTied"
	}
	return out
}

func mannWhitneyCase(in values) (values, error) {
	r, err := MannWhitney(in.list("baseline"), in.list("treatment"))
	return rankValues(r), err
}

func signedRankCase(in values) (values, error) {
	r, err := SignedRank(in.list("baseline"), in.list("treatment"))
	return rankValues(r), err
}

func adjustCase(in values) (values, error) {
	b, err := Bonferroni(in.list("p"))
	if err != nil {
		return nil, err
	}
	h, err := Holm(in.list("p"))
	return values{"bonferroni": b, "holm": h}, err
}

func dunnettCriticalCase(in values) (values, error) {
	d := newDunnett()
	return grid(in.list("df"), in.list("k"), func(df, k float64) float64 {
		return d.quantile(in.confidence(), int(k), int(df))
	}), nil
}

// dunnettCase is the classical one-way design: groups of equal size.
func dunnettCase(in values) (values, error) {
	control := in.list("control")
	n := len(control)
	groups := [][]float64{control}
	for _, t := range in["treatments"].([]any) {
		groups = append(groups, asList(t))
	}
	var mse float64
	for _, g := range groups {
		mse += stat.Variance(g, nil) / float64(len(groups))
	}
	k, df := len(groups)-1, len(groups)*(n-1)
	var effects []float64
	for _, g := range groups[1:] {
		effects = append(effects, stat.Mean(g, nil)-stat.Mean(control, nil))
	}
	out := manyToOne(effects, mse, n, k, df, in.confidence(), func(v float64) float64 { return v })
	out["difference"] = effects
	return out, nil
}

func dunnettBlockCase(in values) (values, error) {
	cells := in.table("rounds")
	for i := range cells {
		cells[i] = logs(cells[i])
	}
	fit := fitAdditive(cells)
	var effects []float64
	for _, c := range cells[1:] {
		effects = append(effects, stat.Mean(c, nil)-stat.Mean(cells[0], nil))
	}
	out := manyToOne(effects, fit.mse, len(cells[0]), len(cells)-1, fit.df, in.confidence(), math.Exp)
	out["ratio"] = apply(effects, math.Exp)
	return out, nil
}

func manyToOne(effects []float64, mse float64, n, k, df int, confidence float64, back func(float64) float64) values {
	d := newDunnett()
	se := math.Sqrt(2 * mse / float64(n))
	c := d.quantile(confidence, k, df)
	return values{
		"df": df, "mse": mse, "critical": c,
		"t":          apply(effects, func(e float64) float64 { return e / se }),
		"p_adjusted": apply(effects, func(e float64) float64 { return d.tail(e/se, k, df) }),
		"lo":         apply(effects, func(e float64) float64 { return back(e - c*se) }),
		"hi":         apply(effects, func(e float64) float64 { return back(e + c*se) }),
	}
}

func holmPairedCase(in values) (values, error) {
	cells := in.table("rounds")
	var p []float64
	for _, c := range cells[1:] {
		e, err := RatioPaired(cells[0], c, 0.95)
		if err != nil {
			return nil, err
		}
		p = append(p, e.P)
	}
	h, err := Holm(p)
	return values{"p": p, "p_holm": h}, err
}

func throughput(higherIsBetter bool) experiment.Metric {
	m := experiment.Metric{Name: "m", Scale: experiment.ScaleRatio, Better: experiment.LowerIsBetter}
	if higherIsBetter {
		m.Better = experiment.HigherIsBetter
	}
	return m
}

func roundsOf(n int) []int { return wholeRanks(n) }

func tostCase(in values, paired bool) (values, error) {
	a, b := Sample{Cell: "a", Values: in.list("baseline")}, Sample{Cell: "b", Values: in.list("treatment")}
	if paired {
		a.Rounds, b.Rounds = roundsOf(len(a.Values)), roundsOf(len(b.Values))
	}
	c := Compare(a, b, Options{Metric: throughput(true), Confidence: 1 - in.num("alpha"), MinimumEffect: in.num("delta")})
	return values{
		"ratio": *c.Estimate, "lo90": *c.EqLow, "hi90": *c.EqHigh,
		"equivalent": c.Verdict == experiment.VerdictEquivalent,
	}, nil
}

func verdictCase(in values) (values, error) {
	e := Effect{Value: in.num("ratio"), Low: in.num("lo"), High: in.num("hi"), EqLow: in.num("lo90"), EqHigh: in.num("hi90")}
	v, material := Decide(e, throughput(in["higher_is_better"].(bool)), in.num("min_effect"))
	out := values{"verdict": string(v)}
	if material != "" {
		out["material"] = string(material)
	}
	var err error
	if v == experiment.VerdictNotTested {
		err = ErrTooFew
	}
	return out, err
}

func compareRoundsCase(in values) (values, error) {
	cells := in.table("rounds")
	var samples []Sample
	for _, c := range cells {
		samples = append(samples, Sample{Rounds: roundsOf(len(c)), Values: c})
	}
	f := CompareFamily(samples[0], samples[1:], Options{Metric: throughput(true), Confidence: in.confidence(), MinimumEffect: 0.03})
	out := values{"residual_df": f.ResidualDF, "residual_sd": f.ResidualSD}
	for _, c := range f.Comparisons {
		for key, v := range map[string]*float64{
			"ratio": c.Estimate, "lo": c.Low, "hi": c.High, "lo90": c.EqLow,
			"hi90": c.EqHigh, "p": c.P, "p_adjusted": c.PAdjusted, "p_holm": c.PAdjusted,
		} {
			list, _ := out[key].([]float64)
			out[key] = append(list, *v)
		}
	}
	return out, nil
}

func compareUnpairedCase(in values) (values, error) {
	a, b := in.list("baseline"), in.list("treatment")
	rank, err := MannWhitney(a, b)
	if err != nil {
		return nil, err
	}
	c := Compare(Sample{Values: a}, Sample{Values: b}, Options{Metric: throughput(in["higher_is_better"].(bool)), Confidence: in.confidence(), MinimumEffect: 0.03})
	f, err := FiellerWelch(a, b, in.confidence())
	if err != nil {
		return nil, err
	}
	hl, err := HodgesLehmannShift(logs(a), logs(b), in.confidence())
	return values{
		"median_baseline": median(a), "median_treatment": median(b), "ratio_of_medians": median(b) / median(a),
		"mann_whitney_exact_p": rank.ExactP,
		"ratio_geomean":        *c.Estimate, "ratio_log_welch_lo": *c.Low, "ratio_log_welch_hi": *c.High,
		"ratio_log_welch_p": *c.P, "ratio_log_welch_lo90": *c.EqLow, "ratio_log_welch_hi90": *c.EqHigh,
		"fieller_lo": f.Low, "fieller_hi": f.High,
		"hl_ratio": math.Exp(hl.Value), "hl_lo": math.Exp(hl.Low), "hl_hi": math.Exp(hl.High),
	}, err
}

func gapCase(in values) (values, error) {
	g, err := WidestGap(in.list("x"))
	return values{"gap_over_range": g.OverRange, "lower_count": g.LowerCount, "multimodal": g.Multimodal}, err
}

func outlierCase(in values) (values, error) {
	x := in.list("x")
	at, err := Outliers(x, in.num("k"))
	index := []float64{}
	for _, i := range at {
		index = append(index, float64(i))
	}
	return values{"median": median(x), "scaled_mad": madScale * mad(x), "index": index}, err
}

func proportionCase(in values) (values, error) {
	p, err := ProportionOf(int64(in.num("errors")), int64(in.num("requests")), in.confidence())
	return values{
		"estimate": p.Value, "wilson_lo": p.WilsonLow, "wilson_hi": p.WilsonHigh,
		"clopper_pearson_lo": p.ExactLow, "clopper_pearson_hi": p.ExactHigh, "upper_one_sided_95": p.Upper,
	}, err
}
