package conduct

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func testCells(names ...string) []experiment.Cell {
	var cells []experiment.Cell
	for _, n := range names {
		cells = append(cells, experiment.Cell{Key: experiment.CellKey(n), Stage: experiment.MainStage, Role: experiment.RoleVaried, Factor: "f", Level: n})
	}
	return cells
}

// book is a store's table of runs, in memory.
type book struct {
	runs []experiment.Run
	next int64
}

func (b *book) apply(r experiment.Reschedule) {
	for _, id := range r.Interrupted {
		b.at(id).State = experiment.StateInterrupted
	}
	for _, s := range r.Superseded {
		run := b.at(s.ID)
		run.State, run.Reason = s.State, s.Reason
	}
	for _, id := range r.Drop {
		b.at(id).State = "dropped"
	}
	kept := b.runs[:0]
	for _, run := range b.runs {
		if run.State != "dropped" {
			kept = append(kept, run)
		}
	}
	b.runs = kept
	for _, run := range r.Add {
		b.next++
		run.ID = b.next
		b.runs = append(b.runs, run)
	}
}

func (b *book) at(id int64) *experiment.Run {
	for i := range b.runs {
		if b.runs[i].ID == id {
			return &b.runs[i]
		}
	}
	panic("no such run")
}

func TestMendBegins(t *testing.T) {
	cells := testCells("a", "b", "c")
	got := mend(nil, cells, 2, 7)
	if diff := cmp.Diff(got.Add, experiment.Schedule(cells, 2, 7)); diff != "" {
		t.Errorf("plan of a new sweep (-got +want):\n%s", diff)
	}
	if len(got.Interrupted)+len(got.Superseded)+len(got.Drop) != 0 {
		t.Errorf("a new sweep has nothing to mend: %+v", got)
	}
}

// Stages run one after another, each with rounds and shuffles of its own; a split
// round of one is not run again in another.
func TestMendStages(t *testing.T) {
	first, second := testCells("a", "b", "c"), testCells("d", "e", "f")
	for i := range second {
		second[i].Stage = "second"
	}
	cells := append(append([]experiment.Cell{}, first[0], second[0]), first[1], second[1], first[2], second[2])
	got := mend(nil, cells, 3, 7)
	want := append(experiment.Schedule(first, 3, 7), experiment.Schedule(second, 3, 7)...)
	if diff := cmp.Diff(got.Add, want); diff != "" {
		t.Fatalf("plan of a new sweep (-got +want):\n%s", diff)
	}
	b := &book{}
	b.apply(got)
	for i := range b.runs[:11] { // three rounds of the first stage and most of one of the second
		b.runs[i].State = experiment.StateOK
	}
	got = mend(b.runs, cells, 3, 7)
	var superseded []int64
	for _, r := range got.Superseded {
		superseded = append(superseded, r.ID)
	}
	if diff := cmp.Diff([][]int64{superseded, got.Drop}, [][]int64{{10, 11}, {12}}); diff != "" {
		t.Errorf("superseded, dropped (-got +want):\n%s", diff)
	}
	again := experiment.ScheduleRound(second, 1, 7)
	for i := range again {
		again[i].Attempt = 2
	}
	if diff := cmp.Diff(got.Add, again); diff != "" {
		t.Errorf("planned anew (-got +want):\n%s", diff)
	}
}

func TestMendRound(t *testing.T) {
	cells := testCells("a", "b")
	run := func(id int64, cell string, attempt int, state experiment.RunState) experiment.Run {
		return experiment.Run{ID: id, Cell: experiment.CellKey(cell), Round: 1, Attempt: attempt, State: state}
	}
	disturbed := func(r experiment.Run, invocation int64) experiment.Run {
		r.Invocation, r.Reason = invocation, "host-noise"
		return r
	}
	for _, tc := range []struct {
		name                             string
		runs                             []experiment.Run
		interrupted, superseded, dropped []int64
		added                            int // runs planned anew
		attempt                          int // of the first cell's
	}{
		{"untouched stays", []experiment.Run{run(1, "a", 1, "pending"), run(2, "b", 1, "pending")}, nil, nil, nil, 0, 0},
		{"complete stays", []experiment.Run{run(1, "a", 1, "ok"), run(2, "b", 1, "invalid")}, nil, nil, nil, 0, 0},
		{"a failed subject is a result", []experiment.Run{run(1, "a", 1, "failed:subject"), run(2, "b", 1, "skipped")}, nil, nil, nil, 0, 0},
		{"a second attempt settles", []experiment.Run{run(1, "a", 1, "failed:infrastructure"), run(2, "b", 1, "ok"), run(3, "a", 2, "ok")}, nil, nil, nil, 0, 0},
		{"split is run again whole", []experiment.Run{run(1, "a", 1, "ok"), run(2, "b", 1, "pending")}, nil, []int64{1}, []int64{2}, 2, 2},
		{"killed under way", []experiment.Run{run(1, "a", 1, "ok"), run(2, "b", 1, "running")}, []int64{2}, []int64{1}, nil, 2, 2},
		{"killed in the first run", []experiment.Run{run(1, "a", 1, "running"), run(2, "b", 1, "pending")}, []int64{1}, nil, []int64{2}, 2, 2},
		{
			"killed while a round was run again",
			[]experiment.Run{run(1, "a", 1, "superseded"), run(2, "b", 1, "interrupted"), run(3, "a", 2, "pending"), run(4, "b", 2, "pending")},
			nil, nil,
			[]int64{3, 4},
			2, 3,
		},
		{"infrastructure failed twice", []experiment.Run{run(1, "a", 1, "failed:infrastructure"), run(2, "a", 2, "failed:infrastructure"), run(3, "b", 1, "ok")}, nil, []int64{3}, nil, 2, 3},
		{"disturbed, and its attempt not made", []experiment.Run{disturbed(run(1, "a", 1, "invalid"), 1), run(2, "b", 1, "ok"), run(3, "a", 2, "pending")}, nil, []int64{1, 2}, []int64{3}, 2, 3},
		{"disturbed, and its attempt not planned", []experiment.Run{disturbed(run(1, "a", 1, "invalid"), 1), run(2, "b", 1, "ok")}, nil, []int64{1, 2}, nil, 2, 2},
		{"disturbed, and killed in its attempt", []experiment.Run{disturbed(run(1, "a", 1, "invalid"), 1), run(2, "b", 1, "ok"), run(3, "a", 2, "running")}, []int64{3}, []int64{1, 2}, nil, 2, 3},
		{"disturbed, and failed by the infrastructure then", []experiment.Run{disturbed(run(1, "a", 1, "invalid"), 1), run(2, "b", 1, "ok"), disturbed(run(3, "a", 2, "failed:infrastructure"), 1)}, nil, []int64{1, 2}, nil, 2, 3},
		{"disturbed in the second attempt stays", []experiment.Run{disturbed(run(1, "a", 1, "failed:infrastructure"), 1), run(2, "b", 1, "ok"), disturbed(run(3, "a", 2, "invalid"), 1)}, nil, nil, nil, 0, 0},
		{"disturbed twice stays", []experiment.Run{disturbed(run(1, "a", 1, "invalid"), 1), run(2, "b", 1, "ok"), disturbed(run(3, "a", 2, "invalid"), 1)}, nil, nil, nil, 0, 0},
		{"disturbed once in each of two invocations", []experiment.Run{disturbed(run(1, "a", 1, "superseded"), 1), disturbed(run(2, "a", 2, "invalid"), 2), run(3, "b", 2, "ok")}, nil, []int64{2, 3}, nil, 2, 3},
		{"disturbed, and well then", []experiment.Run{disturbed(run(1, "a", 1, "invalid"), 1), run(2, "b", 1, "ok"), run(3, "a", 2, "ok")}, nil, nil, nil, 0, 0},
		{"half a plan", []experiment.Run{run(1, "a", 1, "pending")}, nil, nil, []int64{1}, 2, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := mend(tc.runs, cells, 1, 1)
			var superseded []int64
			for _, r := range got.Superseded {
				superseded = append(superseded, r.ID)
			}
			if diff := cmp.Diff([][]int64{got.Interrupted, superseded, got.Drop}, [][]int64{tc.interrupted, tc.superseded, tc.dropped}); diff != "" {
				t.Errorf("interrupted, superseded, dropped (-got +want):\n%s", diff)
			}
			if len(got.Add) != tc.added {
				t.Fatalf("added %d runs, want %d", len(got.Add), tc.added)
			}
			for _, r := range got.Add {
				if r.Cell == "a" && r.Attempt != tc.attempt {
					t.Errorf("attempt %d, want %d", r.Attempt, tc.attempt)
				}
			}
		})
	}
}

// However often and wherever an invocation dies, mending leads to exactly one
// settled run for each cell and round, and forgets no run that was finished.
func TestMendAfterAnyDeath(t *testing.T) {
	cells := testCells("a", "b", "c", "d")
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		b := &book{}
		finished := map[int64]bool{}
		for range 20 {
			b.apply(mend(b.runs, cells, 3, 5))
			deadAfter := rng.IntN(14)
			for i := range b.runs {
				if b.runs[i].State != experiment.StatePending {
					continue
				}
				if deadAfter--; deadAfter < 0 {
					if rng.IntN(2) == 0 {
						b.runs[i].State = experiment.StateRunning
					}
					break
				}
				b.runs[i].State = experiment.StateOK
				finished[b.runs[i].ID] = true
			}
		}
		b.apply(mend(b.runs, cells, 3, 5))
		for i := range b.runs {
			if b.runs[i].State == experiment.StatePending {
				b.runs[i].State = experiment.StateOK
				finished[b.runs[i].ID] = true
			}
		}
		counting := map[place]int{}
		for _, r := range b.runs {
			if r.State == experiment.StateOK {
				counting[place{r.Cell, r.Round}]++
			}
			delete(finished, r.ID)
		}
		if len(finished) > 0 {
			t.Fatalf("seed %d: finished runs forgotten: %v", seed, finished)
		}
		for _, c := range cells {
			for round := 1; round <= 3; round++ {
				if n := counting[place{c.Key, round}]; n != 1 {
					t.Fatalf("seed %d: %s in round %d counts %d times", seed, c.Key, round, n)
				}
			}
		}
	}
}

// Rounds beyond those that are planned are left as they are, but for what has not begun.
func TestMendDropsWhatIsNotPlanned(t *testing.T) {
	cells := testCells("a", "b")
	b := &book{}
	b.apply(mend(nil, cells, 4, 1))
	for i := range b.runs {
		switch run := &b.runs[i]; {
		case run.Round < 3:
			run.State = experiment.StateOK
		case run.Round == 3 && run.Cell == "a":
			run.State = experiment.StateRunning
		}
	}
	r := mend(b.runs, cells, 2, 1)
	if len(r.Interrupted) != 1 || len(r.Drop) != 3 || len(r.Add) != 0 || len(r.Superseded) != 0 {
		t.Errorf("got %+v, want one interrupted and three dropped", r)
	}
}
