package conduct_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/experiment/matrixfile"
	"github.com/ceteris/ceteris/runners/fake"
	"github.com/ceteris/ceteris/runners/load"
)

const matrix = `
name: scripted
subject:
  services:
    store: {image: "store:1", ports: [1], ready: {port: 1}}
    app:
      image: "app:1"
      needs: [store]
      ports: [80]
      env: {STORE: "${addr:store:1}", THREADS: "${threads}", LOG: "${log}"}
      ready: {port: 80, within: 10s}
      confirm: [{run: [settings], json: {threads: .threads}, is: {threads: "${threads}"}}]
factors:
  threads: {baseline: 32, levels: [8, 32]}
  log: ["off", info]
load: {to: "app:80", request: {path: /}, closed: {users: 8}, warmup: 1s, measure: 4s, timeout: 1s}
repeat: {rounds: 3, seed: 3}
`

// stage is a sweep of the matrix over a scripted runner and a real database.
type stage struct {
	t      *testing.T
	matrix *experiment.Matrix
	script fake.Script
	runner *fake.Runner
	store  *db.DB
	drain  chan struct{}
	on     func(conduct.Event)
	reader experiment.LoadReader

	execFault func(n int) error // of the n-th command inside a service; nil: none
}

func newStage(t *testing.T) *stage {
	t.Helper()
	m, err := matrixfile.Parse("scripted.yaml", t.TempDir(), []byte(matrix))
	if err != nil {
		t.Fatal(err)
	}
	store, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "ceteris.db"), db.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, matrix: m.ForRunner(experiment.RunnerDocker), store: store, drain: make(chan struct{}), on: func(conduct.Event) {}, reader: load.Reader{}}
	s.script.Instant = true
	s.script.Host = &experiment.Host{Cores: experiment.CoreSet{0, 1, 2, 3}, Enforces: experiment.Enforces{Cores: true}}
	s.script.Service = s.behave(fake.Behaviour{})
	t.Cleanup(func() {
		if _, err := store.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// behave answers the confirm step truly, and gives the app the rest of b.
func (s *stage) behave(b fake.Behaviour) func(fake.Run, experiment.Service) fake.Behaviour {
	return func(_ fake.Run, svc experiment.Service) fake.Behaviour {
		if svc.Name != "app" {
			return fake.Behaviour{}
		}
		threads := variable(svc, "THREADS")
		if b.Exec == nil {
			b.Exec = func([]string) experiment.ExecResult {
				return experiment.ExecResult{Output: fmt.Appendf(nil, `{"threads": %s}`, threads)}
			}
			defer func() { b.Exec = nil }()
		}
		return b
	}
}

func variable(svc experiment.Service, name string) string {
	for _, e := range svc.Env {
		if e.Name == name {
			text, _ := e.Value.Literal()
			return text
		}
	}
	return ""
}

// conduct runs what is missing and checks what must hold however it ends.
func (s *stage) conduct(ctx context.Context) (conduct.Result, error) {
	s.t.Helper()
	s.runner = fake.New(s.script)
	c := &conduct.Conductor{
		Runner: s.runner, Reader: s.reader, Judge: guard.New(), Analyst: analysis.New(), Store: s.store,
		Generator: experiment.Build{Binary: "/loadgen"}, Log: slog.New(slog.DiscardHandler), Now: time.Now, Events: s.on,
	}
	if s.execFault != nil {
		c.Runner = &flaky{Runner: s.runner, fault: s.execFault}
	}
	r, err := c.Conduct(ctx, conduct.Request{
		Matrix: s.matrix, Drain: s.drain,
		Invocation: experiment.Invocation{Began: time.Now(), Owner: "test", Command: []string{"run"}, Version: "test"},
	})
	if live := s.runner.Live(); live != 0 {
		s.t.Errorf("%d environments or services are left", live)
	}
	return r, err
}

func (s *stage) mustConduct() conduct.Result {
	s.t.Helper()
	r, err := s.conduct(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// states counts the stored runs by state and reason.
func (s *stage) states() map[string]int {
	s.t.Helper()
	runs, err := s.store.Runs(s.t.Context(), 1)
	if err != nil {
		s.t.Fatal(err)
	}
	got := map[string]int{}
	for _, r := range runs {
		key := string(r.State)
		if r.Reason != "" {
			key += " (" + r.Reason + ")"
		}
		got[key]++
	}
	return got
}

func (s *stage) wantStates(want map[string]int) {
	s.t.Helper()
	if diff := cmp.Diff(s.states(), want); diff != "" {
		s.t.Errorf("runs by state (-got +want):\n%s", diff)
	}
}

func verdicts(r experiment.Results) map[string]experiment.Verdict {
	got := map[string]experiment.Verdict{}
	for _, c := range r.Comparisons {
		if !c.Secondary {
			got[string(c.Cell)] = c.Verdict
		}
	}
	return got
}

func TestWholeSweep(t *testing.T) {
	s := newStage(t)
	s.script.Load = func(r fake.Run, _ experiment.Load) fake.Generation {
		rate := 1000 + float64(r.N%3)
		if r.Env("app", "THREADS") == "8" {
			rate /= 2
		}
		return fake.Throughput(rate)
	}
	var rounds []string
	s.on = func(e conduct.Event) {
		if e.Kind == conduct.EventRound {
			sw, err := s.store.LoadSweep(t.Context(), e.Sweep)
			if err != nil {
				t.Fatal(err)
			}
			rounds = append(rounds, fmt.Sprintf("%d of %d: %d runs", e.Round, e.Rounds, len(sw.Runs)))
		}
	}
	r := s.mustConduct()
	if r.Ended != conduct.EndedDone {
		t.Errorf("ended %s", r.Ended)
	}
	s.wantStates(map[string]int{"ok": 12})
	if len(rounds) != 3 {
		t.Errorf("rounds seen: %v", rounds)
	}
	want := map[string]experiment.Verdict{
		"main|control|threads=32|log=off|": experiment.VerdictEquivalent,
		"main|varied|threads=8|log=off|":   experiment.VerdictWorse,
		"main|varied|threads=32|log=info|": experiment.VerdictEquivalent,
	}
	if diff := cmp.Diff(verdicts(r.Results), want); diff != "" {
		t.Errorf("verdicts (-got +want):\n%s", diff)
	}
	events := s.runner.Events()
	first := events[slices.Index(events, "open 1"):][:5]
	if diff := cmp.Diff(first, []string{"open 1", "launch 1 store", "launch 1 app", "launch 1 generator", "end 1 generator 0"}); diff != "" {
		t.Errorf("order of one run (-got +want):\n%s", diff)
	}
	if again := s.mustConduct(); again.Sweep != r.Sweep || len(again.Counts) != 0 {
		t.Errorf("a finished sweep runs nothing again: got sweep %d, %v", again.Sweep, again.Counts)
	}
}

func TestFailures(t *testing.T) {
	boom := errors.New("engine hiccup")
	onApp := func(s *stage, broken func(threads string) bool, b fake.Behaviour) {
		healthy := s.behave(fake.Behaviour{})
		s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
			if svc.Name == "app" && broken(variable(svc, "THREADS")) {
				return b
			}
			return healthy(r, svc)
		}
	}
	eight := func(threads string) bool { return threads == "8" }
	for _, tc := range []struct {
		name    string
		script  func(*stage)
		ended   conduct.Ending
		states  map[string]int
		verdict experiment.Verdict // of threads=8
	}{
		{"an infrastructure failure is tried once more", func(s *stage) {
			s.script.Open = func(r fake.Run) error {
				if r.N == 2 {
					return boom
				}
				return nil
			}
		}, conduct.EndedDone, map[string]int{"ok": 12, "failed:infrastructure (open an environment: engine hiccup)": 1}, experiment.VerdictEquivalent},
		{"five in a row end the invocation", func(s *stage) {
			s.script.Open = func(fake.Run) error { return boom }
		}, conduct.EndedInfrastructure, map[string]int{"failed:infrastructure (open an environment: engine hiccup)": 5, "pending": 11}, experiment.VerdictPending},
		{"a subject that never gets ready is a result, and is suspended", func(s *stage) {
			onApp(s, eight, fake.Behaviour{Exit: &fake.Exit{Code: 3}})
		}, conduct.EndedDone, map[string]int{
			"ok": 9,
			"failed:subject (start service app: exited with code 3 before it was ready)": 2, "skipped (suspended)": 1,
		}, experiment.VerdictFails},
		{"a setting that does not arrive is invalid, without load", func(s *stage) {
			onApp(s, eight, fake.Behaviour{Exec: func([]string) experiment.ExecResult {
				return experiment.ExecResult{Output: []byte(`{"threads": 200}`)}
			}})
		}, conduct.EndedDone, map[string]int{"ok": 9, "invalid (setting-ineffective)": 3}, experiment.VerdictInvalid},
		{"an incomplete result is invalid", func(s *stage) {
			s.script.Load = func(r fake.Run, _ experiment.Load) fake.Generation {
				g := fake.Throughput(1000)
				if r.Env("app", "THREADS") == "8" {
					g.Cut = experiment.PhaseMeasure
				}
				return g
			}
		}, conduct.EndedDone, map[string]int{"ok": 9, "invalid (result-incomplete)": 3}, experiment.VerdictInvalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.script.Load = func(r fake.Run, _ experiment.Load) fake.Generation {
				return fake.Throughput(1000 + float64(r.N%3))
			}
			tc.script(s)
			r := s.mustConduct()
			if r.Ended != tc.ended {
				t.Errorf("ended %s, want %s", r.Ended, tc.ended)
			}
			s.wantStates(tc.states)
			if got := verdicts(r.Results)["main|varied|threads=8|log=off|"]; got != tc.verdict {
				t.Errorf("verdict %s, want %s", got, tc.verdict)
			}
		})
	}
}

// A subject that dies under load ends the run at once, and is the reason.
func TestSubjectDiesUnderLoad(t *testing.T) {
	for _, tc := range []struct {
		name string
		exit fake.Exit
		want string
	}{
		{"crash", fake.Exit{After: 3 * time.Second, Code: 2}, "failed:subject (restarted: app ended with 2 under load)"},
		{"out of memory", fake.Exit{After: 3 * time.Second, Code: 137, OOMKilled: true}, "failed:subject (oom: app)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				s.script.Instant = false
				s.matrix.Repeat.Rounds = 1
				s.script.Service = s.behave(fake.Behaviour{Exit: &tc.exit})
				began := time.Now()
				s.mustConduct()
				s.wantStates(map[string]int{tc.want: 4})
				if took := time.Since(began); took > 4*4*time.Second {
					t.Errorf("took %v: the load went on without its subject", took)
				}
			})
		})
	}
}

// readerFunc is an experiment.LoadReader.
type readerFunc func(context.Context, io.Reader) error

func (f readerFunc) Read(ctx context.Context, r io.Reader, on func(experiment.LoadEvent)) (experiment.LoadResult, error) {
	if err := f(ctx, r); err != nil {
		return experiment.LoadResult{}, err
	}
	return load.Reader{}.Read(ctx, r, on)
}

// A generator that hangs costs its run, by the hard limit, and nothing else.
func TestHardLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.matrix.Repeat.Rounds = 1
		first := true
		s.reader = readerFunc(func(ctx context.Context, _ io.Reader) error {
			if !first {
				return nil
			}
			first = false
			<-ctx.Done()
			return ctx.Err()
		})
		began := time.Now()
		s.mustConduct()
		s.wantStates(map[string]int{"ok": 4, "failed:infrastructure (hard limit of the run: context deadline exceeded)": 1})
		// load 6 s, ready 60 s and 10 s, confirm 10 s, two logs 60 s, slack 30 s
		if took := time.Since(began); took < 170*time.Second || took > 190*time.Second {
			t.Errorf("took %v, want the hard limit of 176 s and little more", took)
		}
	})
}

// What carries a question or a result is not the subject: its failures are tried
// once more, and are no verdict.
func TestCarrierFails(t *testing.T) {
	t.Run("the output of the generator", func(t *testing.T) {
		s := newStage(t)
		broken := 0
		s.reader = readerFunc(func(context.Context, io.Reader) error {
			if broken++; broken == 2 {
				return errors.New("connection reset by the engine")
			}
			return nil
		})
		s.mustConduct()
		s.wantStates(map[string]int{"ok": 12, "failed:infrastructure (connection reset by the engine)": 1})
	})
	t.Run("a command inside the subject", func(t *testing.T) {
		s := newStage(t)
		s.execFault = func(n int) error {
			if n == 2 {
				return errors.New("the engine does not answer")
			}
			return nil
		}
		s.mustConduct()
		s.wantStates(map[string]int{"ok": 12, "failed:infrastructure (confirm service app: run settings: the engine does not answer)": 1})
	})
	t.Run("for one cell in both attempts", func(t *testing.T) {
		s := newStage(t)
		s.script.Open = func(r fake.Run) error {
			if r.N == 2 || r.N == 5 {
				return errors.New("engine hiccup")
			}
			return nil
		}
		if r := s.mustConduct(); r.Ended != conduct.EndedDone || r.Missing != 1 {
			t.Errorf("ended %s, %d missing; want done, 1 missing", r.Ended, r.Missing)
		}
		s.wantStates(map[string]int{"ok": 11, "failed:infrastructure (open an environment: engine hiccup)": 2})
	})
}

// flaky is a runner whose commands inside services may fail on the way.
type flaky struct {
	*fake.Runner
	fault func(n int) error
	n     int
}

func (f *flaky) Open(ctx context.Context, key experiment.RunKey) (experiment.Env, error) {
	env, err := f.Runner.Open(ctx, key)
	return flakyEnv{env, f}, err
}

type flakyEnv struct {
	experiment.Env
	of *flaky
}

func (e flakyEnv) Launch(ctx context.Context, s experiment.Service) (experiment.Proc, error) {
	p, err := e.Env.Launch(ctx, s)
	if err != nil {
		return nil, err
	}
	return flakyProc{p, e.of}, nil
}

type flakyProc struct {
	experiment.Proc
	of *flaky
}

func (p flakyProc) Exec(ctx context.Context, argv []string) (experiment.ExecResult, error) {
	p.of.n++
	if err := p.of.fault(p.of.n); err != nil {
		return experiment.ExecResult{}, err
	}
	return p.Proc.(experiment.Execer).Exec(ctx, argv)
}

func (p flakyProc) ReadFile(ctx context.Context, path string) ([]byte, error) {
	return p.Proc.(experiment.Execer).ReadFile(ctx, path)
}

func TestDrainKeepsAndResumes(t *testing.T) {
	s := newStage(t)
	ran := 0
	s.on = func(e conduct.Event) {
		if e.Kind == conduct.EventRunBegan {
			if ran++; ran == 6 {
				close(s.drain)
			}
		}
	}
	if r := s.mustConduct(); r.Ended != conduct.EndedDrained {
		t.Errorf("ended %s", r.Ended)
	}
	s.wantStates(map[string]int{"ok": 6, "pending": 6})
	s.drain, s.on = make(chan struct{}), func(conduct.Event) {}
	if r := s.mustConduct(); r.Ended != conduct.EndedDone {
		t.Errorf("ended %s", r.Ended)
	}
	s.wantStates(map[string]int{"ok": 12, "superseded (ok)": 2})
}

// unprepared is a runner whose preparation lasts until it is told to end.
type unprepared struct{ *fake.Runner }

func (unprepared) Prepare(ctx context.Context, _ []experiment.Service) (experiment.Images, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Before the first run there is nothing to finish: the first signal ends it, too.
func TestStopWhilePreparing(t *testing.T) {
	for _, tc := range []struct {
		name string
		stop func(s *stage, abort context.CancelFunc)
		want conduct.Ending
	}{
		{"drain", func(s *stage, _ context.CancelFunc) { close(s.drain) }, conduct.EndedDrained},
		{"abort", func(_ *stage, abort context.CancelFunc) { abort() }, conduct.EndedAborted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			ctx, abort := context.WithCancel(t.Context())
			defer abort()
			c := &conduct.Conductor{
				Runner: unprepared{fake.New(s.script)}, Store: s.store, Log: slog.New(slog.DiscardHandler), Now: time.Now,
				Events: func(e conduct.Event) {
					if e.Kind == conduct.EventPreparing {
						tc.stop(s, abort)
					}
				},
			}
			r, err := c.Conduct(ctx, conduct.Request{Matrix: s.matrix, Drain: s.drain})
			if err != nil || r.Ended != tc.want || r.Sweep != 0 {
				t.Errorf("ended %s of sweep %d, %v; want %s of none", r.Ended, r.Sweep, err, tc.want)
			}
		})
	}
}

func TestAbortInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.script.Instant = false
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := 0
		s.on = func(e conduct.Event) {
			if e.Kind == conduct.EventRunBegan {
				if began++; began == 2 {
					time.AfterFunc(2*time.Second, cancel)
				}
			}
		}
		r, err := s.conduct(ctx)
		if err != nil || r.Ended != conduct.EndedAborted {
			t.Errorf("ended %s, %v", r.Ended, err)
		}
		s.wantStates(map[string]int{"ok": 1, "interrupted (aborted)": 1, "pending": 10})
		s.on = func(conduct.Event) {}
		s.mustConduct()
		got := s.states()
		if got["ok"] != 12 {
			t.Errorf("after going on: %v", got)
		}
	})
}

// What is the conductor's own fault is no result about anybody.
func TestNothingFits(t *testing.T) {
	s := newStage(t)
	s.script.CheckFault = fmt.Errorf("%w", experiment.ErrNoRuntime)
	if _, err := s.conduct(t.Context()); !errors.Is(err, experiment.ErrNoRuntime) {
		t.Errorf("got %v", err)
	}
	s.script.CheckFault = nil
	s.script.PrepareFault = errors.New("no such image")
	if _, err := s.conduct(t.Context()); err == nil || !strings.Contains(err.Error(), "no such image") {
		t.Errorf("got %v", err)
	}
	s.script.PrepareFault = nil
	s.script.Host = &experiment.Host{Cores: experiment.CoreSet{0}}
	if _, err := s.conduct(t.Context()); !errors.Is(err, experiment.ErrCannotRun) {
		t.Errorf("one core: got %v", err)
	}
}
