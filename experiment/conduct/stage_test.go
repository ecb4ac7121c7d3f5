package conduct_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"testing"
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

	until    time.Time
	secrets  map[string]string
	change   func(*conduct.Conductor) // of what else differs
	mayLeave bool                     // what an engine that is gone for good keeps
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
	if s.change != nil {
		s.change(c)
	}
	r, err := c.Conduct(ctx, conduct.Request{
		Matrix: s.matrix, Drain: s.drain, Until: s.until, Secrets: s.secrets,
		Invocation: experiment.Invocation{Began: time.Now(), Owner: "test", Command: []string{"run"}, Version: "test"},
	})
	if live := s.runner.Live(); live != 0 && !s.mayLeave {
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

// readerFunc is an experiment.LoadReader.
type readerFunc func(context.Context, io.Reader) error

func (f readerFunc) Read(ctx context.Context, r io.Reader, on func(experiment.LoadEvent)) (experiment.LoadResult, error) {
	if err := f(ctx, r); err != nil {
		return experiment.LoadResult{}, err
	}
	return load.Reader{}.Read(ctx, r, on)
}
