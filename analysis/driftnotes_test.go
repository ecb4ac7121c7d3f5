package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// driven makes a sweep of some cells whose throughput is 1000 by what a function says,
// as a logarithm, of the cell, its round and its place in the round, both from 0; with
// noise of 1%.
func driven(cells, rounds int, effect func(cell, round, place int) float64) experiment.Sweep {
	rng := rand.New(rand.NewPCG(7, 7))
	s := experiment.Sweep{Rounds: rounds, Seed: 1, Settings: defaults()}
	for i := range cells {
		c := experiment.Cell{Key: experiment.CellKey(fmt.Sprint(i)), Stage: experiment.MainStage, Role: experiment.RoleVaried, Factor: "f", Level: fmt.Sprint(i)}
		if i == 0 {
			c.Role = experiment.RoleBaseline
		}
		s.Cells = append(s.Cells, c)
	}
	for round := range rounds {
		for place, i := range rng.Perm(cells) {
			r := experiment.RunRecord{Run: experiment.Run{
				ID: int64(len(s.Runs) + 1), Cell: s.Cells[i].Key, Round: round + 1, Seq: len(s.Runs) + 1, State: experiment.StateOK,
			}}
			add(&r, experiment.DefaultMetric, 1000*math.Exp(effect(i, round, place)+0.01*rng.NormFloat64()))
			s.Runs = append(s.Runs, r)
		}
	}
	return s
}

// notesOf gives the messages of a code, without their p-values.
func notesOf(r experiment.Results, code string) []string {
	p := regexp.MustCompile(`p = [0-9.e-]+`)
	var out []string
	for _, n := range r.Notes {
		if n.Code == code {
			out = append(out, strings.TrimSpace(string(n.Cell)+" "+p.ReplaceAllString(n.Message, "p")))
		}
	}
	return out
}

func TestDriftNotes(t *testing.T) {
	const chance = "; up to three cells in a hundred show as much by chance"
	tests := map[string]struct {
		cells, rounds int
		effect        func(cell, round, place int) float64
		want          []string
	}{
		"nothing": {4, 10, func(int, int, int) float64 { return 0 }, nil},
		"levels of cells and of rounds that come as they like": {
			4, 10, func(cell, round, _ int) float64 {
				return 0.1*float64(cell) + []float64{0, 0.08, -0.05, 0.02, 0.06, -0.02, 0.05, -0.06, 0.03, 0.01}[round]
			}, nil,
		},
		"a trend in all cells, in six rounds": {
			4, 6, func(_, round, _ int) float64 { return -0.05 * float64(round) },
			[]string{"mean of all cells: throughput falls by 5% a round (Mann-Kendall p); it shows in 4 of 4 cells"},
		},
		"the same in five": {4, 5, func(_, round, _ int) float64 { return -0.05 * float64(round) }, nil},
		"a trend in one cell": {
			4, 10, func(cell, round, _ int) float64 { return 0.02 * float64(round) * float64(cell/3) },
			[]string{
				"3 f=3: throughput rises by 2.2% a round (Mann-Kendall p), rises by 11% at round 6 (Pettitt p), depends on the round before (lag-1 autocorrelation 0.68, p)" + chance,
				"mean of all cells: throughput rises by 0.51% a round (Mann-Kendall p), rises by 2.6% at round 6 (Pettitt p), depends on the round before (lag-1 autocorrelation 0.66, p)",
			},
		},
		"a level that changes": {
			4, 16, func(_, round, _ int) float64 { return math.Copysign(0.05, float64(round)-7.5) },
			[]string{"mean of all cells: throughput rises by 10% at round 9 (Pettitt p), depends on the round before (lag-1 autocorrelation 0.82, p); it shows in 4 of 4 cells"},
		},
		"rounds that alternate": {
			4, 14, func(_, round, _ int) float64 { return 0.1 * float64(round%2) },
			[]string{"mean of all cells: throughput depends on the round before (lag-1 autocorrelation -0.94, p); it shows in 4 of 4 cells"},
		},
		"places in the round": {
			4, 6, func(_, _, place int) float64 { return 0.02 * float64(place) },
			[]string{"inside the rounds throughput rises by 1.8% from one run to the next (p)"},
		},
		"places that hardly matter": {4, 6, func(_, _, place int) float64 { return 0.001 * float64(place) }, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := driven(tt.cells, tt.rounds, tt.effect)
			r := analysed(t, s)
			if diff := cmp.Diff(tt.want, notesOf(r, NoteOrderDrift)); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(r.Notes, analysed(t, s).Notes); diff != "" {
				t.Errorf("a second time:\n%s", diff)
			}
		})
	}
}

// The order is that of measuring: rounds that were made again come last.
func TestDriftGoesByExecutedOrder(t *testing.T) {
	s := driven(3, 10, func(_, round, _ int) float64 { return 0.05 * float64(round) })
	for i := range s.Runs { // rounds 10, 9, ... 1 were made in this order
		s.Runs[i].Round = 11 - s.Runs[i].Round
	}
	got := notesOf(analysed(t, s), NoteOrderDrift)
	if len(got) != 1 || !strings.Contains(got[0], "rises by 5.2% a round") || !strings.Contains(got[0], "at round 5 (Pettitt p)") {
		t.Errorf("notes %q", got)
	}
}

// Without any drift one cell in a hundred is noted for each of the tests at most.
func TestDriftNotesAreRare(t *testing.T) {
	const cells, rounds = 400, 12
	s := driven(cells, rounds, func(int, int, int) float64 { return 0 })
	if got := len(notesOf(analysed(t, s), NoteOrderDrift)); got == 0 || got > 22 { // 12 are expected, sd 3.4
		t.Errorf("%d notes on %d cells", got, cells)
	}
}

// A screened test says what the whole one says.
func TestScreeningLosesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	rare := 0
	for range 300 {
		y := make([]float64, 12)
		for i := range y {
			y[i] = rng.NormFloat64() + 0.05*float64(i)
		}
		ranks, _ := doubledRanks(y)
		c, err := Pettitt(y, rng)
		if err != nil {
			t.Fatal(err)
		}
		if c.P < driftLevel {
			rare++
			if !mayBeRare(ranks, func(r []int) float64 { k, _ := mostChanged(r); return float64(k) }, rng) {
				t.Errorf("p = %v is screened out", c.P)
			}
		}
	}
	if rare == 0 {
		t.Error("nothing was rare")
	}
}

func TestSpread(t *testing.T) {
	tests := map[string]struct {
		rounds int
		noise  float64 // added to that of 1%
		want   []string
	}{
		"quiet": {5, 0, nil},
		"loud": {
			5, 0.04,
			[]string{"0 from round to round the ratio of two cells varies by 7.3% by chance, so an interval of 5 rounds reaches 8.8% to either side, and effects of 3% are looked for; about 36 rounds would do"},
		},
		"loud, in rounds enough": {30, 0.04, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 5))
			s := driven(4, tt.rounds, func(int, int, int) float64 { return tt.noise * rng.NormFloat64() })
			if diff := cmp.Diff(tt.want, notesOf(analysed(t, s), NoteSpread)); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
	rng := rand.New(rand.NewPCG(5, 5))
	s := driven(3, 3, func(int, int, int) float64 { return 0.02 * rng.NormFloat64() })
	s.Rounds = 30 // more are planned, which will do
	if got := notesOf(analysed(t, s), NoteSpread); got != nil {
		t.Errorf("of planned rounds: %q", got)
	}
	if s.Rounds = 3; !slices.ContainsFunc(notesOf(analysed(t, s), NoteSpread), func(n string) bool { return strings.Contains(n, "interval of 3 rounds") }) {
		t.Error("three rounds of 2% noise do not show 3%")
	}
}

func TestRunsThatStandApart(t *testing.T) {
	tests := map[string]struct {
		rounds int
		of     func(round int) float64
		want   []string
	}{
		"none":                 {8, func(int) float64 { return 0 }, nil},
		"two groups":           {8, func(round int) float64 { return 0.2 * float64(round/5) }, []string{"1 f=1: throughput has two groups of values, 5 from 987.5 to 1015 and 3 from 1220 to 1223: a mean of both describes neither"}},
		"two of seven far off": {7, func(round int) float64 { return 0.2 * float64(round/5) }, []string{"1 f=1: throughput is 1220 in round 6, 1223 in round 7, far from the median of 1011 (over 7 scaled median absolute deviations)"}},
		"one far off":          {8, func(round int) float64 { return 0.3 * float64(round/7) }, []string{"1 f=1: throughput is 1349 in round 8, far from the median of 1003 (over 7 scaled median absolute deviations)"}},
		"one far off of six":   {6, func(round int) float64 { return 0.3 * float64(round/5) }, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := driven(4, tt.rounds, func(cell, round, _ int) float64 {
				if cell != 1 {
					return 0
				}
				return tt.of(round)
			})
			var got []string
			for _, n := range notesOf(analysed(t, s), NoteSpread) {
				if !strings.Contains(n, "from round to round") {
					got = append(got, n)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}
