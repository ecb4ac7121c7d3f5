package analysis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Quantile gives the p-quantile by linear interpolation between order statistics
// (type 7 of Hyndman and Fan 1996, the default of R and NumPy).
func Quantile(x []float64, p float64) (float64, error) {
	if err := checkFinite(x); err != nil {
		return 0, err
	}
	if !(p >= 0 && p <= 1) {
		return 0, ErrBadParameter
	}
	s := slices.Sorted(slices.Values(x))
	h := float64(len(s)-1) * p
	i := int(h)
	if i+1 >= len(s) {
		return s[len(s)-1], nil
	}
	w := h - float64(i)
	return s[i]*(1-w) + s[i+1]*w, nil
}

// median gives the middle value, or the midpoint of the two in the middle. It
// needs a value.
func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return s[n/2-1]/2 + s[n/2]/2
}

// madScale makes the median absolute deviation a standard deviation for normal
// data: 1/Phi^-1(3/4), rounded as R does.
const madScale = 1.4826

// mad gives the median absolute deviation from the median, unscaled.
func mad(x []float64) float64 {
	m := median(x)
	d := make([]float64, len(x))
	for i, v := range x {
		d[i] = math.Abs(v - m)
	}
	return median(d)
}

// RankInterval is an interval whose limits are order statistics, at the largest
// confidence level not below the nominal that the sample size allows.
type RankInterval struct {
	Value        float64
	Low, High    float64
	K            int     // the limits are the K-th smallest and K-th largest of the ordered values
	Achieved     float64 // true confidence
	BelowNominal bool    // the full range does not reach the nominal level
}

// MedianInterval gives the median with its exact order-statistic interval. A 95%
// interval exists from 6 values on; below, the range is given with its true level.
func MedianInterval(x []float64, confidence float64) (RankInterval, error) {
	if err := checkConfidence(confidence); err != nil {
		return RankInterval{}, err
	}
	if err := checkFinite(x); err != nil {
		return RankInterval{}, err
	}
	s := slices.Sorted(slices.Values(x))
	below := distuv.Binomial{N: float64(len(s)), P: 0.5}
	r := rankInterval(s, confidence, func(k int) float64 { return below.CDF(float64(k)) })
	r.Value = median(s)
	return r, nil
}

// rankInterval picks from the ordered values the K-th from either end, K being
// the largest with 2*cdf(K-1) <= 1-confidence. cdf(k) is the chance that at most
// k of the ordered values lie below the true one.
func rankInterval(ordered []float64, confidence float64, cdf func(k int) float64) RankInterval {
	k, n := 0, len(ordered)
	for k+1 <= n/2 && 2*cdf(k) <= 1-confidence {
		k++
	}
	r := RankInterval{K: max(k, 1), BelowNominal: k == 0}
	r.Low, r.High = ordered[r.K-1], ordered[n-r.K]
	r.Achieved = 1 - 2*cdf(r.K-1)
	return r
}
