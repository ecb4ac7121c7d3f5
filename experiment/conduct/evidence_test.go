package conduct_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/fake"
)

// recorder is a judge that remembers what it looked at.
type recorder struct {
	experiment.Judge
	outcomes []experiment.Outcome
}

func (r *recorder) JudgeRun(o experiment.Outcome, s experiment.Settings) []experiment.Finding {
	r.outcomes = append(r.outcomes, o)
	return r.Judge.JudgeRun(o, s)
}

// record lets the stage remember all outcomes, of one round.
func (s *stage) record() *recorder {
	rec := &recorder{}
	s.matrix.Repeat.Rounds = 1
	before := s.change
	s.change = func(c *conduct.Conductor) {
		if before != nil {
			before(c)
		}
		rec.Judge, c.Judge = c.Judge, rec
	}
	return rec
}

// service gives a service of the matrix, to be changed.
func (s *stage) service(name string) *experiment.ServiceSpec {
	i := slices.IndexFunc(s.matrix.Subject.Services, func(x experiment.ServiceSpec) bool { return x.Name == name })
	return &s.matrix.Subject.Services[i]
}

// before puts a service in front of all others, and lets the app need it.
func (s *stage) before(svc experiment.ServiceSpec) {
	app := s.service("app")
	app.Needs = append(app.Needs, svc.Name)
	s.matrix.Subject.Services = append([]experiment.ServiceSpec{svc}, s.matrix.Subject.Services...)
}

// answering lets services do as they did, and answer commands.
func (s *stage) answering(answer func(svc experiment.Service, argv string) (experiment.ExecResult, bool)) {
	before := s.script.Service
	s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
		b := before(r, svc)
		other := b.Exec
		b.Exec = func(argv []string) experiment.ExecResult {
			if out, ok := answer(svc, strings.Join(argv, " ")); ok {
				return out
			}
			if other != nil {
				return other(argv)
			}
			return experiment.ExecResult{}
		}
		return b
	}
}

func run(words ...string) []experiment.Template {
	var out []experiment.Template
	for _, w := range words {
		t, err := experiment.ParseTemplate(w, experiment.Pos{})
		if err != nil {
			panic(err)
		}
		out = append(out, t)
	}
	return out
}

func text(s string) (experiment.ExecResult, bool) {
	return experiment.ExecResult{Output: []byte(s)}, true
}

// A setting that turns out not to be there costs the run, and keeps what it measured.
func TestConfirmAfter(t *testing.T) {
	s := newStage(t)
	rec := s.record()
	app := s.service("app")
	app.Confirm = append(app.Confirm, experiment.Step{
		When: experiment.ConfirmAfter, Run: run("served"), Regex: "(?P<served>[0-9]+)",
		Near: []experiment.Near{{Name: "served", Value: experiment.Literal("1000"), Share: 0.05}},
	})
	s.answering(func(svc experiment.Service, argv string) (experiment.ExecResult, bool) {
		if argv != "served" {
			return experiment.ExecResult{}, false
		}
		if variable(svc, "THREADS") == "8" {
			return text("949")
		}
		return text("950")
	})
	s.mustConduct()
	s.wantStates(map[string]int{"ok": 3, "invalid (setting-ineffective)": 1})
	for _, o := range rec.outcomes {
		if _, ok := o.Observed("throughput"); !ok || len(o.Confirmations) != 2 {
			t.Errorf("run %d keeps %v and %v", o.Run.ID, o.Observations, o.Confirmations)
		}
	}
}

// What is collected becomes metrics; what cannot be asked is absent, and fails
// nothing.
func TestCollectAndDerive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		rec := s.record()
		s.script.Instant = false
		number := []experiment.Extract{{Name: "gc", Path: ".gc"}, {Name: "heap", Path: ".heap"}}
		s.service("app").Collect = []experiment.Collect{
			{Step: experiment.Step{Run: run("stats"), JSON: number, Unit: experiment.UnitSeconds}, Moments: []experiment.Moment{experiment.MomentStart, experiment.MomentEnd}, Delta: []string{"gc"}},
			{Step: experiment.Step{Run: run("stats.json")}, Keep: "stats.json"},
			{Step: experiment.Step{Run: run("queue"), Regex: "(?P<queue>[0-9]+)"}, Moments: []experiment.Moment{experiment.MomentDuring}, Every: time.Second},
			{Step: experiment.Step{Run: run("broken"), Regex: "(?P<none>[0-9]+)"}},
			{Step: experiment.Step{Image: experiment.Literal("slow:1"), Run: run("slow"), Regex: "(?P<late>[0-9]+)", Within: time.Second}},
		}
		s.matrix.Collect = []experiment.Collect{{Step: experiment.Step{Image: experiment.Literal("df:1"), Run: run("df"), CSV: []experiment.Extract{{Name: "disk", Path: "used"}}}}}
		s.matrix.Metrics = []experiment.Derived{
			{Name: "gc_share", Of: "delta(app.gc) / 4", Unit: experiment.UnitRatio},
			{Name: "twice", Of: "gc_share * 2 + max(app.queue) - mean(app.queue)"},
			{Name: "absent", Of: "throughput / app.none"},
		}
		asked := 0
		s.answering(func(_ experiment.Service, argv string) (experiment.ExecResult, bool) {
			switch argv {
			case "stats":
				asked++
				return text(fmt.Sprintf(`{"gc": %d, "heap": %d}`, 10*asked, asked))
			case "stats.json":
				return text("{}")
			case "queue":
				return text("queue 4")
			case "broken":
				return experiment.ExecResult{Code: 1}, true
			}
			return experiment.ExecResult{}, false
		})
		healthy := s.script.Service
		s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
			switch svc.Image {
			case "slow:1":
				return fake.Behaviour{Stdout: "1", Exit: &fake.Exit{After: 5 * time.Second}}
			case "df:1":
				return fake.Behaviour{Stdout: "used,free\n1,2\n77,3\n"}
			}
			return healthy(r, svc)
		}
		s.mustConduct()
		s.wantStates(map[string]int{"ok": 4})
		o := rec.outcomes[0]
		got := map[string]float64{}
		for _, name := range []string{"app.gc", "app.heap", "app.queue", "app.none", "late", "disk", "gc_share", "twice", "absent"} {
			if v, ok := o.Observed(name); ok {
				got[name] = v
			}
		}
		want := map[string]float64{"app.gc": 10, "app.heap": 2, "app.queue": 4, "disk": 77, "gc_share": 2.5, "twice": 5}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("metrics (-got +want):\n%s", diff)
		}
		series := map[string]int{}
		for _, p := range o.Series {
			if p.Service == "app" || p.Metric == "disk" {
				series[p.Metric]++
			}
		}
		if series["gc"] != 2 || series["queue"] < 4 || series["disk"] != 1 {
			t.Errorf("points by series: %v", series)
		}
		var kept []string
		for _, a := range o.Artifacts {
			if strings.Contains(a.Name, "stats") {
				kept = append(kept, a.Service+" "+a.Name+" "+string(a.Body))
			}
		}
		if diff := cmp.Diff(kept, []string{"app stats.json {}"}); diff != "" {
			t.Errorf("artifacts (-got +want):\n%s", diff)
		}
	})
}

// pageProbe remembers which pages it was to read.
type pageProbe struct{ pages []experiment.ScrapePage }

func (p *pageProbe) Start(_ context.Context, t experiment.ProbeTarget) (experiment.Sampling, error) {
	p.pages = t.Pages
	return idle{}, nil
}

type idle struct{}

func (idle) Mark(experiment.Phase) error { return nil }

func (idle) Stop(context.Context) ([]experiment.Observation, []experiment.SeriesPoint, error) {
	return nil, nil, nil
}

func TestPagesAreTold(t *testing.T) {
	s := newStage(t)
	s.matrix.Repeat.Rounds = 1
	scrape := experiment.Scrape{URL: experiment.Literal(":80/metrics"), Metrics: []experiment.ScrapeMetric{{Name: "heap", Selector: "heap_bytes"}}}
	app := s.service("app")
	app.Replicas, app.Scrape = experiment.Literal("2"), []experiment.Scrape{scrape}
	app.Confirm = nil
	p := &pageProbe{}
	s.change = func(c *conduct.Conductor) { c.Probes = []experiment.Probe{p} }
	s.mustConduct()
	if len(p.pages) != 1 || p.pages[0].Service != "app" || p.pages[0].Path != "/metrics" || p.pages[0].Scrape.Metrics[0].Name != "heap" {
		t.Fatalf("pages: %+v", p.pages)
	}
	if diff := cmp.Diff(p.pages[0].Addrs, []string{"app-1.invalid:80", "app-2.invalid:80"}); diff != "" {
		t.Errorf("addresses (-got +want):\n%s", diff)
	}
}

// What is asked at the ends of the window is asked after the counters are read, which
// must not count it, and stands for those ends however long that takes.
func TestCollectingIsBesideTheCounters(t *testing.T) {
	inBubble(func(t *testing.T) {
		s := newStage(t)
		rec := s.record()
		s.script.Instant = false
		s.service("app").Collect = []experiment.Collect{{
			Step:    experiment.Step{Run: run("stats"), Regex: "(?P<hits>[0-9]+)"},
			Moments: []experiment.Moment{experiment.MomentStart, experiment.MomentEnd},
		}}
		s.matrix.Metrics = []experiment.Derived{{Name: "growth", Of: "delta(app.hits)"}}
		hits := 0
		s.answering(func(_ experiment.Service, argv string) (experiment.ExecResult, bool) {
			if argv == "stats" {
				hits += 10
				return text(fmt.Sprint(hits))
			}
			return experiment.ExecResult{}, false
		})
		var order []string
		s.through(&tap{asked: func(what string) time.Duration {
			if strings.HasSuffix(what, " app") {
				order = append(order, what)
			}
			if what == "usage app" && len(order)%5 == 4 { // the second of a run
				return 5 * time.Millisecond
			}
			return 0
		}})
		s.mustConduct()
		s.wantStates(map[string]int{"ok": 4})
		if diff := cmp.Diff(order[:5], []string{"exec app", "usage app", "exec app", "usage app", "exec app"}); diff != "" { // confirm is first
			t.Errorf("asked (-got +want):\n%s", diff)
		}
		for _, o := range rec.outcomes {
			if v, ok := o.Observed("growth"); !ok || v != 10 {
				t.Errorf("run %d: growth %v, %v; want 10", o.Run.ID, v, ok)
			}
		}
	})(t)
}

// A command that hangs is asked once a run: it may go on in its container, and many of
// them would load the subject. One that fails is asked again.
func TestCollectingDoesNotPileUp(t *testing.T) {
	for _, tc := range []struct {
		name  string
		takes time.Duration
		fails bool
		want  int // questions in a run
	}{
		{"hangs", time.Second, false, 1},
		{"fails", 0, true, 8},
		{"answers", 0, false, 8},
	} {
		t.Run(tc.name, inBubble(func(t *testing.T) {
			s := newStage(t)
			s.script.Instant = false
			s.matrix.Repeat.Rounds = 1
			s.service("app").Confirm = nil
			s.service("app").Collect = []experiment.Collect{{
				Step:    experiment.Step{Run: run("stats"), Regex: "(?P<hits>[0-9]+)", Within: 100 * time.Millisecond},
				Moments: []experiment.Moment{experiment.MomentDuring, experiment.MomentEnd}, Every: 600 * time.Millisecond,
			}}
			s.answering(func(experiment.Service, string) (experiment.ExecResult, bool) {
				if tc.fails {
					return experiment.ExecResult{Code: 1}, true
				}
				return text("1")
			})
			asked := 0
			s.through(&tap{asked: func(what string) time.Duration {
				if what != "exec app" {
					return 0
				}
				asked++
				return tc.takes
			}})
			s.mustConduct()
			s.wantStates(map[string]int{"ok": 4})
			if asked != 4*tc.want {
				t.Errorf("asked %d times in 4 runs, want %d", asked, 4*tc.want)
			}
		}))
	}
}

// The last question inside the window and the one at its end may be of the same moment,
// for which there is one value.
func TestCollectedTwiceAtTheEnd(t *testing.T) {
	inBubble(func(t *testing.T) {
		s := newStage(t)
		rec := s.record()
		s.script.Instant = false
		s.matrix.Repeat.Rounds = 1
		s.service("app").Confirm = nil
		s.service("app").Collect = []experiment.Collect{{
			Step:    experiment.Step{Run: run("stats"), Regex: "(?P<hits>[0-9]+)"},
			Moments: []experiment.Moment{experiment.MomentDuring, experiment.MomentEnd}, Every: 2 * time.Second,
		}}
		s.answering(func(experiment.Service, string) (experiment.ExecResult, bool) { return text("1") })
		s.mustConduct()
		s.wantStates(map[string]int{"ok": 4})
		for _, o := range rec.outcomes {
			var at []int64
			for _, p := range o.Series {
				if p.Metric == "hits" {
					at = append(at, p.AtMS)
				}
			}
			if diff := cmp.Diff(at, []int64{0, 2000, 4000}); diff != "" {
				t.Errorf("run %d: asked at (-got +want):\n%s", o.Run.ID, diff)
			}
		}
	})(t)
}
