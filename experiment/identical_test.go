package experiment_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func calibrated() *experiment.Matrix {
	return &experiment.Matrix{
		Name: "m", Control: true,
		Factors: []experiment.Factor{
			{Name: "pool", Baseline: 1, Levels: []experiment.Level{{Text: "8"}, {Text: "64"}}},
			{Name: "users", Levels: []experiment.Level{{Text: "10"}, {Text: "20"}}},
		},
		Design: experiment.Design{Kind: experiment.Grid, Across: []string{"users"}, Stages: []experiment.Stage{{Name: "a"}, {Name: "b"}}},
		Repeat: experiment.RepeatPlan{Rounds: 30, Seed: 3, Stopping: experiment.Stopping{Until: experiment.StopPrecise, AtMost: 30}},
		Judge:  experiment.Settings{Metric: experiment.DefaultMetric, Objectives: []experiment.Objective{{Metric: "latency_p99"}}},
	}
}

// Every cell of a calibration is the baseline, under the first condition alone.
func TestIdenticalCells(t *testing.T) {
	m := calibrated()
	got, err := m.Identical(3)
	if err != nil {
		t.Fatal(err)
	}
	var cells []string
	for _, c := range got.Cells() {
		pool, _ := c.Lookup("pool")
		users, _ := c.Lookup("users")
		cells = append(cells, strings.Join([]string{c.Stage, c.Condition, c.Label(), pool, users}, "|"))
	}
	if diff := cmp.Diff(cells, []string{"main||baseline|64|10", "main||copy=2|64|10", "main||copy=3|64|10"}); diff != "" {
		t.Error(diff)
	}
	if got.Name != "m: calibration" || got.Repeat.Until != experiment.StopFixed || got.Repeat.Seed != 3 || got.Judge.Objectives != nil || len(got.Ladders()) != 0 {
		t.Errorf("%+v", got)
	}
	if experiment.HashJSON(m) != experiment.HashJSON(calibrated()) {
		t.Errorf("the matrix itself has changed: %+v", m)
	}
	other, err := m.Identical(4)
	if err != nil || other.Hash() == got.Hash() || got.Hash() == m.Hash() {
		t.Errorf("one identity for two sweeps, %v", err)
	}
}

func TestNoIdenticalCells(t *testing.T) {
	for name, c := range map[string]struct {
		copies int
		change func(*experiment.Matrix)
		want   string
	}{
		"one copy":           {1, func(*experiment.Matrix) {}, "1 copies: want 2 to 50"},
		"too many":           {51, func(*experiment.Matrix) {}, "51 copies: want 2 to 50"},
		"a factor of a name": {4, func(m *experiment.Matrix) { m.Factors[0].Name = "copy" }, "factors.copy: a calibration numbers its identical cells by a factor of this name (give the factor another name)"},
		"a ladder's metric":  {4, func(m *experiment.Matrix) { m.Judge.Metric = experiment.MetricCeiling }, "judge.metric: ceiling is the metric of a ladder"},
	} {
		t.Run(name, func(t *testing.T) {
			m := calibrated()
			c.change(m)
			_, err := m.Identical(c.copies)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if field := new(experiment.FieldError); errors.As(err, &field) != strings.Contains(c.want, ".") {
				t.Errorf("%T", err)
			}
		})
	}
}
