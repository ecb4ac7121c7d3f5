package conduct_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/fake"
)

// What carries a question or a result is not the subject: its failures are tried
// once more, and are no verdict.
func TestCarrierFails(t *testing.T) {
	t.Run("the output of the generator", inBubble(func(t *testing.T) {
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
	}))
	t.Run("a command inside the subject", inBubble(func(t *testing.T) {
		s := newStage(t)
		s.execFault = func(n int) error {
			if n == 2 {
				return errors.New("the engine does not answer")
			}
			return nil
		}
		s.mustConduct()
		s.wantStates(map[string]int{"ok": 12, "failed:infrastructure (confirm service app: run settings: the engine does not answer)": 1})
	}))
	// The engine that carries it answers, so that it is the subject that does not.
	t.Run("not, but a command inside the subject hangs", inBubble(func(t *testing.T) {
		s := newStage(t)
		s.matrix.Repeat.Rounds = 1
		asked := 0
		s.through(&tap{asked: func(what string) time.Duration {
			if what == "exec app" {
				if asked++; asked == 2 {
					return time.Minute
				}
			}
			return 0
		}})
		s.mustConduct()
		s.wantStates(map[string]int{"ok": 3, "failed:subject (confirm service app: run settings: context deadline exceeded (it had 10s))": 1})
	}))
	// Nor would another attempt find the command, and nothing here is broken.
	t.Run("not, but a command is not there", inBubble(func(t *testing.T) {
		s := newStage(t)
		s.execFault = func(int) error {
			return fmt.Errorf("exec in service app: %w: settings", experiment.ErrNoCommand)
		}
		if r := s.mustConduct(); r.Ended != conduct.EndedDone {
			t.Errorf("ended %s", r.Ended)
		}
		s.wantStates(map[string]int{
			"failed:subject (confirm service app: run settings: exec in service app: there is no such command: settings)": 10, "skipped (suspended)": 2,
		})
	}))
	t.Run("not, but a command of the preparation is not there", inBubble(func(t *testing.T) {
		s := newStage(t)
		s.matrix.Repeat.Rounds = 1
		s.matrix.Subject.Services[1].Prepare.Steps = []experiment.Step{{Run: []experiment.Template{experiment.Literal("seed")}}}
		s.execFault = func(int) error { return experiment.ErrNoCommand }
		s.mustConduct()
		s.wantStates(map[string]int{"failed:subject (prepare: service app: run seed: there is no such command)": 4})
	}))
	t.Run("for one cell in both attempts", inBubble(func(t *testing.T) {
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
	}))
}

// flaky is a runner whose commands inside services may fail on the way.
type flaky struct {
	*fake.Runner
	fault func(n int) error
	n     int
}

func (f *flaky) Open(ctx context.Context, key experiment.RunKey) (experiment.Env, error) {
	env, err := f.Runner.Open(ctx, key)
	if err != nil {
		return env, err
	}
	return flakyEnv{env, f}, nil
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
