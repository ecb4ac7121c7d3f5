package analysis

import (
	"math"
	"slices"
)

// kendallExact is the number of values below which Mann-Kendall's distribution is
// computed; from there on the normal approximation stands in.
const kendallExact = 50

// KendallTest is a test of values in order of time for a monotone trend.
type KendallTest struct {
	S        int     // pairs that rise less pairs that fall
	Variance float64 // of S if there is no trend, corrected for ties
	Z        float64 // continuity corrected; NaN if all are tied
	NormalP  float64 // two-sided; NaN if all are tied
	ExactP   float64 // two-sided; NaN with ties and from 50 values on
	Slope    float64 // Sen's, per step
	AllTied  bool    // no value differs: ExactP is 1
}

// P is the exact p-value, or the normal one where there is none.
func (t KendallTest) P() float64 {
	if math.IsNaN(t.ExactP) {
		return t.NormalP
	}
	return t.ExactP
}

// MannKendall tests values in order of time for a monotone trend (Mann 1945, Kendall
// 1975) and gives the median of the slopes of all pairs (Sen 1968). It takes dependence
// between neighbours for a trend. ErrTooFew below 3 values.
func MannKendall(y []float64) (KendallTest, error) {
	if err := checkFinite(y); err != nil {
		return KendallTest{}, err
	}
	n := len(y)
	if n < 3 {
		return KendallTest{}, ErrTooFew
	}
	var t KendallTest
	slopes := make([]float64, 0, n*(n-1)/2)
	for i := range y {
		for j := i + 1; j < n; j++ {
			t.S += sign(y[j] - y[i])
			slopes = append(slopes, (y[j]-y[i])/float64(j-i))
		}
	}
	t.Slope = median(slopes)
	t.Variance = float64(n*(n-1)*(2*n+5)) / 18
	ties := false
	for _, size := range tieSizes(y) {
		t.Variance -= float64(size*(size-1)*(2*size+5)) / 18
		ties = ties || size > 1
	}
	t.ExactP, t.Z, t.NormalP = math.NaN(), math.NaN(), math.NaN()
	if slices.Max(y) == slices.Min(y) {
		t.AllTied, t.ExactP, t.Variance = true, 1, 0
		return t, nil
	}
	t.Z = float64(t.S-sign(float64(t.S))) / math.Sqrt(t.Variance)
	t.NormalP = normalTwoSided(t.Z)
	if !ties && n < kendallExact {
		t.ExactP = kendallTail(n, t.S)
	}
	return t, nil
}

func sign(v float64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	default:
		return 0
	}
}

// tieSizes gives the number of values in each group of equal ones.
func tieSizes(y []float64) []int {
	var out []int
	ordered := slices.Sorted(slices.Values(y))
	for i, v := range ordered {
		if i == 0 || v != ordered[i-1] {
			out = append(out, 0)
		}
		out[len(out)-1]++
	}
	return out
}

// kendallTail is the chance of an S at least as far from 0 when all orders of n
// different values are as likely. The number of pairs that fall is the sum of
// independent ones, uniform on 0 to i, for i = 0 to n-1.
func kendallTail(n, s int) float64 {
	chance := []float64{1}
	for i := 1; i < n; i++ {
		step := make([]float64, i+1)
		for j := range step {
			step[j] = 1 / float64(i+1)
		}
		chance = convolve(chance, step)
	}
	return tailsOf(chance, (n*(n-1)/2-s)/2)
}

// convolve gives the chances of the sum of two independent whole numbers.
func convolve(a, b []float64) []float64 {
	out := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		if x == 0 {
			continue
		}
		for j, y := range b {
			out[i+j] += x * y
		}
	}
	return out
}

// OrderedTest is a test of ordered levels for a monotone trend. A hump is none, and
// does not mean that the levels are alike.
type OrderedTest struct {
	Statistic    float64
	Mean         float64 // of the statistic if there is no trend
	Variance     float64 // the same, corrected for ties
	Z            float64 // NaN if all are tied
	RisingP      float64 // one-sided: exact if Exact, else normal
	FallingP     float64
	Exact        bool
	Arrangements int // equally likely ones that were enumerated; 0 if none were
}

// P is two-sided: twice the smaller of both, at most 1.
func (t OrderedTest) P() float64 { return min(1, 2*min(t.RisingP, t.FallingP)) }

func (t *OrderedTest) normal() {
	if t.Variance <= 0 {
		t.Z, t.RisingP, t.FallingP = math.NaN(), 1, 1
		return
	}
	t.Z = (t.Statistic - t.Mean) / math.Sqrt(t.Variance)
	t.RisingP = math.Erfc(t.Z/math.Sqrt2) / 2
	t.FallingP = math.Erfc(-t.Z/math.Sqrt2) / 2
}
