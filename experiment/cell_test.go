package experiment

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCellLabels(t *testing.T) {
	var got []string
	for _, c := range whole(t).Cells() {
		got = append(got, c.Label())
	}
	want := []string{"baseline", "control", "threads=8", "threads=128", "log=", "latency=2ms"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("cells (-got +want):\n%s", diff)
	}
}

func TestCellOfBaseline(t *testing.T) {
	got := whole(t).Cells()[0]
	want := Cell{
		Key: "main|baseline|threads=32|log=off|latency=0s|", Stage: "main", Role: RoleBaseline,
		Settings: []Setting{{"threads", "32"}, {"log", "off"}, {"latency", "0s"}},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("baseline (-got +want):\n%s", diff)
	}
}

// TestCellsDifferInOneSetting: every cell but the control differs from the baseline
// in exactly one setting, every level appears, and no key appears twice.
func TestCellsDifferInOneSetting(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		m := &Matrix{Factors: randomFactors(rng), Control: rng.IntN(2) == 0}
		cells := m.Cells()
		want := 1
		if m.Control {
			want++
		}
		for _, f := range m.Factors {
			want += len(f.Levels) - 1
		}
		if len(cells) != want || cells[0].Role != RoleBaseline {
			t.Fatalf("%d cells, the first a %s; want %d", len(cells), cells[0].Role, want)
		}
		keys := map[CellKey]bool{}
		for _, c := range cells {
			keys[c.Key] = true
			checkOneOff(t, cells[0], c)
		}
		if len(keys) != len(cells) {
			t.Fatalf("%d keys for %d cells", len(keys), len(cells))
		}
	}
}

func checkOneOff(t *testing.T, base, c Cell) {
	t.Helper()
	var off []Setting
	for i, s := range c.Settings {
		if s != base.Settings[i] {
			off = append(off, s)
		}
	}
	switch c.Role {
	case RoleBaseline, RoleControl:
		if off != nil || c.Factor != "" || c.Level != "" {
			t.Fatalf("%s is off the baseline: %v", c.Label(), off)
		}
	default:
		if !slices.Equal(off, []Setting{{c.Factor, c.Level}}) {
			t.Fatalf("%s differs from the baseline in %v", c.Label(), off)
		}
	}
}
