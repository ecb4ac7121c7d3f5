package analysis

import (
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/ceteris/ceteris/experiment"
)

// Permutations are enumerated up to this many arrangements, and beyond sampled.
const (
	mostArrangements    = 200_000
	sampledArrangements = 9999
)

// Seeded gives the source of chance of one metric in one cell of a sweep, so that the
// same runs give the same results.
func Seeded(seed uint64, metric string, cell experiment.CellKey) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(metric + "\x00" + string(cell)))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// permutationP gives the chances of a statistic at least, and at most, as large as the
// one seen when all orders of x are as likely. All of them are looked at up to 8 values,
// else 9999 drawn from rng and the one seen. Differences of a trace count as none.
func permutationP[T any](x []T, statistic func(x []T) float64, rng *rand.Rand) (atLeast, atMost float64) {
	seen := statistic(x)
	trace := 1e-9 * max(1, math.Abs(seen))
	var all, most, least float64
	look := func(y []T) {
		all++
		s := statistic(y)
		if s >= seen-trace {
			least++
		}
		if s <= seen+trace {
			most++
		}
	}
	y := append([]T(nil), x...)
	if orders := arrangements(ones(len(x))); orders <= mostArrangements {
		eachOrder(y, len(y), look)
	} else {
		look(y)
		for range sampledArrangements {
			rng.Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] })
			look(y)
		}
	}
	return least / all, most / all
}

func ones(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// eachOrder brings the first n values into every order (Heap 1963).
func eachOrder[T any](y []T, n int, look func([]T)) {
	if n <= 1 {
		look(y)
		return
	}
	for i := range n {
		eachOrder(y, n-1, look)
		if i == n-1 {
			return
		}
		j := 0
		if n%2 == 0 {
			j = i
		}
		y[j], y[n-1] = y[n-1], y[j]
	}
}
