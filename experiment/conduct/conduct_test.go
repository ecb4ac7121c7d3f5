package conduct_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
		t.Run(tc.name, inBubble(func(t *testing.T) {
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
		}))
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
		// load 6 s, ready 60 s and 10 s, confirm 10 s, slack 30 s
		if took := time.Since(began); took < 116*time.Second || took > 130*time.Second {
			t.Errorf("took %v, want the hard limit of 116 s and little more", took)
		}
	})
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
