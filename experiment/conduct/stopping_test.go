package conduct_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/fake"
)

// under gives the stage a rule, and runs that vary by a standard deviation; threads=8 is
// slower by as much as is said.
func (s *stage) under(rule experiment.Stopping, deviation, slower float64) {
	s.matrix.Repeat.Stopping, s.matrix.Repeat.Rounds = rule, rule.AtMost
	rng := rand.New(rand.NewPCG(5, 0))
	s.script.Load = func(r fake.Run, _ experiment.Load) fake.Generation {
		rate := 1000 * math.Exp(deviation*rng.NormFloat64())
		if r.Env("app", "THREADS") == "8" {
			rate /= 1 + slower
		}
		return fake.Throughput(rate)
	}
}

// enoughAt gives the rounds after which a rule is met that looks at the rounds of a
// stored sweep as they come; 0: it is not.
func (s *stage) enoughAt(stageName string) int {
	s.t.Helper()
	sw, err := s.store.LoadSweep(s.t.Context(), 1)
	if err != nil {
		s.t.Fatal(err)
	}
	all := sw.Runs
	sw.Rounds = sw.Stopping.AtMost
	for n := 1; n <= sw.Stopping.AtMost; n++ {
		sw.Runs = slices.DeleteFunc(slices.Clone(all), func(r experiment.RunRecord) bool { return r.Round > n })
		r, err := analysis.New().Analyse(sw, sw.Settings)
		if err != nil {
			s.t.Fatal(err)
		}
		if slices.Contains(r.Stop.MetIn, stageName) {
			return n
		}
	}
	return 0
}

func precise(within float64) experiment.Stopping {
	return experiment.Stopping{Until: experiment.StopPrecise, Within: within, AtMost: 30}
}

func decided(atMost int) experiment.Stopping {
	return experiment.Stopping{Until: experiment.StopDecided, AtMost: atMost}
}

// A sweep with a rule ends at the first look at which it is met, or at its bound, and
// has nothing to do when it is called again.
func TestRules(t *testing.T) {
	for _, tc := range []struct {
		name              string
		rule              experiment.Stopping
		deviation, slower float64
		rounds            int
		met               bool
	}{
		{"precise at once", precise(0.03), 0.001, 0, 5, true},
		{"precise in the end", precise(0.03), 0.02, 0, 9, true},
		{"never precise", experiment.Stopping{Until: experiment.StopPrecise, Within: 0.001, AtMost: 7}, 0.02, 0, 7, false},
		{"decided at once", decided(30), 0.002, 0.5, 5, true},
		{"decided at the second look", decided(30), 0.012, 0, 10, true},
		{"never decided", decided(12), 0.05, 0.02, 12, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.under(tc.rule, tc.deviation, tc.slower)
			var said []string
			s.on = func(e conduct.Event) {
				if e.Kind == conduct.EventRound || e.Kind == conduct.EventEnough {
					said = append(said, fmt.Sprintf("%s %d of %d %v", e.Kind, e.Round, e.Rounds, e.AtMost))
				}
			}
			r := s.mustConduct()
			if r.Ended != conduct.EndedDone || r.Results.RoundsDone != tc.rounds || r.Results.Planned != tc.rounds || r.Results.Stop.Met != tc.met {
				t.Errorf("ended %s after %d of %d rounds, met: %v; want %d", r.Ended, r.Results.RoundsDone, r.Results.Planned, r.Results.Stop.Met, tc.rounds)
			}
			for _, c := range r.Results.Comparisons {
				if c.State != "final" || c.Verdict == experiment.VerdictPending {
					t.Errorf("%s of %s is %s, %s", c.Metric, c.Cell, c.Verdict, c.State)
				}
			}
			s.wantStates(map[string]int{"ok": 4 * tc.rounds})
			if at := s.enoughAt("main"); at != tc.rounds && tc.met || at != 0 && !tc.met {
				t.Errorf("the rule is met after %d rounds", at)
			}
			want := []string{}
			for n := range tc.rounds {
				want = append(want, fmt.Sprintf("round %d of %d true", n+1, tc.rule.AtMost))
			}
			if tc.met {
				want = append(want, fmt.Sprintf("enough %d of %d true", tc.rounds, tc.rule.AtMost))
			}
			if diff := cmp.Diff(said, want); diff != "" {
				t.Errorf("said (-got +want):\n%s", diff)
			}
			said = nil
			again := s.mustConduct()
			if again.Sweep != r.Sweep || len(again.Counts) != 0 || len(said) != 0 || again.Results.Stop.Met != tc.met {
				t.Errorf("run again: sweep %d, %v, said %v", again.Sweep, again.Counts, said)
			}
			if sw, err := s.store.LoadSweep(t.Context(), 1); err != nil || sw.Rounds != tc.rounds || sw.Stopping != tc.rule {
				t.Errorf("stored: %d rounds by %+v, %v", sw.Rounds, sw.Stopping, err)
			}
		})
	}
}

// However a sweep is cut short, it goes on to the look at which it would have ended.
func TestARuleOutlivesEveryEnd(t *testing.T) {
	for name, rule := range map[string]experiment.Stopping{"precise": precise(0.03), "decided": decided(30)} {
		for runs := 5; runs < 40; runs += 7 {
			t.Run(fmt.Sprintf("%s, drained every %d runs", name, runs), inBubble(func(t *testing.T) {
				s := newStage(t)
				s.under(rule, 0.012, 0)
				for calls := 0; ; calls++ {
					s.drain = make(chan struct{})
					began, drained := 0, false
					s.on = func(e conduct.Event) {
						if e.Kind == conduct.EventRunEnded && !drained {
							if began++; began >= runs { // a round at least, or it never ends
								drained = true
								close(s.drain)
							}
						}
					}
					if r := s.mustConduct(); r.Ended == conduct.EndedDone {
						break
					}
					if calls > 100 {
						t.Fatal("it never ends")
					}
				}
				sw, err := s.store.LoadSweep(t.Context(), 1)
				if err != nil {
					t.Fatal(err)
				}
				last := 0
				for _, r := range sw.Runs {
					last = max(last, r.Round)
				}
				if at := s.enoughAt("main"); at == 0 || last != at || sw.Rounds != at || s.states()["pending"] != 0 {
					t.Errorf("it has %d rounds, %d planned, and was done after %d", last, sw.Rounds, at)
				}
			}))
		}
	}
}

// An abort in the midst of a run costs its round, and no look.
func TestAbortedUnderARule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.script.Instant = false
		s.under(decided(30), 0.002, 0.5)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s.on = func(e conduct.Event) {
			if e.Kind == conduct.EventRunBegan && e.Round == 5 {
				time.AfterFunc(7*time.Second, cancel)
			}
		}
		if r, err := s.conduct(ctx); err != nil || r.Ended != conduct.EndedAborted || r.Results.RoundsDone != 4 {
			t.Fatalf("ended %s after %d rounds, %v", r.Ended, r.Results.RoundsDone, err)
		}
		s.on = func(conduct.Event) {}
		if r := s.mustConduct(); r.Ended != conduct.EndedDone || r.Results.RoundsDone != 5 || !r.Results.Stop.Met {
			t.Errorf("ended %s after %d rounds", r.Ended, r.Results.RoundsDone)
		}
		if got := s.states(); got["ok"] != 20 || got["pending"] != 0 {
			t.Errorf("runs: %v", got)
		}
	})
}

// killed is a store that dies when something is to be stored.
type killed struct {
	experiment.Store
	at string
}

func (k *killed) Reschedule(ctx context.Context, sweep int64, r experiment.Reschedule) error {
	if k.at == "drop" && len(r.Drop) > 0 {
		panic(k.at)
	}
	return k.Store.Reschedule(ctx, sweep, r)
}

func (k *killed) FinishRounds(ctx context.Context, sweep int64, rounds int) error {
	if k.at == "finish" {
		panic(k.at)
	}
	return k.Store.FinishRounds(ctx, sweep, rounds)
}

// A ceteris that is killed between the look and what follows from it has measured
// enough: the next one does the rest without a run.
func TestKilledAfterTheLastLook(t *testing.T) {
	for _, at := range []string{"drop", "finish"} {
		t.Run(at, func(t *testing.T) {
			s := newStage(t)
			s.under(precise(0.03), 0.001, 0)
			s.change = func(c *conduct.Conductor) { c.Store = &killed{Store: c.Store, at: at} }
			func() {
				defer func() {
					if recover() != at {
						t.Error("it was not killed")
					}
				}()
				_, _ = s.conduct(t.Context())
			}()
			s.change = nil
			r := s.mustConduct()
			if r.Ended != conduct.EndedDone || len(r.Counts) != 0 || r.Results.RoundsDone != 5 || r.Results.Planned != 5 {
				t.Errorf("ended %s with %v after %d of %d rounds", r.Ended, r.Counts, r.Results.RoundsDone, r.Results.Planned)
			}
			s.wantStates(map[string]int{"ok": 20})
		})
	}
}

// An analysis that takes its time delays those between looks, and no look.
func TestLooksAreNotSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.script.Instant = false
		s.under(decided(12), 0.05, 0.02)
		var analyst *slow
		s.change = func(c *conduct.Conductor) {
			analyst = &slow{Analyst: c.Analyst, takes: 50 * time.Second}
			c.Analyst = analyst
		}
		s.mustConduct()
		if diff := cmp.Diff(analyst.seen, []int{0, 20, 40, 48}); diff != "" {
			t.Errorf("runs at each analysis (-got +want):\n%s", diff)
		}
	})
}

// Each stage ends by itself, and the sweep with the last of them.
func TestARuleInStages(t *testing.T) {
	s := newStage(t)
	s.matrix.Design.Stages = []experiment.Stage{
		{Name: "first"},
		{Name: "second", Baseline: []experiment.Setting{{Factor: "log", Level: "info"}}},
	}
	s.under(precise(0.03), 0.015, 0)
	var enough []string
	s.on = func(e conduct.Event) {
		if e.Kind == conduct.EventEnough {
			enough = append(enough, fmt.Sprintf("%s %d", e.Stage, e.Round))
		}
	}
	r := s.mustConduct()
	first, second := s.enoughAt("first"), s.enoughAt("second")
	if diff := cmp.Diff(enough, []string{fmt.Sprintf("first %d", first), fmt.Sprintf("second %d", second)}); diff != "" || first == second {
		t.Errorf("rounds are enough (-got +want):\n%s", diff)
	}
	s.wantStates(map[string]int{"ok": 4 * (first + second)})
	if r.Ended != conduct.EndedDone || r.Results.RoundsDone != r.Results.Planned {
		t.Errorf("ended %s after %d of %d rounds", r.Ended, r.Results.RoundsDone, r.Results.Planned)
	}
	enough = nil
	if again := s.mustConduct(); len(again.Counts) != 0 || len(enough) != 0 || again.Results.RoundsDone != again.Results.Planned {
		t.Errorf("run again: %v, after %d of %d rounds", again.Counts, again.Results.RoundsDone, again.Results.Planned)
	}
}

// A round of a stage that came further than the others lacks nothing for long, either.
func TestAGapInTheLongestStage(t *testing.T) {
	s := newStage(t)
	s.matrix.Design.Stages = []experiment.Stage{
		{Name: "first"},
		{Name: "second", Baseline: []experiment.Setting{{Factor: "log", Level: "info"}}},
	}
	s.under(precise(0.03), 0, 0)
	rng := rand.New(rand.NewPCG(7, 0))
	var now conduct.Event
	s.on = func(e conduct.Event) {
		if e.Kind == conduct.EventRunBegan {
			now = e
		}
	}
	s.script.Load = func(fake.Run, experiment.Load) fake.Generation {
		deviation := 0.001
		if now.Cell.Stage == "second" {
			deviation = 0.02
		}
		return fake.Throughput(1000 * math.Exp(deviation*rng.NormFloat64()))
	}
	s.script.Open = func(fake.Run) error {
		if now.Cell.Stage == "second" && now.Round == 6 && now.Cell.Role == experiment.RoleControl {
			return errors.New("engine hiccup")
		}
		return nil
	}
	r := s.mustConduct()
	if r.Ended != conduct.EndedDone || r.Missing != 1 || r.Results.RoundsDone != 5 {
		t.Fatalf("ended %s after %d rounds, %d runs are missing", r.Ended, r.Results.RoundsDone, r.Missing)
	}
	s.script.Open = nil
	again := s.mustConduct()
	if again.Ended != conduct.EndedDone || again.Counts[experiment.StateOK] != 4 {
		t.Errorf("run again: ended %s with %v, want a round of 4", again.Ended, again.Counts)
	}
	if third := s.mustConduct(); len(third.Counts) != 0 {
		t.Errorf("and again: %v", third.Counts)
	}
}

// A stricter rule, or a lower bound, is one for the rounds that there are, too.
func TestAnotherRule(t *testing.T) {
	s := newStage(t)
	s.under(precise(0.03), 0.001, 0)
	s.mustConduct()
	s.matrix.Repeat.Within = 0.0004
	s.matrix.Repeat.AtMost, s.matrix.Repeat.Rounds = 9, 9
	if r := s.mustConduct(); r.Results.RoundsDone != 9 || r.Results.Stop.Met {
		t.Errorf("%d rounds, met: %v", r.Results.RoundsDone, r.Results.Stop.Met)
	}
	s.wantStates(map[string]int{"ok": 36})
	s.matrix.Repeat.AtMost, s.matrix.Repeat.Rounds = 6, 6
	if r := s.mustConduct(); len(r.Counts) != 0 || r.Results.RoundsDone != r.Results.Planned {
		t.Errorf("%v, %d of %d rounds", r.Counts, r.Results.RoundsDone, r.Results.Planned)
	}
}

func TestARuleTakesNoNumberOfRounds(t *testing.T) {
	s := newStage(t)
	s.under(precise(0.03), 0.001, 0)
	c := &conduct.Conductor{Runner: fake.New(s.script), Store: s.store}
	if _, err := c.Conduct(t.Context(), conduct.Request{Matrix: s.matrix, Rounds: 3}); err == nil || !strings.Contains(err.Error(), "until it is precise") {
		t.Errorf("got %v", err)
	}
}
