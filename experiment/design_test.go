package experiment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// designed is a matrix of three factors, all of which reach the service.
func designed(d Design) *Matrix {
	levels := func(texts ...string) []Level {
		var out []Level
		for _, t := range texts {
			out = append(out, Level{Text: t})
		}
		return out
	}
	ref := func(name string) EnvVar {
		return EnvVar{Name: strings.ToUpper(name), Value: Template{parts: []templatePart{{ref: &Ref{Kind: RefFactor, Name: name}}}}}
	}
	return &Matrix{
		Design: d,
		Factors: []Factor{
			{Name: "a", Levels: levels("1", "2")},
			{Name: "b", Levels: levels("x", "y", "z"), Baseline: 1},
			{Name: "users", Levels: levels("50", "500")},
		},
		Subject: Subject{Services: []ServiceSpec{{Name: "app", Env: []EnvVar{ref("a"), ref("b"), ref("users")}}}},
	}
}

func set(pairs ...string) []Setting {
	var out []Setting
	for _, p := range pairs {
		factor, level, _ := strings.Cut(p, "=")
		out = append(out, Setting{factor, level})
	}
	return out
}

func TestDesigns(t *testing.T) {
	for _, tc := range []struct {
		name string
		d    Design
		want string
	}{
		{"one at a time", Design{}, "baseline a=2 b=x b=z users=500"},
		{"grid", Design{Kind: Grid, Across: []string{"users"}}, "baseline@users=50 baseline@users=500 a=2@users=50 a=2@users=500 " +
			"b=x@users=50 b=x@users=500 b=z@users=50 b=z@users=500 a=2,b=x@users=50 a=2,b=x@users=500 a=2,b=z@users=50 a=2,b=z@users=500"},
		{"chosen cells", Design{Kind: ChosenCells, Cells: []Selection{{Settings: set("a=2", "b=x")}, {Settings: set("users=500")}}}, "baseline a=2,b=x users=500"},
		{"chosen cells besides", Design{Cells: []Selection{{Settings: set("a=2", "b=x")}, {Settings: set("a=2")}}}, "baseline a=2 b=x b=z users=500 a=2,b=x"},
		{"interactions", Design{Interactions: [][]string{{"a", "b"}}}, "baseline a=2 b=x b=z users=500 a=2,b=x a=2,b=z"},
		{"except", Design{Interactions: [][]string{{"a", "b"}}, Except: []Selection{{Settings: set("a=2", "b=x")}, {Settings: set("users=500")}}}, "baseline a=2 b=x b=z a=2,b=z"},
		{
			"except under a condition",
			Design{Across: []string{"users"}, Except: []Selection{{Settings: set("b=x", "users=500")}}},
			"baseline@users=50 baseline@users=500 a=2@users=50 a=2@users=500 b=x@users=50 b=z@users=50 b=z@users=500",
		},
		{
			"stages",
			Design{Stages: []Stage{{Name: "found"}, {Name: "mended", Baseline: set("b=x")}}},
			"found:baseline found:a=2 found:b=x found:b=z found:users=500 mended:baseline mended:a=2 mended:b=y mended:b=z mended:users=500",
		},
		{"two conditions", Design{Kind: ChosenCells, Across: []string{"users", "a"}}, "baseline@a=1, users=50 baseline@a=1, users=500 baseline@a=2, users=50 baseline@a=2, users=500"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, c := range designed(tc.d).Cells() {
				label := c.Label()
				if c.Stage != MainStage {
					label = c.Stage + ":" + label
				}
				if c.Condition != "" {
					label += "@" + c.Condition
				}
				got = append(got, label)
			}
			if diff := cmp.Diff(strings.Join(got, " "), tc.want); diff != "" {
				t.Errorf("cells (-got +want):\n%s", diff)
			}
		})
	}
}

func TestCornerCell(t *testing.T) {
	cells := designed(Design{Interactions: [][]string{{"a", "b"}}, Across: []string{"users"}, Stages: []Stage{{Name: "s", Baseline: set("a=2")}}}).Cells()
	got := cells[len(cells)-1]
	want := Cell{
		Key: "s|corner|a=1|b=z|users=500", Stage: "s", Role: RoleCorner, Factor: "a+b", Level: "1+z", Condition: "users=500",
		Settings: set("a=1", "b=z", "users=500"), Off: set("a=1", "b=z"),
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("corner (-got +want):\n%s", diff)
	}
}

// TestCellsOfAnyDesign: whatever the design, no two cells are alike, each stage and
// condition has one baseline, and what a cell says to be off is what differs from it.
func TestCellsOfAnyDesign(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		m := designed(randomDesign(rng))
		m.Control = rng.IntN(2) == 0
		base, keys := map[string]Cell{}, map[CellKey]bool{}
		cells := m.Cells()
		for _, c := range cells {
			if c.Role == RoleBaseline {
				base[c.Stage+"@"+c.Condition] = c
			}
			keys[c.Key] = true
		}
		if len(keys) != len(cells) {
			t.Fatalf("%+v: %d keys for %d cells", m.Design, len(keys), len(cells))
		}
		for _, c := range cells {
			b, ok := base[c.Stage+"@"+c.Condition]
			if !ok {
				t.Fatalf("%+v: %s in %s under %q has no baseline", m.Design, c.Label(), c.Stage, c.Condition)
			}
			var off []Setting
			for i, s := range c.Settings {
				if s != b.Settings[i] {
					off = append(off, s)
				}
			}
			if !slices.Equal(off, c.Off) || (c.Role == RoleCorner) != (len(off) > 1) || (c.Role == RoleVaried) != (len(off) == 1) {
				t.Fatalf("%+v: %s (%s) differs in %v, says %v", m.Design, c.Key, c.Role, off, c.Off)
			}
		}
	}
}

func randomDesign(rng *rand.Rand) Design {
	var d Design
	d.Kind = []DesignKind{"", OneAtATime, Grid, ChosenCells}[rng.IntN(4)]
	if rng.IntN(2) == 0 {
		d.Across = []string{"users"}
	}
	if rng.IntN(2) == 0 {
		d.Interactions = [][]string{{"a", "b"}}
	}
	if rng.IntN(2) == 0 {
		d.Cells = []Selection{{Settings: set("a=2", "b=z")}, {Settings: set("b=x")}}
	}
	for i := range rng.IntN(3) {
		d.Stages = append(d.Stages, Stage{Name: fmt.Sprint("s", i), Baseline: [][]Setting{nil, set("a=2"), set("b=z")}[rng.IntN(3)]})
	}
	return d
}

// TestGridLeavesOutIdleCombinations: a factor whose service is absent cannot be off
// its baseline there.
func TestGridLeavesOutIdleCombinations(t *testing.T) {
	m := designed(Design{Kind: Grid})
	m.Factors = m.Factors[:2]
	m.Subject.Services = []ServiceSpec{
		{Name: "app", Env: m.Subject.Services[0].Env[:1]},
		{Name: "pooler", Env: m.Subject.Services[0].Env[1:2], Only: []Only{{Factor: "a", Levels: []string{"2"}}}},
	}
	var got []string
	for _, c := range m.Cells() {
		if m.reaches(c) {
			got = append(got, c.Label())
		}
	}
	want := []string{"baseline", "a=2", "a=2,b=x", "a=2,b=z"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("cells that reach something (-got +want):\n%s", diff)
	}
}

func TestLadders(t *testing.T) {
	m := designed(Design{Across: []string{"users", "rate"}, Kind: ChosenCells, Cells: []Selection{{Settings: set("a=2")}}})
	m.Factors = append(m.Factors, Factor{Name: "rate", Levels: []Level{{Text: "400"}, {Text: "800"}}})
	if got := m.Ladders(); got != nil {
		t.Fatalf("a load that does not climb has ladders: %v", got)
	}
	m.Load.Open = &OpenSpec{Rate: Template{parts: []templatePart{{ref: &Ref{Kind: RefFactor, Name: "rate"}}, {text: "/s"}}}}
	if m.Rung() != "rate" {
		t.Errorf("rung %q", m.Rung())
	}
	got := m.Ladders()
	if len(got) != 4 {
		t.Fatalf("%d ladders, want one for each cell and number of users", len(got))
	}
	want := Ladder{
		Cell: Cell{
			Key: "main|varied|a=2|b=y|users=500|ladder", Stage: MainStage, Role: RoleVaried, Factor: "a", Level: "2", Condition: "users=500",
			Settings: set("a=2", "b=y", "users=500"), Off: set("a=2"),
		},
		Rungs: []CellKey{"main|varied|a=2|b=y|users=500, rate=400", "main|varied|a=2|b=y|users=500, rate=800"},
	}
	if diff := cmp.Diff(got[3], want); diff != "" {
		t.Errorf("ladder (-got +want):\n%s", diff)
	}
}

// TestLaddersRise: a ladder is climbed from its lowest rate, in whatever order and
// under whatever names its rungs are declared.
func TestLaddersRise(t *testing.T) {
	m := designed(Design{Across: []string{"users", "pace"}, Kind: ChosenCells})
	pace := func(name, rate string) Level { return Level{Text: name, Is: []KeyValue{{"rate", rate}}} }
	m.Factors = append(m.Factors, Factor{Name: "pace", Levels: []Level{pace("high, fast", "1000"), pace("low, slow", "90"), pace("middling", "400")}})
	m.Load.Open = &OpenSpec{Rate: Template{parts: []templatePart{{ref: &Ref{Kind: RefFactor, Name: "pace", Key: "rate"}}, {text: "/s"}}}, InFlight: Literal("9")}
	var levels []string
	for _, l := range m.Rungs() {
		levels = append(levels, l.Text)
	}
	if want := []string{"low, slow", "middling", "high, fast"}; !slices.Equal(levels, want) {
		t.Errorf("rungs %q, want %q", levels, want)
	}
	got := m.Ladders()
	if len(got) != 2 {
		t.Fatalf("%d ladders, want one for each number of users", len(got))
	}
	const cell = "main|baseline|a=1|b=y|users=50, pace="
	want := []CellKey{cell + "low, slow", cell + "middling", cell + "high, fast"}
	if diff := cmp.Diff(got[0].Rungs, want); diff != "" {
		t.Errorf("rungs (-got +want):\n%s", diff)
	}
	if c := got[0].Cell; c.Condition != "users=50" || c.Key != "main|baseline|a=1|b=y|users=50|ladder" {
		t.Errorf("the ladder as a whole is %s under %s", c.Key, c.Condition)
	}
}

// TestVariant: subject and load of a cell are those of the levels that put something
// else in their place.
func TestVariant(t *testing.T) {
	m := designed(Design{})
	m.Factors[1].Levels[2].Set = true
	other := Subject{Services: []ServiceSpec{{Name: "other"}}}
	m.Variants = []Variant{{When: set("b=x"), Subject: m.Subject}, {When: set("b=z"), Subject: other}}
	for label, want := range map[string]string{"baseline": "app", "b=x": "app", "b=z": "other"} {
		p, err := m.Plan(cellNamed(t, m, label))
		if FieldErrors(err) == nil || len(p.Services) != 1 || p.Services[0].Name != want {
			t.Errorf("%s: services %v", label, p.Services)
		}
	}
}
