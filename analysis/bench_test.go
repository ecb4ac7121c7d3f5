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

// BenchmarkAnalyse judges a sweep of a day and sweeps of a night, under both methods.
func BenchmarkAnalyse(b *testing.B) {
	for _, size := range []struct{ cells, rounds int }{{12, 5}, {12, 10}, {200, 9}, {200, 20}} {
		b.Run(fmt.Sprintf("cells=%d/rounds=%d/metrics=30", size.cells, size.rounds), func(b *testing.B) {
			s := sampleSweep(size.cells, size.rounds, thirtyMetrics(), 1)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := New().Analyse(s, s.Settings); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
