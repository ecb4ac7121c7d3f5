package experiment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestPeelMovesTheBaseline(t *testing.T) {
	levels := func(texts ...string) (out []experiment.Level) {
		for _, text := range texts {
			out = append(out, experiment.Level{Text: text})
		}
		return out
	}
	m := &experiment.Matrix{Name: "m", Factors: []experiment.Factor{
		{Name: "lock", Levels: levels("on", "off")}, {Name: "pool", Levels: levels("1", "8")},
	}}
	first, err := m.Peel(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := m.Peel(2, []experiment.Setting{{Factor: "lock", Level: "off"}})
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, stage := range []*experiment.Matrix{first, second} {
		for _, c := range stage.Cells() {
			labels = append(labels, c.Stage+" "+c.Label())
		}
	}
	want := []string{"peel-1 baseline", "peel-1 lock=off", "peel-1 pool=8", "peel-2 baseline", "peel-2 lock=on", "peel-2 pool=8"}
	if diff := cmp.Diff(labels, want); diff != "" {
		t.Errorf("cells (-got +want):\n%s", diff)
	}
	if m.Hash() == first.Hash() || first.Hash() == second.Hash() || len(m.Design.Stages) != 0 {
		t.Error("the stages of a peel are sweeps of their own, and the matrix stays as it is")
	}
	if _, err := first.Peel(2, nil); err == nil {
		t.Error("a matrix with stages was peeled")
	}
}
