package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

// forecastMatrix has 5 cells (baseline, control, 2 + 1 levels) under each of users.
func forecastMatrix() *experiment.Matrix {
	levels := func(texts ...string) (out []experiment.Level) {
		for _, t := range texts {
			out = append(out, experiment.Level{Text: t})
		}
		return out
	}
	return &experiment.Matrix{
		Control: true,
		Factors: []experiment.Factor{
			{Name: "pool", Levels: levels("1", "8", "64")}, {Name: "cache", Levels: levels("off", "on")}, {Name: "users", Levels: levels("8", "60")},
		},
		Design:  experiment.Design{Across: []string{"users"}},
		Subject: experiment.Subject{Services: []experiment.ServiceSpec{{Name: "app"}}},
		Load: experiment.LoadSpec{
			Service: "app", Port: 80, Requests: []experiment.RequestSpec{{Method: "GET", Path: experiment.Literal("/")}},
			Closed: &experiment.ClosedSpec{Users: experiment.Literal("8"), Think: experiment.Literal("0s")}, Timeout: experiment.Literal("1s"),
			Ramp: experiment.Literal("0s"), Warmup: experiment.WarmupSpec{For: experiment.Literal("2s")}, Measure: experiment.MeasureSpec{For: experiment.Literal("6s")},
		},
		Repeat: experiment.RepeatPlan{Rounds: 5},
	}
}

func TestTheChangeThatWouldCutItMost(t *testing.T) {
	seconds := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	for _, tc := range []struct {
		name   string
		change func(m *experiment.Matrix)
		now    time.Duration
		want   *report.Cut
	}{
		// 10 cells x 5 rounds x (2 s + 6 s + 2 s beside)
		{"a condition", func(*experiment.Matrix) {}, seconds(500), &report.Cut{Change: "the condition users at 8 alone", Duration: seconds(250)}},
		{
			"rounds", func(m *experiment.Matrix) {
				m.Design.Across = nil
				m.Factors = m.Factors[:2]
				m.Repeat.Rounds = 10
			}, seconds(500), &report.Cut{Change: "3 rounds instead of 10", Duration: seconds(150)},
		},
		{
			"the factor of most levels", func(m *experiment.Matrix) {
				m.Design = experiment.Design{Kind: experiment.Grid}
				m.Factors = m.Factors[:2]
				m.Subject.Services[0].Command = []experiment.Template{reference(t, "${pool}"), reference(t, "${cache}")}
				m.Repeat.Rounds = 3
			}, seconds(7 * 30), &report.Cut{Change: "no factor pool", Duration: seconds(3 * 30)},
		},
		{
			"the window", func(m *experiment.Matrix) {
				m.Design.Across, m.Factors, m.Repeat.Rounds = nil, m.Factors[:2], 3
				m.Load.Measure.For = experiment.Literal("96s")
			}, seconds(5 * 300), &report.Cut{Change: "a window half as long", Duration: seconds(5 * 3 * 52)},
		},
		{
			"a warm-up", func(m *experiment.Matrix) {
				m.Design.Across, m.Factors, m.Repeat.Rounds = nil, m.Factors[:2], 3
				m.Load.Warmup.For = experiment.Literal("92s")
			}, seconds(5 * 300), &report.Cut{Change: "a warm-up half as long", Duration: seconds(5 * 3 * 54)},
		},
		{
			// 3 cells of 2 s; the only factor is what is asked
			"the control", func(m *experiment.Matrix) {
				m.Design.Across, m.Factors, m.Repeat.Rounds = nil, m.Factors[1:2], 3
				m.Load = experiment.LoadSpec{None: true}
			}, seconds(18), &report.Cut{Change: "no control", Duration: seconds(12)},
		},
		{
			"nothing", func(m *experiment.Matrix) {
				m.Design.Across, m.Factors, m.Repeat.Rounds, m.Control = nil, m.Factors[1:2], 3, false
				m.Load = experiment.LoadSpec{None: true}
			}, seconds(12), nil,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := forecastMatrix()
			tc.change(m)
			f := newForecast(m, costs{beside: time.Second, ready: time.Second})
			now, err := f.of(m.Cells(), m.Repeat.Rounds, unchanged)
			if err != nil || now != tc.now {
				t.Errorf("%v now, %v; want %v", now, err, tc.now)
			}
			got, err := f.cut(m.Cells())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func reference(t *testing.T, text string) experiment.Template {
	t.Helper()
	out, err := experiment.ParseTemplate(text, experiment.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A ladder keeps its rungs: one alone shows no ceiling.
func TestALadderKeepsItsRungs(t *testing.T) {
	m := forecastMatrix()
	m.Load.Closed, m.Load.Open = nil, &experiment.OpenSpec{Rate: reference(t, "${users}/s"), InFlight: experiment.Literal("10")}
	for _, l := range newForecast(m, costs{}).lesser() {
		if len(l.m.Factors[2].Levels) != 2 {
			t.Errorf("%s takes rungs away", l.change)
		}
	}
}

func TestLoadTime(t *testing.T) {
	const s = time.Second
	for name, tc := range map[string]struct {
		load experiment.Load
		want time.Duration
	}{
		"none":                {experiment.Load{None: true}, 0},
		"fixed":               {experiment.Load{Ramp: s, Warmup: 2 * s, Measure: 6 * s, Timeout: 10 * s}, 9 * s},
		"until steady":        {experiment.Load{Warmup: 2 * s, Steady: 10 * s, Measure: 6 * s}, 12 * s},
		"work at a rate":      {experiment.Load{Measure: 600 * s, Work: 1000, Open: &experiment.OpenLoad{Rate: 100}}, 10 * s},
		"work at its longest": {experiment.Load{Measure: 600 * s, Work: 1000, Closed: &experiment.ClosedLoad{Users: 4}}, 600 * s},
		"another's window":    {experiment.Load{Warmup: s, Measure: 6 * s, External: &experiment.External{Within: 600 * s}}, 7 * s},
		"another's own time":  {experiment.Load{Warmup: s, External: &experiment.External{Within: 600 * s}}, 600 * s},
		"phases":              {experiment.Load{Phases: []experiment.LoadPhase{{For: 2 * s}, {For: 3 * s, Measure: true}}}, 5 * s},
	} {
		if got := loadTime(tc.load); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
