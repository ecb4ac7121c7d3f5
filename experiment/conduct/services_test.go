package conduct_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/fake"
)

func TestJob(t *testing.T) {
	for _, tc := range []struct {
		name  string
		exit  *fake.Exit
		store *fake.Exit
		want  map[string]int
	}{
		{"ends well", &fake.Exit{After: 3 * time.Second}, nil, map[string]int{"ok": 4}},
		{"fails", &fake.Exit{After: time.Second, Code: 3}, nil, map[string]int{"failed:subject (job seed ended with 3)": 4}},
		{"out of memory", &fake.Exit{Code: 137, OOMKilled: true}, nil, map[string]int{"failed:subject (oom: seed)": 4}},
		{"never ends", &fake.Exit{After: time.Hour}, nil, map[string]int{"failed:subject (job seed did not end within 1m0s)": 4}},
		{
			"what it works on ends", &fake.Exit{After: time.Hour},
			&fake.Exit{After: time.Second, Code: 2},
			map[string]int{"failed:subject (restarted: store ended with 2 while job seed worked)": 4},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				rec := s.record()
				s.before(experiment.ServiceSpec{Name: "seed", Image: experiment.Literal("seed:1"), Job: true, JobWithin: time.Minute, Needs: []string{"store"}})
				healthy := s.script.Service
				s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
					switch svc.Name {
					case "seed":
						return fake.Behaviour{Exit: tc.exit, Stdout: "seeded\n"}
					case "store":
						return fake.Behaviour{Exit: tc.store}
					}
					return healthy(r, svc)
				}
				s.mustConduct()
				s.wantStates(tc.want)
				o := rec.outcomes[0]
				if !slices.ContainsFunc(o.Artifacts, func(a experiment.Artifact) bool { return a.Service == "seed" && string(a.Body) == "seeded\n" }) {
					t.Errorf("the log of the job is not kept: %v", o.Artifacts)
				}
				if o.Run.State != experiment.StateOK {
					return
				}
				took, ok1 := o.Observed("seed.duration")
				code, ok2 := o.Observed("seed.exit")
				ready, ok3 := o.Observed("app.ready_seconds")
				if took != 3 || code != 0 || ready != 0 || !ok1 || !ok2 || !ok3 {
					t.Errorf("seed took %v and ended with %v, app was ready after %v; observed %v", took, code, ready, o.Observations)
				}
				if _, ok := o.Observed("app.duration"); ok {
					t.Error("the duration of what is stopped is no result")
				}
			})
		})
	}
}

// Replicas are one service, asked one by one.
func TestReplicas(t *testing.T) {
	s := newStage(t)
	rec := s.record()
	s.service("app").Replicas = experiment.Literal("3")
	healthy := s.script.Service
	s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
		b := fake.Behaviour{}
		if svc.Alias == "app" {
			one := svc
			one.Name = "app"
			b = healthy(r, one)
			b.CPU = 0.25
			b.Stdout = svc.Name + " speaks\n"
		}
		return b
	}
	var targets []string
	s.script.Load = func(_ fake.Run, l experiment.Load) fake.Generation {
		targets = l.Targets
		return fake.Throughput(1000)
	}
	s.mustConduct()
	s.wantStates(map[string]int{"ok": 4})
	if diff := cmp.Diff(targets, []string{"app-1.invalid:80", "app-2.invalid:80", "app-3.invalid:80"}); diff != "" {
		t.Errorf("targets (-got +want):\n%s", diff)
	}
	o := rec.outcomes[0]
	var asked []string
	for _, c := range o.Confirmations {
		asked = append(asked, c.Service)
	}
	if diff := cmp.Diff(asked, []string{"app-1", "app-2", "app-3"}); diff != "" {
		t.Errorf("confirmed by (-got +want):\n%s", diff)
	}
	if peak, _ := o.Observed("app.memory_peak"); peak != 3<<20 {
		t.Errorf("memory of all: got %v, want 3 MiB", peak)
	}
	log := ""
	for _, a := range o.Artifacts {
		if a.Service == "app" {
			log = string(a.Body)
		}
	}
	if want := "==> app-1 <==\napp-1 speaks\n==> app-2 <==\napp-2 speaks\n==> app-3 <==\napp-3 speaks\n"; log != want {
		t.Errorf("log: got %q, want %q", log, want)
	}
}

// Without load, starts and jobs are the measurement.
func TestWithoutLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		rec := s.record()
		s.matrix.Load = experiment.LoadSpec{None: true}
		s.matrix.Metrics = []experiment.Derived{{Name: "classes_a_second", Of: "app.classes / seed.duration"}}
		s.matrix.Judge.Metric = "app.ready_seconds"
		s.service("app").Collect = []experiment.Collect{{Step: experiment.Step{Run: run("classes"), Regex: "(?P<classes>[0-9]+)"}}}
		s.answering(func(_ experiment.Service, argv string) (experiment.ExecResult, bool) {
			if argv == "classes" {
				return text("4711")
			}
			return experiment.ExecResult{}, false
		})
		s.before(experiment.ServiceSpec{Name: "seed", Image: experiment.Literal("seed:1"), Job: true})
		healthy := s.script.Service
		s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
			if svc.Name == "seed" {
				return fake.Behaviour{Exit: &fake.Exit{After: 2 * time.Second}}
			}
			b := healthy(r, svc)
			b.ReadyAfter = time.Second
			return b
		}
		s.mustConduct()
		s.wantStates(map[string]int{"ok": 4})
		o := rec.outcomes[0]
		for name, want := range map[string]float64{"app.ready_seconds": 1, "seed.duration": 2, "seed.exit": 0, "app.memory_peak": 1 << 20, "app.classes": 4711, "classes_a_second": 4711.0 / 2} {
			if got, ok := o.Observed(name); !ok || got != want {
				t.Errorf("%s: got %v, %v; want %v", name, got, ok, want)
			}
		}
		if slices.ContainsFunc(s.runner.Events(), func(e string) bool { return strings.Contains(e, "generator") }) {
			t.Error("a generator was launched")
		}
	})
}

// A ready step may ask another service, or a container of its own.
func TestReadyElsewhere(t *testing.T) {
	for _, tc := range []struct {
		name  string
		ready experiment.Step
		after int // tries
		want  map[string]int
	}{
		{"another service", experiment.Step{In: "store", Run: run("registered"), Has: experiment.Literal("yes")}, 3, map[string]int{"ok": 4}},
		{
			"never",
			experiment.Step{In: "store", Run: run("registered"), Has: experiment.Literal("yes"), Within: time.Second},
			1 << 20,
			map[string]int{`failed:subject (service app: not ready within 1s: answer is "no", not "yes")`: 4},
		},
		{"a container", experiment.Step{Image: experiment.Literal("curl:1"), Run: run("curl", "${self:80}"), Has: experiment.Literal("yes")}, 2, map[string]int{"ok": 4}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				s.matrix.Repeat.Rounds = 1
				s.service("app").Ready = &tc.ready
				tries := 0
				answer := func() string {
					if tries++; tries < tc.after {
						return "no"
					}
					return "yes"
				}
				s.answering(func(_ experiment.Service, argv string) (experiment.ExecResult, bool) {
					if argv == "registered" {
						return text(answer())
					}
					return experiment.ExecResult{}, false
				})
				healthy := s.script.Service
				s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
					if strings.HasPrefix(svc.Name, "step-") {
						return fake.Behaviour{Stdout: answer()}
					}
					return healthy(r, svc)
				}
				s.mustConduct()
				s.wantStates(tc.want)
			})
		})
	}
}
