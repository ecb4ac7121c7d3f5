package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

// measuredTwice is a sweep of three cells in four rounds; factor is what the cell pool=64
// makes of it.
func measuredTwice(id int64, factor float64) experiment.Sweep {
	s := experiment.Sweep{
		ID: id, Name: "pool", Hash: strings.Repeat("0123456789abcdef", 4), Runner: experiment.RunnerProcess, Rounds: 4,
		Settings: experiment.Settings{Metric: "throughput", MinimumEffect: 0.03, Confidence: 0.95, ErrorRate: 0.01},
		Began:    time.Date(2026, 3, int(id), 5, 6, 0, 0, time.UTC), Version: "0.1.0",
		Host:   experiment.Host{Name: "bench", CPU: "z80", Kernel: "6.1", Memory: 1 << 30, Cores: experiment.CoreSet{0, 1}},
		Images: experiment.Images{"app:1": "sha256:" + strings.Repeat([]string{"aa", "bb"}[id%2], 32)},
	}
	for i, level := range []string{"8", "64", "bad|\x1b[31m"} {
		c := experiment.Cell{Key: experiment.CellKey(level), Stage: experiment.MainStage, Role: experiment.RoleVaried, Factor: "pool", Level: level}
		c.Settings = []experiment.Setting{{Factor: "pool", Level: level}}
		if i == 0 {
			c.Role, c.Factor, c.Level = experiment.RoleBaseline, "", ""
		} else {
			c.Off = c.Settings
		}
		s.Cells = append(s.Cells, c)
		for round := 1; round <= 4; round++ {
			v := 1000 * (1 + 0.005*math.Sin(float64(7*round+3*i)+float64(id)))
			if i == 1 {
				v *= factor
			}
			s.Runs = append(s.Runs, experiment.RunRecord{
				Run: experiment.Run{ID: int64(len(s.Runs) + 1), Cell: c.Key, Round: round, State: experiment.StateOK},
				Observations: []experiment.Observation{
					{Metric: "throughput", Phase: experiment.PhaseMeasure, Value: v, Unit: experiment.UnitPerSecond},
					{Metric: "app.cpu", Phase: experiment.PhaseMeasure, Value: 1 / v, Unit: experiment.UnitCores},
					{Metric: "error_rate", Phase: experiment.PhaseMeasure, Value: 0, Unit: experiment.UnitRatio},
				},
			})
		}
	}
	return s
}

func versus(t *testing.T, old, now experiment.Sweep) report.VersusReport {
	t.Helper()
	v, err := analysis.CompareSweeps(old, now, now.Settings)
	if err != nil {
		t.Fatal(err)
	}
	return report.VersusReport{Old: old, New: now, Versus: v}
}

func TestVersus(t *testing.T) {
	old, now := measuredTwice(1, 1), measuredTwice(2, 0.8)
	elsewhere := measuredTwice(2, 0.8)
	elsewhere.Host.Name = "other"
	open := measuredTwice(2, 0.8)
	open.Rounds = 6
	alien := measuredTwice(2, 1)
	for i := range alien.Cells {
		alien.Cells[i].Settings = []experiment.Setting{{Factor: "threads", Level: alien.Cells[i].Level}}
	}
	broken := measuredTwice(2, 1)
	for i := range broken.Runs {
		broken.Runs[i].Observations[0].Value = math.NaN()
	}
	for name, r := range map[string]report.VersusReport{
		"versus": versus(t, old, now), "versus-hosts": versus(t, old, elsewhere), "versus-interim": versus(t, old, open),
		"versus-alien": versus(t, old, alien), "versus-broken": versus(t, old, broken),
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range report.Formats() {
				got := render(t, func(b *bytes.Buffer) error { return report.Versus(b, r, f) })
				golden(t, name+"."+string(f), got)
				sane(t, f, got)
			}
		})
	}
}

func TestCalibration(t *testing.T) {
	c := experiment.Calibration{
		Sweep: 3, Host: "0123456789abcdef", Name: "pool: calibration", Metric: "throughput", Scale: experiment.ScaleRatio, When: time.Date(2026, 3, 4, 5, 6, 0, 0, time.UTC),
		Copies: 4, Rounds: 10, Block: 5, Comparisons: 4, Alarms: 1, Limit: 2, Families: 2, SD: 0.021,
		Shows: []experiment.Shows{{Rounds: 3, Effect: 0.12}, {Rounds: 10, Effect: 0.021}},
	}
	wolf := c
	wolf.Comparisons, wolf.Alarms, wolf.Limit, wolf.Shows = 200, 30, 16, nil
	rates := c
	rates.Metric, rates.Scale, rates.SD, rates.Shows = "error_rate", experiment.ScaleDifference, 0.0004, []experiment.Shows{{Rounds: 5, Effect: 0.001}}
	for name, c := range map[string]experiment.Calibration{"calibration": c, "calibration-wolf": wolf, "calibration-rates": rates} {
		t.Run(name, func(t *testing.T) {
			m, _ := experiment.MetricByName(c.Metric)
			for _, f := range report.Formats() {
				got := render(t, func(b *bytes.Buffer) error { return report.Calibration(b, c, m, f, report.Options{}) })
				golden(t, name+"."+string(f), got)
				sane(t, f, got)
			}
		})
	}
}

// sane looks for what must never be in an output.
func sane(t *testing.T, f report.Format, got []byte) {
	t.Helper()
	if bytes.Contains(got, []byte("NaN")) || bytes.Contains(got, []byte("Inf")) || f != report.CSV && bytes.Contains(got, []byte("\x1b")) {
		t.Errorf("%s: a bare NaN, an infinity, or somebody's colours:\n%s", f, got)
	}
	switch f {
	case report.JSON:
		if !json.Valid(got) {
			t.Errorf("no JSON:\n%s", got)
		}
	case report.CSV:
		if _, err := csv.NewReader(bytes.NewReader(got)).ReadAll(); err != nil {
			t.Error(err)
		}
	case report.Text, report.Markdown:
	}
}
