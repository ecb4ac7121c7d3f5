package experiment

import (
	"hash/fnv"
	"math/rand/v2"
)

// Schedule gives one run for every cell and round, rounds in order, cells of a
// round shuffled by the seed. The order of a round depends on seed, stage and
// round alone, so a round that is run again keeps it, and adding rounds moves
// none.
func Schedule(cells []Cell, rounds int, seed uint64) []Run {
	runs := make([]Run, 0, rounds*len(cells))
	for round := 1; round <= rounds; round++ {
		runs = append(runs, ScheduleRound(cells, round, seed)...)
	}
	return runs
}

// ScheduleRound gives the runs of one round in their order.
func ScheduleRound(cells []Cell, round int, seed uint64) []Run {
	h := fnv.New64a()
	if len(cells) > 0 {
		h.Write([]byte(cells[0].Stage))
	}
	rng := rand.New(rand.NewPCG(seed, h.Sum64()+uint64(round)))
	runs := make([]Run, 0, len(cells))
	for _, i := range rng.Perm(len(cells)) {
		runs = append(runs, Run{Cell: cells[i].Key, Round: round, Attempt: 1, State: StatePending})
	}
	return runs
}
