package experiment

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func grown(t *testing.T, baseline string, cells ...string) *Imported {
	t.Helper()
	s, err := NewImported("week")
	if err != nil {
		t.Fatal(err)
	}
	if baseline != "" {
		tell(t, s, baseline)
	}
	for _, text := range cells {
		add(t, s, text)
	}
	return s
}

func tell(t *testing.T, s *Imported, baseline string) {
	t.Helper()
	settings, err := ParseSettings(baseline)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Tell(settings); err != nil {
		t.Fatal(err)
	}
}

func add(t *testing.T, s *Imported, text string) Cell {
	t.Helper()
	choice, err := ParseCell(text)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Add(choice)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func cellLabels(s *Imported) string {
	var all []string
	for _, c := range s.Matrix.Cells() {
		all = append(all, c.Label())
	}
	return strings.Join(all, " ")
}

func TestImportedGrowsByCells(t *testing.T) {
	for _, tt := range []struct {
		name, baseline string
		cells          []string
		want           string
	}{
		{"the baseline alone", "", []string{"baseline"}, "baseline"},
		{"it is there before it is imported", "", []string{"pool=8"}, "baseline pool=8"},
		{"levels by value, factors by name", "", []string{"pool=64", "pool=8", "log=off"}, "baseline log=off pool=8 pool=64"},
		{"a cell twice is one", "", []string{"pool=8", "pool=8"}, "baseline pool=8"},
		{"a control", "", []string{"pool=8", "control"}, "baseline control pool=8"},
		{"a corner brings no other cells, however it is written", "", []string{"pool=8,log=off", "log=off,pool=8"}, "baseline log=off,pool=8"},
		{"the baseline's level is the baseline", "log=info", []string{"log=info", "log=off"}, "baseline log=off"},
		{"a level that is not off is none of the cell's", "log=info", []string{"log=info,pool=8"}, "baseline pool=8"},
		{"the untold level is the baseline's", "", []string{"log=off", "log=baseline"}, "baseline log=off"},
		{"a level may be empty, and hold what a name may not", "", []string{"url=http://a/?b=c", "trace="}, "baseline trace= url=http://a/?b=c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, cellLabels(grown(t, tt.baseline, tt.cells...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestImportedInAnyOrder: whatever the order in which cells come and the baseline is
// told, the sweep is the same, also where it was stored in between.
func TestImportedInAnyOrder(t *testing.T) {
	cells := []string{"baseline", "control", "pool=8", "pool=64", "pool=128", "log=off", "log=debug,pool=8", "log=off,pool=64", "gc=z"}
	want := grown(t, "log=info", cells...)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		rng.Shuffle(len(cells), func(a, b int) { cells[a], cells[b] = cells[b], cells[a] })
		got := grown(t, "")
		told := rng.IntN(len(cells))
		for i, c := range cells {
			if i == told {
				tell(t, got, "log=info")
			}
			add(t, got, c)
			got = ImportedOf(Sweep{Name: "week", Factors: got.Matrix.Factors, Cells: got.Matrix.Cells(), Settings: got.Matrix.Judge})
		}
		if diff := cmp.Diff(want.Matrix.Cells(), got.Matrix.Cells()) + cmp.Diff(want.Matrix.Factors, got.Matrix.Factors); diff != "" {
			t.Fatalf("%v, told before %d: %s", cells, told, diff)
		}
		if want.Hash() != got.Hash() {
			t.Fatal("another hash")
		}
	}
}

func TestImportedRefuses(t *testing.T) {
	for _, tt := range []struct{ name, baseline, want string }{
		{"another baseline than was told", "log=debug", "the baseline has log=info already, not debug"},
		{"a baseline that is a cell beside it", "pool=8", "pool=8 is a cell beside the baseline already"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			settings, err := ParseSettings(tt.baseline)
			if err != nil {
				t.Fatal(err)
			}
			err = grown(t, "log=info", "pool=8").Tell(settings)
			if err == nil || err.Error() != tt.want {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	for _, name := range []string{"", "latest", "3", "c0ffee", "a b"} {
		if _, err := NewImported(name); err == nil {
			t.Errorf("%q is the name of a sweep", name)
		}
	}
	for text, want := range map[string]string{
		"":              `"" is no factor=level`,
		"base":          `"base" is no factor=level`,
		"=8":            `"" is no name of a factor`,
		"pool=8,":       `"" is no factor=level`,
		"a b=8":         `"a b" is no name of a factor`,
		"pool=1,pool=2": "pool has two levels",
	} {
		_, err := ParseCell(text)
		if err == nil || !strings.HasPrefix(err.Error(), want+": want baseline") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
