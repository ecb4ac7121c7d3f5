package analysis

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// hidden is a sweep of three factors, in which each cell has the throughput given, by
// condition; the rounds differ by a hundredth.
func hidden(t *testing.T, better experiment.Direction, throughput map[string]float64) experiment.Sweep {
	t.Helper()
	levels := func(texts ...string) (out []experiment.Level) {
		for _, text := range texts {
			out = append(out, experiment.Level{Text: text})
		}
		return out
	}
	m := experiment.Matrix{
		Factors: []experiment.Factor{
			{Name: "lock", Levels: levels("on", "off")}, {Name: "pool", Levels: levels("8", "1", "64")}, {Name: "users", Levels: levels("60", "1000")},
		},
		Design: experiment.Design{Across: []string{"users"}},
	}
	set := defaults()
	if better == experiment.LowerIsBetter {
		set.Metric = "app.cpu"
	}
	s := experiment.Sweep{Rounds: 5, Settings: set, Across: m.Design.Across, Factors: m.Factors, Cells: m.Cells()}
	for round := 1; round <= s.Rounds; round++ {
		for i, c := range s.Cells {
			v, ok := throughput[c.Label()+" "+c.Condition]
			if !ok {
				v = 100
			}
			r := experiment.RunRecord{Run: experiment.Run{ID: int64(len(s.Runs) + 1), Cell: c.Key, Round: round, State: experiment.StateOK}}
			r.Observations = []experiment.Observation{observed(set.Metric, v*math.Exp(0.004*float64((7*i+3*round)%5-2)))}
			s.Runs = append(s.Runs, r)
		}
	}
	return s
}

func TestDominant(t *testing.T) {
	for _, c := range []struct {
		name       string
		better     experiment.Direction
		throughput map[string]float64
		spent      []experiment.Setting
		want       string // empty: none
	}{
		{"nothing differs", experiment.HigherIsBetter, nil, nil, ""},
		{"the largest", experiment.HigherIsBetter, map[string]float64{
			"lock=off users=60": 200, "lock=off users=1000": 300, "pool=64 users=60": 150, "pool=64 users=1000": 400,
		}, nil, "lock=off from on"},
		{"worse is not adopted, however large", experiment.HigherIsBetter, map[string]float64{
			"pool=1 users=60": 10, "pool=1 users=1000": 10, "lock=off users=60": 120, "lock=off users=1000": 120,
		}, nil, "lock=off from on"},
		{"in one condition worse", experiment.HigherIsBetter, map[string]float64{
			"lock=off users=60": 300, "lock=off users=1000": 50, "pool=64 users=60": 120, "pool=64 users=1000": 120,
		}, nil, "pool=64 from 8"},
		{"nothing in one condition", experiment.HigherIsBetter, map[string]float64{"lock=off users=60": 300}, nil, ""},
		{"the best level of the factor", experiment.HigherIsBetter, map[string]float64{
			"pool=1 users=60": 130, "pool=1 users=1000": 130, "pool=64 users=60": 150, "pool=64 users=1000": 150,
		}, nil, "pool=64 from 8"},
		{"too small to matter", experiment.HigherIsBetter, map[string]float64{"lock=off users=60": 102, "lock=off users=1000": 102}, nil, ""},
		{"less is better", experiment.LowerIsBetter, map[string]float64{
			"lock=off users=60": 50, "lock=off users=1000": 50, "pool=64 users=60": 400, "pool=64 users=1000": 400,
		}, nil, "lock=off from on"},
		{
			"the way back", experiment.HigherIsBetter,
			map[string]float64{"lock=off users=60": 200, "lock=off users=1000": 200},
			[]experiment.Setting{{Factor: "lock", Level: "off"}},
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := hidden(t, c.better, c.throughput)
			move, found := Dominant(s, analysed(t, s), c.spent)
			got := ""
			if found {
				got = move.Factor + "=" + move.Level + " from " + move.From
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
	s := hidden(t, experiment.HigherIsBetter, map[string]float64{"lock=off users=60": 200})
	lacks := func(key experiment.CellKey) bool {
		return strings.Contains(string(key), "lock=off") && strings.Contains(string(key), "users=1000")
	}
	s.Cells = slices.DeleteFunc(s.Cells, func(c experiment.Cell) bool { return lacks(c.Key) })
	s.Runs = slices.DeleteFunc(s.Runs, func(r experiment.RunRecord) bool { return lacks(r.Cell) })
	if move, found := Dominant(s, analysed(t, s), nil); found {
		t.Errorf("%+v was adopted, which one condition lacks", move)
	}
	s = hidden(t, experiment.HigherIsBetter, map[string]float64{"lock=off users=60": 200, "lock=off users=1000": 200})
	s.Rounds = 6
	if move, found := Dominant(s, analysed(t, s), nil); found {
		t.Errorf("%+v was adopted before the rounds are done", move)
	}
}
