package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// sampleSweep makes a complete sweep with a control: rounds share a level, cells
// differ by a few percent, metrics carry the names given.
func sampleSweep(cells, rounds int, metrics []string, seed uint64) experiment.Sweep {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := experiment.Sweep{Rounds: rounds, Settings: defaults()}
	for i := range cells {
		c := experiment.Cell{Stage: experiment.MainStage, Role: experiment.RoleVaried, Factor: "f", Level: fmt.Sprint(i)}
		switch i {
		case 0:
			c.Role = experiment.RoleBaseline
		case 1:
			c.Role = experiment.RoleControl
		}
		c.Key = experiment.CellKey(fmt.Sprintf("cell-%d", i))
		s.Cells = append(s.Cells, c)
	}
	for round := 1; round <= rounds; round++ {
		level := math.Exp(0.08 * rng.NormFloat64())
		for i, c := range s.Cells {
			r := experiment.RunRecord{Run: experiment.Run{ID: int64(len(s.Runs) + 1), Cell: c.Key, Round: round, State: experiment.StateOK}}
			for _, m := range metrics {
				effect := 1 + 0.01*float64(max(0, i-1))
				r.Observations = append(r.Observations, experiment.Observation{
					Metric: m, Phase: experiment.PhaseMeasure,
					Value: 1000 * level * effect * math.Exp(0.02*rng.NormFloat64()),
				})
			}
			s.Runs = append(s.Runs, r)
		}
	}
	return s
}

// designedSweep makes a complete sweep in which everything that the analysis looks for is
// there to be looked at: two factors with 7 numeric levels each and all their
// combinations, a control, two stages and two conditions, 200 cells together.
func designedSweep(rounds int, metrics []string) experiment.Sweep {
	levels := func(texts ...string) (out []experiment.Level) {
		for _, t := range texts {
			out = append(out, experiment.Level{Text: t})
		}
		return out
	}
	numbers := levels("1", "2", "4", "8", "16", "32", "64")
	m := experiment.Matrix{
		Control: true,
		Factors: []experiment.Factor{{Name: "pool", Levels: numbers}, {Name: "threads", Levels: numbers}, {Name: "users", Levels: levels("60", "1000")}},
		Design: experiment.Design{
			Across: []string{"users"}, Interactions: [][]string{{"pool", "threads"}},
			Stages: []experiment.Stage{{Name: "found"}, {Name: "tuned", Baseline: []experiment.Setting{{Factor: "pool", Level: "64"}}}},
		},
	}
	s := experiment.Sweep{Rounds: rounds, Settings: defaults(), Across: m.Design.Across, Factors: m.Factors, Cells: m.Cells()}
	rng := rand.New(rand.NewPCG(1, 3))
	for round := 1; round <= rounds; round++ {
		level := 0.08 * rng.NormFloat64()
		for i, c := range s.Cells {
			r := experiment.RunRecord{Run: experiment.Run{ID: int64(len(s.Runs) + 1), Seq: len(s.Runs) + 1, Cell: c.Key, Round: round, State: experiment.StateOK}}
			for _, m := range metrics {
				v := 1000 * math.Exp(level+0.01*float64(i%7)+0.02*rng.NormFloat64())
				r.Observations = append(r.Observations, experiment.Observation{Metric: m, Phase: experiment.PhaseMeasure, Value: v})
			}
			s.Runs = append(s.Runs, r)
		}
	}
	return s
}

func defaults() experiment.Settings {
	return experiment.Settings{
		Metric: experiment.DefaultMetric, Confidence: experiment.DefaultConfidence,
		MinimumEffect: experiment.DefaultMinimumEffect, ErrorRate: experiment.DefaultErrorRate,
	}
}

func thirtyMetrics() []string {
	out := []string{experiment.DefaultMetric}
	for i := 1; i < 30; i++ {
		out = append(out, fmt.Sprintf("app%d.cpu", i))
	}
	return out
}

// BenchmarkAnalyse judges small and large sweeps, by either method.
func BenchmarkAnalyse(b *testing.B) {
	analyse := func(b *testing.B, name string, s experiment.Sweep) {
		b.Helper()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := New().Analyse(s, s.Settings); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, size := range []struct{ cells, rounds int }{{12, 5}, {12, 10}, {200, 9}, {200, 20}} {
		analyse(b, fmt.Sprintf("cells=%d/rounds=%d/metrics=30", size.cells, size.rounds), sampleSweep(size.cells, size.rounds, thirtyMetrics(), 1))
	}
	metrics := append(thirtyMetrics()[:28], "latency_p50", "latency_p99")
	analyse(b, "designed/cells=200/rounds=20/metrics=30", designedSweep(20, metrics))
}
