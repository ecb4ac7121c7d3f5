package analysis

import (
	"math"
	"slices"
)

// Jonckheere tests independent groups, one a level, the levels ascending, for a monotone
// trend (Terpstra 1952, Jonckheere 1954). The statistic counts the pairs of values in
// which that of the higher level is larger, ties as halves. Up to 200 000 arrangements
// of the values among the groups are enumerated, ties included; beyond, the p-values are
// normal with the variance corrected for ties (Hollander and Wolfe 1999, section 6.2). ErrTooFew
// below 2 groups.
func Jonckheere(groups [][]float64) (OrderedTest, error) {
	if err := checkFinite(groups...); err != nil {
		return OrderedTest{}, err
	}
	if len(groups) < 2 {
		return OrderedTest{}, ErrTooFew
	}
	t := jonckheereMoments(groups)
	sizes := make([]int, len(groups))
	var pooled []float64
	for i, g := range groups {
		sizes[i] = len(g)
		pooled = append(pooled, g...)
	}
	if arrangements(sizes) > mostArrangements {
		return t, nil
	}
	e := dealing{
		left: slices.Clone(sizes), below: make([]int, len(groups)), tied: make([]int, len(groups)),
		values: slices.Sorted(slices.Values(pooled)), seen: int(math.Round(2 * t.Statistic)),
	}
	e.deal(0, 0)
	t.Exact, t.Arrangements = true, e.all
	t.RisingP, t.FallingP = float64(e.atLeast)/float64(e.all), float64(e.atMost)/float64(e.all)
	return t, nil
}

func jonckheereMoments(groups [][]float64) OrderedTest {
	var t OrderedTest
	var pooled []float64
	var sizes []int
	for i, low := range groups {
		pooled, sizes = append(pooled, low...), append(sizes, len(low))
		for _, high := range groups[i+1:] {
			for _, d := range allDifferences(low, high) {
				t.Statistic += float64(1+sign(d)) / 2
			}
		}
	}
	n, ties := float64(len(pooled)), tieSizes(pooled)
	sum := func(sizes []int, f func(x float64) float64) float64 {
		var s float64
		for _, size := range sizes {
			s += f(float64(size))
		}
		return s
	}
	square := func(x float64) float64 { return x * x }
	first := func(x float64) float64 { return x * (x - 1) * (2*x + 5) }
	second := func(x float64) float64 { return x * (x - 1) * (x - 2) }
	third := func(x float64) float64 { return x * (x - 1) }
	t.Mean = (n*n - sum(sizes, square)) / 4
	t.Variance = (first(n) - sum(sizes, first) - sum(ties, first)) / 72
	if n > 2 {
		t.Variance += sum(sizes, second) * sum(ties, second) / (36 * n * (n - 1) * (n - 2))
	}
	t.Variance += sum(sizes, third) * sum(ties, third) / (8 * n * (n - 1))
	t.normal()
	return t
}

// arrangements counts the ways to deal all values to groups of the sizes; infinite
// where they are beyond counting.
func arrangements(sizes []int) float64 {
	n, ways := 0, 1.0
	for _, size := range sizes {
		for i := 1; i <= size; i++ {
			n++
			ways = ways * float64(n) / float64(i)
		}
	}
	return ways
}

// dealing deals ordered values to groups in every way. Each value adds to the doubled
// statistic two for every lower one in the groups below its own, and one for every equal
// one in the other groups.
type dealing struct {
	values               []float64
	left                 []int // places free in each group
	below, tied          []int // values dealt to each group that are lower than the next, and equal
	seen                 int   // doubled statistic
	all, atLeast, atMost int
}

func (e *dealing) deal(at, statistic int) {
	if at == len(e.values) {
		e.all++
		if statistic >= e.seen {
			e.atLeast++
		}
		if statistic <= e.seen {
			e.atMost++
		}
		return
	}
	below, tied := e.below, e.tied
	if at > 0 && e.values[at] != e.values[at-1] {
		e.below, e.tied = slices.Clone(below), make([]int, len(tied))
		for g, n := range tied {
			e.below[g] += n
		}
	}
	gain := 0
	for _, n := range e.tied {
		gain += n
	}
	for g := range e.left {
		if e.left[g] > 0 {
			own := e.tied[g]
			e.left[g]--
			e.tied[g]++
			e.deal(at+1, statistic+gain-own)
			e.tied[g]--
			e.left[g]++
		}
		gain += 2 * e.below[g]
	}
	e.below, e.tied = below, tied
}
