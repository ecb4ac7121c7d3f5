package analysis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactLimit is the largest number of values for which a rank distribution is
// enumerated; above it the normal approximation stands in.
const exactLimit = 60

// RankTest is the outcome of a rank test.
type RankTest struct {
	Statistic    float64
	N            int     // values that carry a rank
	ExactP       float64 // two-sided, ties included; NaN above 60 values
	CorrectedP   float64 // normal, variance corrected for ties, continuity corrected; NaN if all are tied
	UncorrectedP float64 // without the continuity correction
	Ties         bool
	AllTied      bool // no value differs: p is 1
}

// MannWhitney tests two independent samples (Mann and Whitney 1947). The
// statistic counts the pairs in which the treatment is larger, ties as halves.
func MannWhitney(baseline, treatment []float64) (RankTest, error) {
	if err := checkFinite(baseline, treatment); err != nil {
		return RankTest{}, err
	}
	n, m := len(baseline), len(treatment)
	ranks, ties := doubledRanks(append(slices.Clone(baseline), treatment...))
	var sum int
	for _, r := range ranks[n:] {
		sum += r
	}
	total := float64(n + m)
	u := float64(sum)/2 - float64(m*(m+1))/2
	mean := float64(n*m) / 2
	variance := float64(n*m) / 12 * (total + 1 - ties/max(1, total*(total-1)))
	t := RankTest{Statistic: u, N: n + m, Ties: ties > 0}
	t.finish(mean, variance)
	if !t.AllTied && n+m <= exactLimit {
		t.ExactP = tailsOf(subsetSums(ranks, m), sum)
	}
	return t, nil
}

// SignedRank tests pairs (Wilcoxon 1945). The statistic is the sum of the ranks
// of positive differences, treatment minus baseline; zeros are dropped.
func SignedRank(baseline, treatment []float64) (RankTest, error) {
	if len(baseline) != len(treatment) {
		return RankTest{}, ErrLengthMismatch
	}
	if err := checkFinite(baseline, treatment); err != nil {
		return RankTest{}, err
	}
	var size []float64
	var positive []bool
	for i := range baseline {
		if d := treatment[i] - baseline[i]; d != 0 {
			size, positive = append(size, math.Abs(d)), append(positive, d > 0)
		}
	}
	ranks, ties := doubledRanks(size)
	var sum int
	for i, r := range ranks {
		if positive[i] {
			sum += r
		}
	}
	n := float64(len(size))
	t := RankTest{Statistic: float64(sum) / 2, N: len(size), Ties: ties > 0}
	t.finish(n*(n+1)/4, n*(n+1)*(2*n+1)/24-ties/48)
	if !t.AllTied && len(size) <= exactLimit {
		t.ExactP = tailsOf(signedSums(ranks), sum)
	}
	return t, nil
}

// finish fills the p-values of the normal approximation.
func (r *RankTest) finish(mean, variance float64) {
	r.ExactP = math.NaN()
	if variance <= 0 {
		r.AllTied = true
		r.ExactP, r.CorrectedP, r.UncorrectedP = 1, math.NaN(), math.NaN()
		return
	}
	d, sd := math.Abs(r.Statistic-mean), math.Sqrt(variance)
	r.UncorrectedP = normalTwoSided(d / sd)
	r.CorrectedP = normalTwoSided(max(0, d-0.5) / sd)
}

// normalTwoSided is the chance of a standard normal at least as far from 0.
func normalTwoSided(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// normalQuantile is the p-quantile of the standard normal.
func normalQuantile(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// doubledRanks gives twice the mid-rank of each value, which is whole, and the sum
// of t^3 - t over groups of t tied values.
func doubledRanks(x []float64) (ranks []int, ties float64) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		default:
			return a - b
		}
	})
	ranks = make([]int, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			ranks[at] = i + 1 + j
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	return ranks, ties
}

// subsetSums gives the chance of each sum of m of the ranks drawn at random
// (the shift algorithm of Streitberg and Roehmel 1986).
func subsetSums(ranks []int, m int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([][]float64, m+1)
	for j := range ways {
		ways[j] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for i, r := range ranks {
		for j := min(m, i+1); j >= 1; j-- {
			for s := total; s >= r; s-- {
				ways[j][s] += ways[j-1][s-r]
			}
		}
	}
	return normalised(ways[m])
}

// signedSums gives the chance of each sum of the ranks that carry a positive
// sign, when signs are tossed.
func signedSums(ranks []int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([]float64, total+1)
	ways[0] = 1
	for _, r := range ranks {
		for s := total; s >= r; s-- {
			ways[s] += ways[s-r]
		}
	}
	return normalised(ways)
}

func normalised(ways []float64) []float64 {
	var sum float64
	for _, w := range ways {
		sum += w
	}
	for i := range ways {
		ways[i] /= sum
	}
	return ways
}

// tailsOf gives the chance of a sum at least as far from its mean as the one seen.
func tailsOf(chance []float64, seen int) float64 {
	var mean float64
	for s, c := range chance {
		mean += float64(s) * c
	}
	far := math.Abs(float64(seen)-mean) - 1e-7 // sums are whole, the mean half of one
	var p float64
	for s, c := range chance {
		if math.Abs(float64(s)-mean) >= far {
			p += c
		}
	}
	return min(1, p)
}
