package fake_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/fake"
	"github.com/ceteris/ceteris/runners/load"
	"github.com/ceteris/ceteris/runners/runnertest"
)

// subject behaves as the test subject of the suite does.
func subject(_ fake.Run, s experiment.Service) fake.Behaviour {
	env := map[string]string{}
	for _, e := range s.Env {
		env[e.Name], _ = e.Value.Literal()
	}
	after, _ := time.ParseDuration(env["AFTER"])
	code, _ := strconv.Atoi(env["CODE"])
	b := fake.Behaviour{Stdout: "listening on " + env["LISTEN"] + "\n", Stderr: "mode " + env["MODE"] + "\n", CPU: 0.5}
	switch env["MODE"] {
	case "exit":
		b.Exit = &fake.Exit{Code: 3}
	case "silent":
		b.ReadyAfter = time.Hour
	case "late":
		b.ReadyAfter = after
	case "crash", "job":
		b.Exit = &fake.Exit{After: after, Code: code}
		if text := env["TEXT"]; text != "" {
			b.Volumes = map[string]string{"data": text}
		}
	case "stubborn":
		b.Stubborn = true
	}
	return b
}

func TestConformance(t *testing.T) {
	runnertest.Run(t, runnertest.Harness{
		New:          func(testing.TB) experiment.Runner { return fake.New(fake.Script{Service: subject}) },
		Capabilities: runnertest.Capabilities{PeakMemory: true},
	})
}

func generator(t *testing.T, l experiment.Load) experiment.Service {
	t.Helper()
	spec, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return experiment.Service{
		Name: experiment.GeneratorName, Role: experiment.RoleLoad, Build: &experiment.Build{Binary: "/generator"},
		Env: []experiment.EnvVar{{Name: experiment.GeneratorEnv, Value: experiment.Literal(string(spec))}},
	}
}

var shortLoad = experiment.Load{Warmup: 5 * time.Second, Measure: 20 * time.Second, Timeout: time.Second}

// seen is a phase and when it was heard of, from the launch on.
type seen struct {
	Phase experiment.Phase
	After time.Duration
}

// follow launches a generator and reads it to its end.
func follow(t *testing.T, r *fake.Runner, services ...experiment.Service) (experiment.LoadResult, []seen, error) {
	t.Helper()
	env, err := r.Open(t.Context(), experiment.RunKey{Run: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := env.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if n := r.Live(); n != 0 {
			t.Errorf("%d things live after close", n)
		}
	}()
	for _, s := range services {
		if _, err := env.Launch(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	p, err := env.Launch(t.Context(), generator(t, shortLoad))
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Logs(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var phases []seen
	result, err := load.Reader{}.Read(t.Context(), out, func(e experiment.LoadEvent) {
		if e.Phase != "" {
			phases = append(phases, seen{e.Phase, time.Since(began)})
		}
	})
	return result, phases, err
}

func TestGeneratorKeepsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := fake.New(fake.Script{Load: func(run fake.Run, _ experiment.Load) fake.Generation {
			if run.Env("app", "LEVEL") == "slow" {
				return fake.Throughput(50)
			}
			return fake.Throughput(2000)
		}})
		app := experiment.Service{Name: "app", Env: []experiment.EnvVar{{Name: "LEVEL", Value: experiment.Literal("slow")}}}
		result, phases, err := follow(t, r, app)
		if err != nil {
			t.Fatal(err)
		}
		want := []seen{
			{experiment.PhaseWarmup, 0},
			{experiment.PhaseMeasure, 5 * time.Second},
			{experiment.PhaseDrain, 25 * time.Second},
			{experiment.PhaseDone, 25 * time.Second},
		}
		if diff := cmp.Diff(phases, want); diff != "" {
			t.Errorf("phases (-got +want):\n%s", diff)
		}
		if got, _ := experiment.Observed(result.Observations, "throughput"); got != 50 {
			t.Errorf("throughput: got %v, want that of the cell, 50", got)
		}
		if got, _ := experiment.Observed(result.Observations, "requests_done"); got != 50*20 {
			t.Errorf("requests done: got %v, want 1000", got)
		}
		events := []string{"open 1", "launch 1 app", "launch 1 generator", "end 1 generator 0", "end 1 app 0", "close 1"}
		if diff := cmp.Diff(r.Events(), events); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

func TestGeneratorAtOnce(t *testing.T) {
	began := time.Now()
	_, phases, err := follow(t, fake.New(fake.Script{Instant: true}))
	if err != nil || len(phases) != 4 {
		t.Errorf("got phases %v, %v", phases, err)
	}
	if took := time.Since(began); took >= shortLoad.Warmup {
		t.Errorf("took %v, want less than the warm-up", took)
	}
}

func TestGeneratorIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := fake.New(fake.Script{Load: func(fake.Run, experiment.Load) fake.Generation {
			return fake.Generation{Cut: experiment.PhaseDrain}
		}})
		_, phases, err := follow(t, r)
		if !errors.Is(err, experiment.ErrIncomplete) {
			t.Errorf("got %v, want %v", err, experiment.ErrIncomplete)
		}
		if last := phases[len(phases)-1].Phase; last != experiment.PhaseMeasure {
			t.Errorf("last phase: got %s, want %s", last, experiment.PhaseMeasure)
		}
	})
}

func TestUsageGrowsWithTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := fake.New(fake.Script{Service: func(fake.Run, experiment.Service) fake.Behaviour {
			return fake.Behaviour{CPU: 1.5, Exit: &fake.Exit{After: 10 * time.Second, Code: 137, OOMKilled: true}}
		}})
		env, err := r.Open(t.Context(), experiment.RunKey{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := env.Launch(t.Context(), experiment.Service{Name: "app"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Second)
		u, err := p.Usage(t.Context())
		if got := u.Counters[experiment.CounterCPU]; err != nil || got != 6 {
			t.Errorf("after 4 s on 1.5 processors: got %v s, %v, want 6", got, err)
		}
		exit, err := p.Wait(t.Context())
		if err != nil || exit.Code != 137 || !exit.OOMKilled {
			t.Errorf("exit: got %+v, %v", exit, err)
		}
		u, err = p.Usage(t.Context())
		if got := u.Counters[experiment.CounterCPU]; err != nil || got != 15 || !u.At.Equal(exit.At) {
			t.Errorf("after its end: got %v s at %v, %v, want 15 at %v", got, u.At, err, exit.At)
		}
		if err := env.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestFaultsOfTheInfrastructure(t *testing.T) {
	fault := errors.New("the engine is gone")
	for _, tc := range []struct {
		name   string
		script fake.Script
		step   func(context.Context, *fake.Runner) error
	}{
		{"check", fake.Script{CheckFault: fault}, func(ctx context.Context, r *fake.Runner) error {
			_, err := r.Check(ctx)
			return err
		}},
		{"prepare", fake.Script{PrepareFault: fault}, func(ctx context.Context, r *fake.Runner) error {
			_, err := r.Prepare(ctx, nil)
			return err
		}},
		{"second opening", fake.Script{Open: func(r fake.Run) error {
			if r.N == 2 {
				return fault
			}
			return nil
		}}, func(ctx context.Context, r *fake.Runner) error {
			env, err := r.Open(ctx, experiment.RunKey{})
			if err != nil {
				return err
			}
			if err := env.Close(ctx); err != nil {
				return err
			}
			_, err = r.Open(ctx, experiment.RunKey{})
			return err
		}},
		{"launch", fake.Script{Service: func(fake.Run, experiment.Service) fake.Behaviour {
			return fake.Behaviour{Fault: fault}
		}}, func(ctx context.Context, r *fake.Runner) error {
			env, err := r.Open(ctx, experiment.RunKey{})
			if err != nil {
				return err
			}
			_, err = env.Launch(ctx, experiment.Service{Name: "app"})
			return errors.Join(err, env.Close(ctx))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := fake.New(tc.script)
			if err := tc.step(t.Context(), r); !errors.Is(err, fault) {
				t.Errorf("got %v, want %v", err, fault)
			}
			if n := r.Live(); n != 0 {
				t.Errorf("%d things live", n)
			}
		})
	}
}
