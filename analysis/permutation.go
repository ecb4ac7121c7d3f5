package analysis

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"
)

// PermutationTest is how an observed statistic stands among those of the arrangements
// of the values that would be as likely without any effect.
type PermutationTest struct {
	Extreme int     // of all or of the drawn arrangements, those at least as far out as the observed one
	Total   int     // arrangements looked at
	P       float64 // two-sided; never 0, for the observed arrangement is one of them
}

// PermuteSamples tests whether two samples differ in their mean, over all ways to
// share their values out among them (Fisher 1935). Above 200 000 ways 9 999 are drawn
// by rng, which is not used otherwise.
func PermuteSamples(a, b []float64, rng *rand.Rand) (PermutationTest, error) {
	if err := checkFinite(a, b); err != nil {
		return PermutationTest{}, err
	}
	all := append(append([]float64(nil), a...), b...)
	n, k := len(all), len(a)
	apart := func(first []int) float64 {
		var sum, rest float64
		mine := make([]bool, n)
		for _, i := range first {
			mine[i] = true
		}
		for i, v := range all {
			if mine[i] {
				sum += v
			} else {
				rest += v
			}
		}
		return math.Abs(sum/float64(k) - rest/float64(n-k))
	}
	return permutation{
		observed: apart(combin.IndexToCombination(nil, 0, n, k)),
		scale:    largest(all),
		count:    combin.GeneralizedBinomial(float64(n), float64(k)),
		draw:     func() float64 { return apart(rng.Perm(n)[:k]) },
		all: func(yield func(float64) bool) {
			for g := combin.NewCombinationGenerator(n, k); g.Next() && yield(apart(g.Combination(nil))); {
			}
		},
	}.test(), nil
}

// PermuteSigns tests whether differences have mean 0, over all choices of their signs.
// The smallest p that n of them can give is 2/2^n. rng as in PermuteSamples.
func PermuteSigns(differences []float64, rng *rand.Rand) (PermutationTest, error) {
	if err := checkFinite(differences); err != nil {
		return PermutationTest{}, err
	}
	n := len(differences)
	apart := func(turned func(i int) bool) float64 {
		var sum float64
		for i, d := range differences {
			if turned(i) {
				d = -d
			}
			sum += d
		}
		return math.Abs(sum) / float64(n)
	}
	return permutation{
		observed: apart(func(int) bool { return false }),
		scale:    largest(differences),
		count:    math.Exp2(float64(n)),
		draw:     func() float64 { return apart(func(int) bool { return rng.Uint64()&1 == 1 }) },
		all: func(yield func(float64) bool) {
			for bits := range uint64(1) << n {
				if !yield(apart(func(i int) bool { return bits>>i&1 == 1 })) {
					return
				}
			}
		},
	}.test(), nil
}

// PermuteRounds tests whether cells differ, over all orders of the values inside each
// round, by the spread of the cells' means. Every cell has one value of each round.
// rng as in PermuteSamples.
func PermuteRounds(cells [][]float64, rng *rand.Rand) (PermutationTest, error) {
	if len(cells) == 0 {
		return PermutationTest{}, ErrNoData
	}
	if err := checkFinite(cells...); err != nil {
		return PermutationTest{}, err
	}
	rounds := len(cells[0])
	for _, c := range cells {
		if len(c) != rounds {
			return PermutationTest{}, ErrLengthMismatch
		}
	}
	k := len(cells)
	apart := func(order func(round int) []int) float64 {
		means := make([]float64, k)
		for r := range rounds {
			for i, from := range order(r) {
				means[i] += cells[from][r] / float64(rounds)
			}
		}
		return math.Sqrt(stat.PopVariance(means, nil))
	}
	return permutation{
		observed: apart(func(int) []int { return combin.IndexToCombination(nil, 0, k, k) }),
		scale:    largest(cells...),
		count:    math.Pow(math.Gamma(float64(k+1)), float64(rounds)),
		draw:     func() float64 { return apart(func(int) []int { return rng.Perm(k) }) },
		all: func(yield func(float64) bool) {
			orders := combin.Permutations(k, k)
			sizes := slices.Repeat([]int{len(orders)}, rounds)
			for g := combin.NewCartesianGenerator(sizes); g.Next(); {
				choice := g.Product(nil)
				if !yield(apart(func(r int) []int { return orders[choice[r]] })) {
					return
				}
			}
		},
	}.test(), nil
}

// permutation is a test to be made, by a statistic that grows with the effect.
type permutation struct {
	observed float64
	scale    float64 // of the values: statistics that differ by a trace of it are equal
	count    float64 // of arrangements
	all      iter.Seq[float64]
	draw     func() float64
}

// test looks at all arrangements, or at the observed one and some that are drawn.
func (p permutation) test() PermutationTest {
	var t PermutationTest
	look := func(statistic float64) {
		t.Total++
		if statistic >= p.observed-negligible*p.scale {
			t.Extreme++
		}
	}
	if p.count <= mostArrangements {
		for s := range p.all {
			look(s)
		}
	} else {
		look(p.observed)
		for range sampledArrangements {
			look(p.draw())
		}
	}
	t.P = float64(t.Extreme) / float64(t.Total)
	return t
}
