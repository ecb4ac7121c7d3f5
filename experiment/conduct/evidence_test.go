package conduct_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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

func TestPrepare(t *testing.T) {
	for _, tc := range []struct {
		name   string
		answer string
		want   map[string]int
	}{
		{"goes well", "", map[string]int{"ok": 4}},
		{"a command fails", "seed", map[string]int{"failed:subject (prepare: store: run seed it: seed ended with 7: no space)": 4}},
		{"an expectation is not met", "count", map[string]int{`failed:subject (prepare: app: run count: rows is "no space", not "5")`: 4}},
		{"a container fails", "step", map[string]int{"failed:subject (prepare: migrate:2: run up to 3: run up to 3 ended with 7: no space)": 4}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.matrix.Repeat.Rounds = 1
			s.service("store").Prepare.Steps = []experiment.Step{{Run: run("seed", "it")}}
			s.matrix.Prepare = []experiment.Step{
				{Image: experiment.Literal("migrate:2"), Run: run("up", "to", "3"), Regex: "at (?P<version>[0-9]+)", Is: []experiment.Expected{{Name: "version", Value: experiment.Literal("3")}}},
				{In: "app", Run: run("count"), Regex: "(?s)(?P<rows>.*)", Is: []experiment.Expected{{Name: "rows", Value: experiment.Literal("5")}}},
			}
			var order []string
			s.answering(func(svc experiment.Service, argv string) (experiment.ExecResult, bool) {
				if argv == "settings" {
					return experiment.ExecResult{}, false
				}
				order = append(order, svc.Name+": "+argv)
				switch {
				case tc.answer == "seed" && strings.HasPrefix(argv, "seed"):
					return experiment.ExecResult{Code: 7, Output: []byte("no space")}, true
				case tc.answer == "count" && argv == "count":
					return text("no space")
				}
				return text("5")
			})
			healthy := s.script.Service
			s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
				if svc.Name != "step-1" {
					return healthy(r, svc)
				}
				order = append(order, fmt.Sprintf("%s %s %v", svc.Name, svc.Image, svc.Job))
				if tc.answer == "step" {
					return fake.Behaviour{Stdout: "no space", Exit: &fake.Exit{Code: 7}}
				}
				return fake.Behaviour{Stdout: "now at 2\nnow at 3\n"}
			}
			s.mustConduct()
			s.wantStates(tc.want)
			if tc.answer == "" {
				if diff := cmp.Diff(order[:3], []string{"store: seed it", "step-1 migrate:2 true", "app: count"}); diff != "" {
					t.Errorf("order (-got +want):\n%s", diff)
				}
			}
		})
	}
}

// shelf keeps snapshots in memory.
type shelf map[string][]byte

func (s shelf) Open(key string) (io.ReadCloser, error) {
	b, ok := s[key]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func (s shelf) Create(key string) (experiment.SnapshotWriter, error) {
	return &shelved{shelf: s, key: key}, nil
}

type shelved struct {
	bytes.Buffer
	shelf shelf
	key   string
}

func (w *shelved) Commit() error { w.shelf[w.key] = w.Bytes(); return nil }
func (w *shelved) Close() error  { return nil }

// A prepared volume is made once, and every run starts from a copy, the first too.
func TestSnapshot(t *testing.T) {
	s := newStage(t)
	kept := shelf{}
	s.change = func(c *conduct.Conductor) { c.Snapshots = kept }
	store := s.service("store")
	store.Volumes = []experiment.Volume{{Name: "data", Target: "/data"}}
	store.Prepare = experiment.Preparation{Steps: []experiment.Step{{Run: run("seed")}}, Snapshot: true}
	store.Env = []experiment.EnvVar{{Name: "SYNC", Value: run("${log}")[0]}}
	seeds := 0
	s.answering(func(_ experiment.Service, argv string) (experiment.ExecResult, bool) {
		if argv == "seed" {
			seeds++
		}
		return experiment.ExecResult{}, argv == "seed"
	})
	var events []bool
	s.on = func(e conduct.Event) {
		if e.Kind == conduct.EventSnapshot && e.Service == "store" {
			events = append(events, e.Restored)
		}
	}
	s.mustConduct()
	s.wantStates(map[string]int{"ok": 12})
	made := 0
	for _, restored := range events {
		if !restored {
			made++
		}
	}
	// Two keys: the setting of the log is in the environment of the store.
	if seeds != 2 || len(kept) != 2 || made != 2 || len(events) != 12 {
		t.Errorf("%d preparations, %d snapshots, %d of %d made; want 2, 2, 2 of 12", seeds, len(kept), made, len(events))
	}
	launches := map[string]int{}
	for _, e := range s.runner.Events() {
		if f := strings.Fields(e); f[0] == "launch" && f[2] == "store" {
			launches[f[1]]++
		}
	}
	twice := 0
	for _, n := range launches {
		if n == 2 {
			twice++
		}
	}
	if len(launches) != 12 || twice != 2 {
		t.Errorf("launches of the store by run: %v", launches)
	}
}

// fullShelf has no room.
type fullShelf struct{ shelf }

func (s fullShelf) Create(string) (experiment.SnapshotWriter, error) { return noRoom{}, nil }

type noRoom struct{}

func (noRoom) Write([]byte) (int, error) { return 0, errors.New("no room") }
func (noRoom) Commit() error             { return nil }
func (noRoom) Close() error              { return nil }

// What cannot be kept is prepared in every run.
func TestSnapshotThatCannotBeKept(t *testing.T) {
	s := newStage(t)
	s.matrix.Repeat.Rounds = 1
	s.change = func(c *conduct.Conductor) { c.Snapshots = fullShelf{} }
	store := s.service("store")
	store.Volumes = []experiment.Volume{{Name: "data", Target: "/data"}}
	store.Prepare = experiment.Preparation{Steps: []experiment.Step{{Run: run("seed")}}, Snapshot: true}
	seeds := 0
	s.answering(func(_ experiment.Service, argv string) (experiment.ExecResult, bool) {
		if argv == "seed" {
			seeds++
		}
		return experiment.ExecResult{}, argv == "seed"
	})
	s.mustConduct()
	got := s.states()
	if failed := len(got) - 1; got["ok"] != 4 || failed != 1 || seeds != 5 {
		t.Errorf("runs %v after %d preparations; want 4 ok and one that failed, 5", got, seeds)
	}
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
			{Step: experiment.Step{Run: run("stats"), JSON: number, Unit: experiment.UnitSeconds}, Moments: []experiment.Moment{experiment.MomentStart, experiment.MomentEnd}, Delta: []string{"gc"}, Keep: "stats.json"},
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
		if diff := cmp.Diff(kept, []string{`app end-stats.json {"gc": 20, "heap": 2}`, `app start-stats.json {"gc": 10, "heap": 1}`}); diff != "" {
			t.Errorf("artifacts (-got +want):\n%s", diff)
		}
	})
}

// Without load, starts and jobs are the measurement.
func TestWithoutLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		rec := s.record()
		s.matrix.Load = experiment.LoadSpec{None: true}
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
		for name, want := range map[string]float64{"app.ready_seconds": 1, "seed.duration": 2, "seed.exit": 0, "app.memory_peak": 1 << 20, "app.classes": 4711} {
			if got, ok := o.Observed(name); !ok || got != want {
				t.Errorf("%s: got %v, %v; want %v", name, got, ok, want)
			}
		}
		if slices.ContainsFunc(s.runner.Events(), func(e string) bool { return strings.Contains(e, "generator") }) {
			t.Error("a generator was launched")
		}
	})
}

// Secrets reach the services, and nothing that is stored.
func TestSecrets(t *testing.T) {
	const secret = "hunter2-and-more"
	s := newStage(t)
	rec := s.record()
	s.secrets = map[string]string{"TOKEN": secret, "PIN": "123"}
	app := s.service("app")
	for _, e := range []string{"TOKEN", "PIN", "UNSET"} {
		app.Env = append(app.Env, experiment.EnvVar{Name: e, Value: run("${env:" + e + "}")[0]})
	}
	app.Command = run("serve", "--token=${env:TOKEN}", "--unset=${env:UNSET}")
	app.Confirm = append(app.Confirm, experiment.Step{Run: run("whoami", "${env:TOKEN}"), Has: run("${env:TOKEN}")[0]})
	s.matrix.Load.Requests[0].Headers = []experiment.EnvVar{
		{Name: "Authorization", Value: run("Bearer ${env:TOKEN}")[0]},
		{Name: "X-Unset", Value: run("${env:UNSET}")[0]},
	}
	s.answering(func(_ experiment.Service, argv string) (experiment.ExecResult, bool) {
		if argv == "whoami "+secret {
			return text("no, not " + secret)
		}
		return experiment.ExecResult{}, false
	})
	healthy := s.script.Service
	var launched experiment.Service
	s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
		b := healthy(r, svc)
		if svc.Name == "app" {
			launched = svc
			b.Stdout = "token is " + secret + ", pin is 123\n"
		}
		return b
	}
	var headers []experiment.EnvVar
	s.script.Load = func(_ fake.Run, l experiment.Load) fake.Generation {
		headers = l.Requests[0].Headers
		return fake.Throughput(1000)
	}
	s.mustConduct()
	s.wantStates(map[string]int{"ok": 4})
	argv, env, err := launched.Texts()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(argv, []string{"serve", "--token=" + secret}); diff != "" {
		t.Errorf("command (-got +want):\n%s", diff)
	}
	if !slices.Contains(env, "TOKEN="+secret) || !slices.Contains(env, "PIN=123") || slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "UNSET") }) {
		t.Errorf("environment: %v", env)
	}
	if len(headers) != 1 || headers[0].Value.String() != "Bearer "+secret {
		t.Errorf("headers: %v", headers)
	}
	o := rec.outcomes[0]
	for _, a := range o.Artifacts {
		if a.Service == "app" && string(a.Body) != "token is ***, pin is 123\n" {
			t.Errorf("log: %q", a.Body)
		}
	}
	if c := o.Confirmations[1]; c.Want != "***" || c.Got != "***" || !c.OK {
		t.Errorf("confirmation: %+v", c)
	}
	path := s.store.Path()
	if err := s.store.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "-wal"} {
		b, err := os.ReadFile(file)
		if err != nil && file == path {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s holds the secret", file)
		}
	}
}

// A text that cannot be left out wants its variable to be set, before anything starts.
func TestSecretThatIsLacking(t *testing.T) {
	s := newStage(t)
	s.service("app").Files = []experiment.FileSpec{{Path: "/etc/app.conf", Content: run("key ${env:TOKEN}")[0]}}
	_, err := s.conduct(t.Context())
	if want := "service app: files: key ${env:TOKEN}: a variable that is not set cannot be left out here: cannot measure here"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
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
