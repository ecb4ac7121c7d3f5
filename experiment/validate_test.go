package experiment

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestValidate covers what no matrix file can say, only a matrix made in code; the
// faults of files are pinned beside the reader.
func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Matrix)
		want []string
	}{
		{"no services", func(m *Matrix) { m.Subject = Subject{}; m.Factors = nil }, []string{
			"subject.services: there is no service",
			`load.to: there is no service "app"`,
		}},
		{"no runner", func(m *Matrix) { m.Runner = "" }, []string{`runner: "" is no runner`}},
		{"no role", func(m *Matrix) { m.Subject.Services[0].Role = RoleLoad }, []string{
			`2:1: subject.services.redis.role: "load" is no role of a service (subject or backing)`,
		}},
		{"baseline out of range", func(m *Matrix) { m.Factors[0].Baseline = 3 }, []string{
			"factors.threads.baseline: level 3 of 3 is the baseline",
		}},
		{"no levels", func(m *Matrix) { m.Factors[0].Levels, m.Factors[0].Baseline = nil, 0 }, []string{
			"factors.threads: has fewer than two levels: nothing is varied",
		}},
		{"factor twice", func(m *Matrix) { m.Factors = append(m.Factors, m.Factors[0]) }, []string{
			"factors.threads: there is a factor of this name already",
		}},
		{"no rounds", func(m *Matrix) { m.Repeat.Rounds = 0 }, []string{"repeat.rounds: 0 lies outside 1 to 1000"}},
		{"a rule without rounds", func(m *Matrix) { m.Repeat.Until = StopDecided }, []string{"repeat.at_most: 0 of 5 rounds lies outside 5 to 1000"}},
		{"an unknown rule", func(m *Matrix) { m.Repeat.Until = "sure" }, []string{`repeat.until: "sure" is none of precise, decided`}},
		{"a width without a rule", func(m *Matrix) { m.Repeat.Within = 0.01 }, []string{"repeat.until: there is no rule for what belongs to one"}},
		{"a width of verdicts", func(m *Matrix) {
			m.Repeat.Stopping, m.Repeat.Rounds = Stopping{Until: StopDecided, AtMost: 9, Within: 0.01}, 9
		}, []string{"repeat.within: 0.01 belongs to precise, from 0% to 100%"}},
		{"negative effect", func(m *Matrix) { m.Judge.MinimumEffect = -1 }, []string{
			"judge.minimum_effect: -1 does not lie above 0% and at most at 100%",
		}},
		{"error rate", func(m *Matrix) { m.Judge.ErrorRate = 2 }, []string{"judge.error_rate: 2 lies outside 0 to 1"}},
		{"link to itself", func(m *Matrix) { m.Subject.Links[0].To, m.Subject.Links[0].Port = "app", 8080 }, []string{
			"subject.links[0]: leads from app to itself",
		}},
		{"no method", func(m *Matrix) { m.Load.Requests[0].Method = "" }, []string{"load.request.method: is empty"}},
		{"place", func(m *Matrix) { m.Place.Load = "-" }, []string{`place.load: "-" is no set of cores (as in 0, 1-3 or 0,2)`}},
		{"port confirms", func(m *Matrix) { m.Subject.Services[1].Confirm[0] = Step{Port: 8080} }, []string{
			"subject.services.app.confirm[0]: a port that answers confirms no setting",
		}},
		{"empty process command", func(m *Matrix) {
			m.Subject.Services[0].Process.Build, m.Subject.Services[0].Process.Command = nil, []Template{}
		}, []string{"subject.services.redis.process.command: is empty"}},
		{"levels that say two things", func(m *Matrix) {
			m.Subject.Services[1].Limits.CPUs = Literal("1").Resolve(nil)
			m.Subject.Services[1].Limits.PIDs = Template{parts: []templatePart{
				{ref: &Ref{Kind: RefFactor, Name: "threads"}}, {ref: &Ref{Kind: RefFactor, Name: "log"}},
			}}
		}, []string{
			`1:1: factors.threads.levels[0]: "8off" is no whole number (used in subject.services.app.limits.pids)`,
			`subject.services.app.limits.pids: "32off" is no whole number`,
			`factors.threads.levels[2]: "128off" is no whole number (used in subject.services.app.limits.pids)`,
		}},
		{"a metric in the place of a series of the requests", func(m *Matrix) {
			m.Collect = []Collect{
				{Step: Step{Image: Literal("du:1"), Run: []Template{Literal("du")}, CSV: []Extract{{Name: "done", Path: "n"}}}},
				{Step: Step{In: "app", HTTP: Literal(":8080/x"), CSV: []Extract{{Name: "done", Path: "n"}}}},
			}
		}, []string{"collect[0]: done is a metric that ceteris takes itself"}},
		{"steps that ask what does not run yet", func(m *Matrix) {
			m.Subject.Services[0].Ready.In = "app"
			m.Subject.Services[0].Prepare.Steps = []Step{{Run: []Template{Literal("seed")}, In: "app"}}
			m.Subject.Services[1].Prepare.Steps = []Step{{Run: []Template{Literal("seed")}, In: "redis"}}
		}, []string{
			"subject.services.redis.prepare[0].in: app may not be running yet (add app to needs)",
			"subject.services.redis.ready.in: app may not be running yet (add app to needs)",
		}},
		{"too many cells", func(m *Matrix) {
			for i := range 1000 {
				m.Factors[0].Levels = append(m.Factors[0].Levels, Level{Text: fmt.Sprint("x", i)})
			}
		}, []string{"factors: 1006 cells, more than 1000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := whole(t)
			m.Origin.File = ""
			m.Factors[0].Levels[0].At = Pos{Line: 1, Column: 1}
			c.edit(m)
			checkFaults(t, m.Validate(), c.want)
		})
	}
}

// TestMetricsThatARunObserves: the same name may be a metric of one matrix and none
// of another.
func TestMetricsThatARunObserves(t *testing.T) {
	open := func(m *Matrix) {
		m.Load.Closed, m.Load.Open = nil, &OpenSpec{Rate: Literal("9/s"), InFlight: Literal("100")}
	}
	nolinks := func(m *Matrix) { m.Subject.Links = nil }
	as := func(runner string) func(*Matrix) { return func(m *Matrix) { m.Runner = runner } }
	named := func(m *Matrix) {
		m.Load.Requests[0].Name = "search"
		m.Metrics = []Derived{{Name: "per_core", Of: "throughput / app.cpu"}}
		m.Collect = []Collect{{Step: Step{Image: Literal("du:1"), CSV: []Extract{{Name: "disk", Path: "n"}}}}}
		m.Subject.Services[1].Collect = []Collect{
			{Step: Step{JSON: []Extract{{Name: "hits", Path: ".hits"}}}},
			{Step: Step{In: "redis", Regex: "(?P<keys>[0-9]+)"}},
		}
		m.Subject.Services[1].Scrape = []Scrape{{Metrics: []ScrapeMetric{{Name: "heap"}}}}
	}
	phases := func(m *Matrix) {
		named(m)
		m.Load.Closed = nil
		m.Load.Phases = []PhaseSpec{{Name: "calm"}, {Name: "spike", Measure: true}}
	}
	ladder := func(m *Matrix) {
		open(m)
		m.Load.Open.Rate, m.Design.Across = mustParse("${threads}/s"), []string{"threads"}
	}
	job := func(m *Matrix) {
		named(m)
		m.Subject.Services[0].Job = true
	}
	none := func(m *Matrix) {
		named(m)
		m.Load = LoadSpec{None: true}
		m.Subject.Services[0].Job = true
	}
	for _, c := range []struct {
		metric string
		edit   func(*Matrix)
		ok     bool
	}{
		{"throughput", as(RunnerProcess), true},
		{"latency_p999", as(RunnerProcess), true},
		{"lateness_p99", as(RunnerProcess), true},
		{"lateness_p95", as(RunnerProcess), false},
		{"lateness_max", as(RunnerProcess), false},
		{"latency_max", as(RunnerProcess), true},
		{"failed_latency_max", as(RunnerProcess), true},
		{"service_time_max", as(RunnerProcess), true},
		{"dropped", as(RunnerProcess), false},
		{"dropped", open, true},
		{"app.cpu", as(RunnerProcess), true},
		{"app.ready_seconds", as(RunnerProcess), true},
		{"app.duration", as(RunnerProcess), false},
		{"generator.ready_seconds", as(RunnerProcess), true},
		{"app.memory", as(RunnerProcess), true},
		{"app.restarts", as(RunnerProcess), false},
		{"app.restarts", as(RunnerDocker), true},
		{"app.steal", as(RunnerProcess), false},
		{"app.throttled", as(RunnerProcess), false},
		{"app.throttled", as(RunnerDocker), true},
		{"app.net_sent", as(RunnerAuto), true},
		{"engine.cpu", as(RunnerProcess), false},
		{"engine.cpu", as(RunnerDocker), true},
		{"engine.memory_peak", as(RunnerDocker), false},
		{"host.other", as(RunnerProcess), true},
		{"host.memory_peak", as(RunnerProcess), false},
		{"conductor.cpu", as(RunnerProcess), true},
		{"conductor.log_lines", as(RunnerProcess), false},
		{"generator.log_lines", as(RunnerProcess), true},
		{"linkproxy.cpu", as(RunnerProcess), true},
		{"linkproxy.cpu", nolinks, false},
		{"nobody.cpu", as(RunnerProcess), false},
		{"latency_p95{search}", named, true},
		{"latency_p95{search}", as(RunnerDocker), false},
		{"latency_p95{find}", named, false},
		{"app.cpu{search}", named, false},
		{"per_core", named, true},
		{"disk", named, true},
		{"app.hits", named, true},
		{"app.disk", named, false},
		{"app.keys", named, false},
		{"redis.keys", named, true},
		{"app.heap", named, true},
		{"spike:throughput", phases, true},
		{"spike:latency_p95{search}", phases, true},
		{"spike:app.cpu", phases, true},
		{"spike:app.hits", phases, false},
		{"spike:per_core", phases, false},
		{"app.hits", phases, true},
		{"spike:generator.cpu", phases, true},
		{"spike:app.memory_peak", phases, false},
		{"spike:app.ready_seconds", phases, false},
		{"spike:host.busy", phases, false},
		{"app.memory_peak", phases, true},
		{"calm:throughput", phases, false},
		{"peak:throughput", phases, false},
		{"throughput", phases, false},
		{"spike:throughput", named, false},
		{"ceiling", ladder, true},
		{"ceiling", open, false},
		{"app.ready_seconds", none, true},
		{"app.hits", none, true},
		{"app.cpu", none, false},
		{"app.memory_peak", none, true},
		{"app.duration", none, false},
		{"redis.duration", none, true},
		{"redis.duration", job, true},
		{"redis.cpu", job, false},
		{"redis.ready_seconds", none, false},
		{"generator.cpu", none, false},
		{"throughput", none, false},
		{".cpu", as(RunnerProcess), false},
		{"", as(RunnerProcess), false},
	} {
		t.Run(c.metric, func(t *testing.T) {
			m := whole(t)
			c.edit(m)
			if err := m.checkMetric(c.metric); (err == nil) != c.ok {
				t.Errorf("got %v, want it to be a metric: %v", err, c.ok)
			}
		})
	}
}

func checkFaults(t *testing.T, err error, want []string) {
	t.Helper()
	got := map[string]bool{}
	for _, f := range FieldErrors(err) {
		got[f.Error()] = true
	}
	wanted := map[string]bool{}
	for _, w := range want {
		wanted[w] = true
	}
	if diff := cmp.Diff(got, wanted); diff != "" {
		t.Errorf("faults (-got +want):\n%s", diff)
	}
}

// TestFaultsOfVariants: a fault of a variant is told once, with its number, and what is
// at fault anyway is not told again.
func TestFaultsOfVariants(t *testing.T) {
	m := whole(t)
	m.Judge.MinimumEffect = -1
	m.Subject.Services[0].Ports = []int{6379, 6379}
	m.Factors = append(m.Factors, Factor{Name: "put", Levels: []Level{{Text: "a"}, {Text: "b", Set: true}, {Text: "c", Set: true}}})
	for _, level := range []string{"b", "c"} {
		v := Variant{When: []Setting{{Factor: "put", Level: level}}, Subject: m.Subject, Load: m.Load}
		v.Load.Port = 9
		m.Variants = append(m.Variants, v)
	}
	got := map[string]int{}
	for _, f := range FieldErrors(m.Validate()) {
		got[f.Path] = f.Variant
	}
	want := map[string]int{"judge.minimum_effect": 0, "subject.services.redis.ports[1]": 0, "load.to": 1}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("variants of faults (-got +want):\n%s", diff)
	}
}

// TestMostCells: the bound is the number of cells where nothing is left out, and never
// less.
func TestMostCells(t *testing.T) {
	for _, c := range []struct {
		name   string
		design Design
		exact  bool
	}{
		{"one at a time", Design{}, true},
		{"grid", Design{Kind: Grid}, true},
		{"chosen", Design{Kind: ChosenCells, Cells: []Selection{{Settings: []Setting{{Factor: "log", Level: ""}}}}}, true},
		{"interactions", Design{Interactions: [][]string{{"threads", "log"}}}, false},
		{"interaction with itself", Design{Interactions: [][]string{{"threads", "threads"}}}, false},
		{"conditions", Design{Kind: Grid, Across: []string{"latency"}}, true},
		{"stages", Design{Stages: []Stage{{Name: "a"}, {Name: "b", Baseline: []Setting{{Factor: "log", Level: ""}}}}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := whole(t)
			m.Design = c.design
			for _, m.Control = range []bool{true, false} {
				most, cells := m.MostCells(), len(m.Cells())
				if most < cells || c.exact && most != cells {
					t.Errorf("control %v: at most %d cells, there are %d", m.Control, most, cells)
				}
			}
		})
	}
	m := whole(t)
	for range 100 {
		m.Design.Interactions = append(m.Design.Interactions, []string{"threads", "threads", "threads", "threads", "threads", "threads", "threads", "threads"})
	}
	if m.MostCells() <= MaxCells {
		t.Error("corners of a factor with itself have no bound")
	}
}

func TestValidateRunner(t *testing.T) {
	for _, c := range []struct {
		name, runner string
		edit         func(*Matrix)
		want         []string
	}{
		{"not resolved", RunnerAuto, func(*Matrix) {}, []string{"runner: no runner is chosen"}},
		{"image only", RunnerProcess, func(m *Matrix) { m.Subject.Services[0].Process = nil }, []string{
			"2:1: subject.services.redis: has an image only, which the process runner cannot start" +
				" (add process: {build: {go: DIR}} or process: {command: [...]})",
		}},
		{"image only in docker", RunnerDocker, func(m *Matrix) { m.Subject.Services[0].Process = nil }, nil},
		{"command instead of image", RunnerProcess, func(m *Matrix) { m.Subject.Services[0].Process.Build = nil }, nil},
		{"process form only", RunnerProcess, func(m *Matrix) {
			m.Runner, m.Subject.Services[0].Image = RunnerProcess, Template{}
		}, nil},
		{"process form only, in docker", RunnerDocker, func(m *Matrix) { m.Subject.Services[0].Image = Template{} }, []string{
			"2:1: subject.services.redis: has neither image nor build",
		}},
		{"factor that the runner does not see", RunnerDocker, func(m *Matrix) {
			s := &m.Subject.Services[1]
			s.Process = &ProcessSpec{Env: []EnvVar{{Name: "LOG", Value: s.Env[3].Value}}}
			s.Env = s.Env[:3]
		}, []string{"factors.log: used nowhere (write ${log} where it belongs)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := whole(t)
			m.Origin.File = ""
			c.edit(m)
			checkFaults(t, m.ForRunner(c.runner).ValidateRunner(), c.want)
		})
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Matrix)
		want []string
	}{
		{"as it is", func(*Matrix) {}, []string{
			"factors.threads.levels[2]: 128 threads under 64 users: the rest of them can never be busy [level-out-of-reach]",
			"factors.log: no confirm step shows that the setting arrives [unconfirmed]",
		}},
		{"just within reach", func(m *Matrix) { m.Load.Closed.Users = Literal("128") }, []string{
			"factors.log: no confirm step shows that the setting arrives [unconfirmed]",
		}},
		{"open load", func(m *Matrix) {
			m.Load.Closed, m.Load.Open = nil, &OpenSpec{Rate: Literal("9/s"), InFlight: Literal("100")}
		}, []string{
			"factors.threads.levels[2]: 128 threads under 100 requests in flight: the rest of them can never be busy [level-out-of-reach]",
			"factors.log: no confirm step shows that the setting arrives [unconfirmed]",
		}},
		{"by the variable's name", func(m *Matrix) {
			m.Factors[0].Name = "size"
			m.Subject.Services[1].Env[2] = EnvVar{Name: "MAX_WORKERS", Value: mustParse("${size}")}
			m.Subject.Services[1].Confirm[0].Is[0].Value = mustParse("${size}")
		}, []string{
			"factors.size.levels[2]: 128 size under 64 users: the rest of them can never be busy [level-out-of-reach]",
			"factors.log: no confirm step shows that the setting arrives [unconfirmed]",
		}},
		{"varied load", func(m *Matrix) {
			m.Load.Requests[0].Path = mustParse("/x?${log}")
			m.Factors[0].Levels = m.Factors[0].Levels[:2]
		}, []string{
			"factors.log: no confirm step shows that the setting arrives [unconfirmed]",
			"factors.log: it varies the load, so the work differs between the cells that are compared (as a condition (across) it would not) [varied-load]",
		}},
		{"load under conditions", func(m *Matrix) {
			m.Load.Requests[0].Path = mustParse("/x?${log}")
			m.Design.Across = []string{"log"}
			m.Factors[0].Levels = m.Factors[0].Levels[:2]
		}, []string{
			"factors.log: no confirm step shows that the setting arrives [unconfirmed]",
		}},
		{"mounts", func(m *Matrix) {
			m.Factors[0].Levels = m.Factors[0].Levels[:2]
			m.Subject.Services[1].Confirm[0].Has = mustParse("level=${log}")
			m.Subject.Services[1].Mounts = []MountSpec{{Source: Literal("a"), Target: "/a", ReadOnly: true}, {Source: Literal("b"), Target: "/b"}}
		}, []string{
			"subject.services.app.mounts[0]: a survives runs, and is no part of what makes a sweep another [survives-runs]",
			"subject.services.app.mounts[1]: b survives runs: what one of them writes there, the next one finds [survives-runs]",
		}},
		{"confirmed", func(m *Matrix) {
			m.Factors[0].Levels = m.Factors[0].Levels[:2]
			m.Subject.Services[1].Confirm[0].Has = mustParse("level=${log}")
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := whole(t)
			c.edit(m)
			if err := m.Validate(); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range m.Warnings() {
				got = append(got, w.Error())
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("warnings (-got +want):\n%s", diff)
			}
		})
	}
}

func mustParse(src string) Template {
	t, err := ParseTemplate(src, Pos{})
	if err != nil {
		panic(err)
	}
	return t
}

func TestFieldErrors(t *testing.T) {
	a := &FieldError{At: Pos{Line: 2, Column: 1}, Err: errors.New("a")}
	b := &FieldError{At: Pos{Line: 1, Column: 9}, Err: errors.New("b")}
	err := fmt.Errorf("plan: %w", errors.Join(a, errors.New("no field"), fmt.Errorf("%w", b)))
	got := JoinFieldErrors(append(FieldErrors(err), a))
	if want := "1:9: b\n2:1: a"; errText(got) != want {
		t.Errorf("got %q, want %q", errText(got), want)
	}
	if JoinFieldErrors(nil) != nil || FieldErrors(errors.New("x")) != nil {
		t.Error("no faults gave some")
	}
}
