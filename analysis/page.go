package analysis

import (
	"math"
	"math/bits"
	"slices"
)

// pageExact is the largest number of levels for which the distribution of Page's
// statistic is computed; the normal approximation is good beyond.
const pageExact = 8

// Page tests rounds, each with one value a level, the levels ascending, for a monotone
// trend (Page 1963). Ties have mid-ranks. Up to 8 levels the distribution is exact, ties
// included, that of every round convolved with those of the others. ErrTooFew below 2
// rounds or 3 levels, ErrLengthMismatch.
func Page(rounds [][]float64) (OrderedTest, error) {
	t, err := pageMoments(rounds)
	if err != nil {
		return OrderedTest{}, err
	}
	if len(rounds[0]) > pageExact {
		return t, nil
	}
	chance, least := []float64{1}, 0
	var whole []float64 // of a round without ties, which most are
	var wholeLeast int
	for _, round := range rounds {
		ranks, ties := doubledRanks(round)
		one, low := whole, wholeLeast
		if one == nil || ties > 0 {
			one, low = orderSums(ranks)
		}
		if ties == 0 {
			whole, wholeLeast = one, low
		}
		chance, least = convolve(chance, one), least+low
	}
	t.Exact = true
	t.RisingP, t.FallingP = tails(chance, int(math.Round(2*t.Statistic))-least)
	return t, nil
}

// pageMoments gives the statistic, the sum over all values of the level's place times
// the rank inside the round, with the normal approximation.
func pageMoments(rounds [][]float64) (OrderedTest, error) {
	if err := checkFinite(rounds...); err != nil {
		return OrderedTest{}, err
	}
	if len(rounds) < 2 || len(rounds[0]) < 3 {
		return OrderedTest{}, ErrTooFew
	}
	levels := len(rounds[0])
	k := float64(levels)
	var t OrderedTest
	for _, round := range rounds {
		if len(round) != levels {
			return OrderedTest{}, ErrLengthMismatch
		}
		ranks, ties := doubledRanks(round)
		for i, r := range ranks {
			t.Statistic += float64(i+1) * float64(r) / 2
		}
		t.Mean += k * (k + 1) * (k + 1) / 4
		places := k * (k*k - 1) / 12 // squares of the places around their mean
		t.Variance += places * (places - ties/12) / (k - 1)
	}
	t.normal()
	return t, nil
}

// orderSums gives the chance of each sum of place times doubled rank, from the least one
// on, when all orders are as likely. It goes through the sets of ranks that stand in the
// first places.
func orderSums(ranks []int) (chance []float64, least int) {
	most := 0
	for i, r := range slices.Sorted(slices.Values(ranks)) {
		most += (i + 1) * r
		least += (len(ranks) - i) * r
	}
	ways := make([][]float64, 1<<len(ranks))
	ways[0] = []float64{1}
	for set, sums := range ways {
		place := 1 + bits.OnesCount(uint(set)) // of the next rank
		for i, r := range ranks {
			next := set | 1<<i
			if next == set {
				continue
			}
			if ways[next] == nil {
				ways[next] = make([]float64, most+1)
			}
			for s, n := range sums {
				if n > 0 {
					ways[next][s+place*r] += n
				}
			}
		}
	}
	return normalised(ways[len(ways)-1][least:]), least
}

// tails gives the chances of a whole number at least, and at most, as large as the one seen.
func tails(chance []float64, seen int) (atLeast, atMost float64) {
	for s, c := range chance {
		if s >= seen {
			atLeast += c
		}
		if s <= seen {
			atMost += c
		}
	}
	return min(1, atLeast), min(1, atMost)
}
