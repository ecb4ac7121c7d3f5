package report_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

// analysed gives the report of a matrix whose runs have the values that a function
// tells; it leaves out runs for which it gives none.
func analysed(m *experiment.Matrix, values func(c experiment.Cell, round int) map[string]float64) report.Report {
	s := experiment.Sweep{
		ID: 4, Hash: "99aabbccddeeff001122", Serial: 1, Name: m.Name, Question: m.Question, Runner: experiment.RunnerDocker, Seed: 7,
		Rounds: m.Repeat.Rounds, Settings: m.Judge, Factors: m.Factors, Across: m.Design.Across, Cells: m.Cells(), Ladders: m.Ladders(),
		Placement: experiment.Placement{Subject: experiment.CoreSet{0}, Load: experiment.CoreSet{1}},
		Began:     time.Date(2026, 11, 2, 8, 30, 0, 0, time.UTC),
	}
	for _, c := range s.Cells {
		for round := 1; round <= s.Rounds; round++ {
			all := values(c, round)
			if all == nil {
				continue
			}
			run := experiment.RunRecord{Run: experiment.Run{ID: int64(len(s.Runs) + 1), Cell: c.Key, Round: round, State: experiment.StateOK}}
			for metric, v := range all {
				unit, _ := experiment.MetricByName(metric)
				run.Observations = append(run.Observations, experiment.Observation{Metric: metric, Phase: experiment.PhaseMeasure, Value: v, Unit: unit.Unit})
			}
			s.Runs = append(s.Runs, run)
		}
	}
	results, err := analysis.New().Analyse(s, s.Settings)
	if err != nil {
		panic(err) // a fixture that cannot be analysed
	}
	return report.Report{Sweep: s, Results: results}
}

func noise(c experiment.Cell, round int, metric string) float64 {
	seed := uint64(round)
	for _, r := range string(c.Key) + metric {
		seed = seed*31 + uint64(r)
	}
	return math.Exp(0.01 * rand.New(rand.NewPCG(seed, 1)).NormFloat64())
}

func level(c experiment.Cell, factor string) float64 {
	text, _ := c.Lookup(factor)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return v
}

func template(text string) experiment.Template {
	t, err := experiment.ParseTemplate(text, experiment.Pos{})
	if err != nil {
		panic(err)
	}
	return t
}

func stagedMatrix() *experiment.Matrix {
	return &experiment.Matrix{
		Name: "pool-and-cache", Question: "Does the pool still matter once the cache is on?", Control: true, Runner: experiment.RunnerDocker,
		Factors: []experiment.Factor{
			{Name: "pool", Unit: "connections", Levels: levels("8", "64")},
			{Name: "cache", Levels: levels("0", "1")},
			{Name: "users", Levels: levels("60", "1000")},
		},
		Design: experiment.Design{
			Across: []string{"users"}, Interactions: [][]string{{"pool", "cache"}},
			Stages: []experiment.Stage{{Name: "found"}, {Name: "cached", Baseline: []experiment.Setting{{Factor: "cache", Level: "1"}}}},
		},
		Subject: experiment.Subject{Services: []experiment.ServiceSpec{{Name: "app", Env: []experiment.EnvVar{
			{Name: "POOL", Value: template("${pool}")}, {Name: "CACHE", Value: template("${cache}")}, {Name: "USERS", Value: template("${users}")},
		}}}},
		Load: experiment.LoadSpec{
			Service: "app", Port: 8080, Requests: []experiment.RequestSpec{{Name: "search", Method: "GET", Path: experiment.Literal("/search")}},
			Phases: []experiment.PhaseSpec{
				{Name: "calm", For: experiment.Literal("5s"), Closed: &experiment.ClosedSpec{Users: experiment.Literal("8")}},
				{Name: "spike", For: experiment.Literal("10s"), Measure: true, Open: &experiment.OpenSpec{
					Rate: experiment.Literal("500/s"), InFlight: experiment.Literal("100"), Arrivals: experiment.ArrivalsPoisson,
				}},
				{Name: "rest", For: experiment.Literal("2s")},
			},
		},
		Repeat: experiment.RepeatPlan{Rounds: 5, Seed: 7},
		Judge: experiment.Settings{
			Metric: "throughput", MinimumEffect: 0.03, Confidence: 0.95, ErrorRate: 0.01,
			Objectives: []experiment.Objective{{Metric: "latency_p95{search}", Limit: 0.25}},
		},
	}
}

// staged is a sweep of two stages under two conditions; the second stage has three of
// five rounds.
func staged() report.Report {
	return analysed(stagedMatrix(), func(c experiment.Cell, round int) map[string]float64 {
		if c.Stage == "cached" && round > 3 {
			return nil
		}
		v := 900 + 30*math.Log2(level(c, "pool")) + 400*level(c, "cache")
		return map[string]float64{
			"throughput":          v * noise(c, round, "t"),
			"latency_p95{search}": 20 * level(c, "users") / 60 / v * noise(c, round, "l"),
			"error_rate":          0,
		}
	})
}

func ladderedMatrix(metric string) *experiment.Matrix {
	return &experiment.Matrix{
		Name: "connection-budget", Question: "Where is the ceiling?", Control: true, Runner: experiment.RunnerDocker,
		Factors: []experiment.Factor{
			{Name: "pool", Levels: levels("8", "16", "64")},
			{Name: "rate", Levels: levels("400", "800", "1600", "3200", "6400", "9600", "12800")},
		},
		Design: experiment.Design{Across: []string{"rate"}},
		Load: experiment.LoadSpec{
			Service: "app", Port: 8080, Requests: []experiment.RequestSpec{{Method: "GET", Path: experiment.Literal("/")}},
			Open: &experiment.OpenSpec{Rate: template("${rate}/s"), InFlight: experiment.Literal("400")},
			Ramp: experiment.Literal("0s"), Warmup: experiment.WarmupSpec{For: experiment.Literal("1s")}, Measure: experiment.MeasureSpec{For: experiment.Literal("15s")},
		},
		Repeat: experiment.RepeatPlan{Rounds: 3, Seed: 7},
		Judge:  experiment.Settings{Metric: metric, MinimumEffect: 0.03, Confidence: 0.95, ErrorRate: 0.01},
	}
}

// laddered is a sweep of ladders: two ceilings, and one above the ladder.
func laddered(metric string) report.Report {
	return analysed(ladderedMatrix(metric), func(c experiment.Cell, round int) map[string]float64 {
		capacity := map[float64]float64{8: 4500, 16: 9000, 64: 20000}[level(c, "pool")] * noise(c, round, "c")
		offered := level(c, "rate")
		achieved := min(offered, capacity)
		over := max(offered/capacity-1, 0)
		return map[string]float64{
			"offered": offered, "throughput": achieved, "dropped": 1 - achieved/offered, "error_rate": 0,
			"latency_p50": 0.0002*noise(c, round, "m") + 0.05*over, "latency_p99": 0.001*noise(c, round, "q") + 0.1*over,
			"generator.cpu": 0.02 + offered/20000,
		}
	})
}

// spike is a sweep whose load has phases and named requests.
func spike() report.Report {
	m := stagedMatrix()
	m.Name, m.Question, m.Design = "spike", "Who is over a spike at once?", experiment.Design{}
	m.Factors = m.Factors[:1]
	m.Judge.Metric = "recovery:latency_p99{search}"
	m.Judge.Objectives = []experiment.Objective{{Metric: "recovery:latency_p95{search}", Limit: 0.05}}
	return analysed(m, func(c experiment.Cell, round int) map[string]float64 {
		out := map[string]float64{"app.cpu": 0.9 * noise(c, round, "cpu"), "generator.cpu": 0.2}
		for phase, slow := range map[string]float64{"spike": 5, "recovery": 1} {
			v := slow * 0.4 / level(c, "pool")
			out[phase+":app.cpu"], out[phase+":generator.cpu"] = slow/10, slow/20
			out[phase+":throughput"] = 500 * noise(c, round, phase)
			out[phase+":latency_p50{search}"] = v / 8 * noise(c, round, phase+"m")
			out[phase+":latency_p95{search}"] = v / 2 * noise(c, round, phase+"q")
			out[phase+":latency_p99{search}"] = v * noise(c, round, phase+"t")
		}
		return out
	})
}

// startup is a sweep without load; its matrix brings a metric.
func startup() report.Report {
	m := stagedMatrix()
	m.Name, m.Question, m.Design = "startup", "Does the cache cost time at the start?", experiment.Design{}
	m.Factors, m.Load, m.Judge.Objectives = m.Factors[1:2], experiment.LoadSpec{None: true}, nil
	m.Judge.Metric = "app.heap"
	r := analysed(m, func(c experiment.Cell, round int) map[string]float64 {
		return map[string]float64{
			"app.heap": (1 + level(c, "cache")) * 64e6 * noise(c, round, "h"), "app.ready_seconds": 0.8 * noise(c, round, "r"), "app.cpu": 0.5,
		}
	})
	r.Sweep.Declared = []experiment.Metric{{Name: "app.heap", Unit: experiment.UnitBytes, Better: experiment.LowerIsBetter}}
	results, err := analysis.New().Analyse(r.Sweep, r.Sweep.Settings)
	if err != nil {
		panic(err)
	}
	r.Results = results
	return r
}

// designs are the sweeps of every design and kind of load.
func designs() map[string]report.Report {
	return map[string]report.Report{
		"staged": staged(), "laddered": laddered("ceiling"), "laddered-beside": laddered("throughput"), "spike": spike(), "startup": startup(),
	}
}

func TestDesignsGolden(t *testing.T) {
	for name, r := range designs() {
		for _, f := range report.Formats() {
			t.Run(name+"."+string(f), func(t *testing.T) {
				got := render(t, comparison(r, f))
				map[report.Format]func(*testing.T, []byte){report.Text: checkText, report.Markdown: checkMarkdown, report.CSV: checkCSV, report.JSON: checkJSON}[f](t, got)
				golden(t, name+"."+string(f), got)
			})
		}
	}
}

func planOf(m *experiment.Matrix) report.PlanView {
	v := report.PlanView{
		Matrix: m, Cells: m.Cells(), Hash: "a62225e1bbc4f00d", Duration: 43 * time.Minute, DiskBytes: 5 << 20,
		Basis: "2.5 s a run beside its load, as in 40 earlier runs", Cut: &report.Cut{Change: "3 rounds instead of 5", Duration: 26 * time.Minute},
		Warnings: []string{"x.yaml:3:5: factors.pool: no confirm step shows that the setting arrives [unconfirmed]"},
	}
	for _, stage := range []string{"found", "cached", experiment.MainStage} {
		var cells []experiment.Cell
		for _, c := range v.Cells {
			if c.Stage == stage {
				cells = append(cells, c)
			}
		}
		v.Order = append(v.Order, experiment.Schedule(cells, m.Repeat.Rounds, 7)...)
	}
	return v
}

func TestPlansOfDesignsGolden(t *testing.T) {
	none := stagedMatrix()
	none.Control, none.Load, none.Design = false, experiment.LoadSpec{None: true}, experiment.Design{
		Kind: experiment.Grid, Across: []string{"users"}, Except: []experiment.Selection{{Settings: []experiment.Setting{{Factor: "pool", Level: "64"}, {Factor: "users", Level: "60"}}}},
	}
	for name, m := range map[string]*experiment.Matrix{"plan-staged": stagedMatrix(), "plan-laddered": ladderedMatrix("ceiling"), "plan-grid": none} {
		for _, f := range []report.Format{report.Text, report.JSON} {
			t.Run(name+"."+string(f), func(t *testing.T) {
				got := render(t, func(b *bytes.Buffer) error { return report.Plan(b, planOf(m), f) })
				golden(t, name+"."+string(f), got)
			})
		}
	}
}

func TestStatusOfStagesGolden(t *testing.T) {
	v := report.StatusView{Line: report.SweepLine{ID: 4, Name: "pool-and-cache", Hash: "99aabbccddee", Runner: "docker", RoundsDone: 4, Rounds: 5, Runs: 80, State: "drained"}, Sweep: staged().Sweep}
	for _, f := range report.Formats() {
		t.Run(string(f), func(t *testing.T) {
			golden(t, "status-staged."+string(f), render(t, func(b *bytes.Buffer) error { return report.Status(b, v, f) }))
		})
	}
}

// A narrow terminal loses columns, then letters of names, and never a digit of what
// the verdicts rest on.
func TestNarrowTablesKeepTheirNumbers(t *testing.T) {
	intervals := regexp.MustCompile(`[0-9.]+x?(?: k/s)? \[[0-9.]+, [0-9.]+\]`)
	all := designs()
	all["concluded"] = concluded()
	for name, r := range all {
		for _, c := range r.Sweep.Cells {
			for j := range c.Off {
				c.Off[j].Factor = "a_setting_with_a_very_long_name_indeed_" + c.Off[j].Factor
			}
		}
		wide := intervals.FindAllString(string(render(t, comparison(r, report.Text))), -1)
		for _, width := range []int{80, 100} {
			r.Options.Width = width
			narrow := string(render(t, comparison(r, report.Text)))
			flat := strings.Join(strings.Fields(narrow), " ") // remarks are broken at spaces
			for _, number := range wide {
				if !strings.Contains(flat, number) {
					t.Errorf("%s, %d columns: %s is gone", name, width, number)
				}
			}
			for line := range strings.Lines(narrow) {
				if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
					t.Errorf("%s, %d columns: a line of %d: %s", name, width, n, line)
				}
			}
		}
	}
}

// What people see of one family does not depend on the others.
func TestOneTableAFamily(t *testing.T) {
	text := string(render(t, comparison(staged(), report.Text)))
	for _, title := range []string{"stage found, users=60:", "stage found, users=1000:", "stage cached, users=60:", "stage cached, users=1000:"} {
		if strings.Count(text, "\n"+title+"\n") != 1 {
			t.Errorf("the heading %q does not stand once", title)
		}
	}
	text = string(render(t, comparison(laddered("ceiling"), report.Text)))
	if strings.Contains(text, "rate=400:") {
		t.Error("a rung has a table of verdicts, though the ceiling is what is judged")
	}
}
