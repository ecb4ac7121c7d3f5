package analysis

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// DefaultResamples is how many resamples a bootstrap takes unless told otherwise.
const DefaultResamples = 10_000

// Bootstrap holds intervals made by resampling runs with replacement, separately in
// each sample. They are a check beside the t interval from 10 runs on and decide
// nothing: below, they cover too little (80 to 91% where 95% is meant).
type Bootstrap struct {
	Value                         float64
	SE                            float64
	PercentileLow, PercentileHigh float64
	Low, High                     float64 // BCa: corrected for bias and acceleration (Efron 1987)
	LowLevel, HighLevel           float64 // quantiles of the resamples that Low and High are
	Bias                          float64 // z0, half of the ties counted
	Acceleration                  float64 // from the jackknife
	ZeroVariance                  bool    // the values do not vary: the interval is the point
}

// BootstrapOf resamples one sample, of 2 values at least.
func BootstrapOf(x []float64, statistic func(x []float64) float64, confidence float64, resamples int, rng *rand.Rand) (Bootstrap, error) {
	if err := checkFinite(x); err != nil {
		return Bootstrap{}, err
	}
	return bootstrap([][]float64{x}, func(s [][]float64) float64 { return statistic(s[0]) }, confidence, resamples, rng)
}

// BootstrapRatio resamples two samples of positive values, 2 at least in each: the
// ratio of a statistic, treatment by baseline.
func BootstrapRatio(baseline, treatment []float64, statistic func(x []float64) float64, confidence float64, resamples int, rng *rand.Rand) (Bootstrap, error) {
	if err := checkPositive(baseline, treatment); err != nil {
		return Bootstrap{}, err
	}
	ratio := func(s [][]float64) float64 { return statistic(s[1]) / statistic(s[0]) }
	return bootstrap([][]float64{baseline, treatment}, ratio, confidence, resamples, rng)
}

func bootstrap(samples [][]float64, statistic func([][]float64) float64, confidence float64, resamples int, rng *rand.Rand) (Bootstrap, error) {
	if err := checkConfidence(confidence); err != nil {
		return Bootstrap{}, err
	}
	if resamples < 1 {
		return Bootstrap{}, ErrBadParameter
	}
	varies := false
	for _, s := range samples {
		if len(s) < 2 {
			return Bootstrap{}, ErrTooFew
		}
		varies = varies || !allEqual(s)
	}
	b := Bootstrap{Value: statistic(samples)}
	if !varies {
		b.PercentileLow, b.PercentileHigh, b.Low, b.High = b.Value, b.Value, b.Value, b.Value
		b.ZeroVariance = true
		return b, nil
	}
	drawn := resampled(samples, statistic, resamples, rng)
	b.SE = stat.StdDev(drawn, nil)
	b.Bias = bias(drawn, b.Value)
	b.Acceleration = acceleration(samples, statistic)
	slices.Sort(drawn)
	at := func(level float64) float64 {
		return drawn[min(max(int(math.Ceil(level*float64(resamples)))-1, 0), resamples-1)]
	}
	low, high := 1-twoSided(confidence), twoSided(confidence)
	b.LowLevel, b.HighLevel = b.level(low), b.level(high)
	b.PercentileLow, b.PercentileHigh = at(low), at(high)
	b.Low, b.High = at(b.LowLevel), at(b.HighLevel)
	return b, nil
}

// resampled gives the statistic of each resample.
func resampled(samples [][]float64, statistic func([][]float64) float64, resamples int, rng *rand.Rand) []float64 {
	again := make([][]float64, len(samples))
	for i, s := range samples {
		again[i] = make([]float64, len(s))
	}
	out := make([]float64, resamples)
	for b := range out {
		for i, s := range samples {
			for j := range again[i] {
				again[i][j] = s[rng.IntN(len(s))]
			}
		}
		out[b] = statistic(again)
	}
	return out
}

// bias is z0, the normal deviate of the share of resamples below the value.
func bias(drawn []float64, value float64) float64 {
	trace := negligible * max(1, math.Abs(value))
	var below float64
	for _, v := range drawn {
		switch {
		case v < value-trace:
			below++
		case v <= value+trace:
			below += 0.5
		}
	}
	n := float64(len(drawn))
	return normalQuantile(min(max(below/n, 1/(n+1)), n/(n+1))) // all on one side is no infinite bias
}

// acceleration is from the jackknife of each sample in turn.
func acceleration(samples [][]float64, statistic func([][]float64) float64) float64 {
	var cubes, squares float64
	for i, s := range samples {
		n := float64(len(s))
		left := slices.Clone(samples)
		influence := make([]float64, len(s))
		for j := range s {
			left[i] = slices.Delete(slices.Clone(s), j, j+1)
			influence[j] = statistic(left)
		}
		mean := stat.Mean(influence, nil)
		for _, v := range influence {
			u := (n - 1) * (mean - v) / n
			cubes, squares = cubes+u*u*u, squares+u*u
		}
	}
	if squares == 0 {
		return 0
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}

// level corrects the level of a quantile for bias and acceleration.
func (b Bootstrap) level(p float64) float64 {
	z := b.Bias + normalQuantile(p)
	return distuv.UnitNormal.CDF(b.Bias + z/(1-b.Acceleration*z))
}
