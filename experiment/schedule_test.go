package experiment

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScheduleIsAPermutation: every round holds every cell once, rounds stand in
// order, and more rounds move none of the earlier ones.
func TestScheduleIsAPermutation(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		cells := (&Matrix{Factors: randomFactors(rng), Control: true}).Cells()
		rounds, seed := 1+rng.IntN(6), rng.Uint64()
		runs := Schedule(cells, rounds, seed)
		if len(runs) != rounds*len(cells) {
			t.Fatalf("%d runs for %d rounds of %d cells", len(runs), rounds, len(cells))
		}
		for i, block := range slices.Collect(slices.Chunk(runs, len(cells))) {
			var keys []CellKey
			for _, r := range block {
				if r.Round != i+1 || r.Attempt != 1 || r.State != StatePending {
					t.Fatalf("round %d holds %+v", i+1, r)
				}
				keys = append(keys, r.Cell)
			}
			checkSameCells(t, keys, cells)
		}
		if diff := cmp.Diff(Schedule(cells, rounds+3, seed)[:len(runs)], runs); diff != "" {
			t.Fatalf("more rounds moved earlier ones:\n%s", diff)
		}
	}
}

func checkSameCells(t *testing.T, keys []CellKey, cells []Cell) {
	t.Helper()
	var want []CellKey
	for _, c := range cells {
		want = append(want, c.Key)
	}
	slices.Sort(keys)
	slices.Sort(want)
	if !slices.Equal(keys, want) {
		t.Fatalf("a round holds %v, want each of %v once", keys, want)
	}
}

// TestScheduleShuffles: over many rounds every cell comes first about equally often
// (four cells in 4,000 rounds: 1,000 each, with a standard deviation of 27).
func TestScheduleShuffles(t *testing.T) {
	cells := (&Matrix{Factors: []Factor{{Name: "f", Levels: []Level{{Text: "a"}, {Text: "b"}, {Text: "c"}}}}, Control: true}).Cells()
	first := map[CellKey]int{}
	for _, block := range slices.Collect(slices.Chunk(Schedule(cells, 4000, 1), len(cells))) {
		first[block[0].Cell]++
	}
	for _, c := range cells {
		if n := first[c.Key]; n < 880 || n > 1120 {
			t.Errorf("%s comes first in %d of 4000 rounds", c.Label(), n)
		}
	}
	if cmp.Equal(Schedule(cells, 20, 1), Schedule(cells, 20, 2)) {
		t.Error("two seeds give the same order")
	}
}
