package analysis

import (
	"math"

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

		"sample_size_ratio":             sampleSizeCase,
		"power_two_sample_t":            powerCase,
		"minimum_detectable_difference": detectableCase,
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

func detectableCase(in values) (values, error) {
	d, err := DetectableEffect(in.num("sd"), int(in.num("n")), in.num("power"), in.num("alpha"))
	return values{"paired": d}, err
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
