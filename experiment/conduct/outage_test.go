package conduct_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/fake"
)

// night is a stage in which time passes, and what it tells of its engine.
func night(t *testing.T) (s *stage, told func() []string) {
	t.Helper()
	s = newStage(t)
	s.script.Instant = false
	var heard []string
	s.on = func(e conduct.Event) {
		switch e.Kind {
		case conduct.EventEngineGone:
			heard = append(heard, "gone: "+e.Why)
		case conduct.EventEngineBack:
			heard = append(heard, fmt.Sprintf("back after %v", e.Waited))
		default:
		}
	}
	return s, func() []string { return heard }
}

// inBubble is a test in whose pauses no time passes.
func inBubble(f func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, f) }
}

var someService = regexp.MustCompile(`watch service \w+:`)

const gone = "fake: no container engine answers"

// An engine that goes and comes back costs the run under way, which is tried once
// more; nothing is left, lost or doubled.
func TestEngineComesBack(t *testing.T) {
	for _, tc := range []struct {
		name    string
		outages []fake.Outage
		told    []string
		states  map[string]int
	}{
		{
			"under load",
			[]fake.Outage{{Run: 2, After: 3 * time.Second, For: 30 * time.Second}},
			[]string{"gone: " + gone, "back after 31.5s"},
			map[string]int{"ok": 12, "failed:infrastructure (services are out of sight: watch service SOME: no container engine answers\nremove the environment: close 2: " + gone + ")": 1},
		},
		{
			"between runs",
			[]fake.Outage{{Run: 3, For: 5 * time.Second}},
			[]string{"gone: " + gone, "back after 7.5s"},
			map[string]int{"ok": 12, "failed:infrastructure (open an environment: " + gone + ")": 1},
		},
		{
			"again and again, with runs between",
			[]fake.Outage{{Run: 1, For: time.Second}, {Run: 3, For: time.Second}, {Run: 7, For: time.Second}, {Run: 9, For: time.Second}, {Run: 13, For: time.Second}, {Run: 15, For: time.Second}},
			[]string{"gone: " + gone, "back after 1.5s", "gone: " + gone, "back after 1.5s", "gone: " + gone, "back after 1.5s", "gone: " + gone, "back after 1.5s", "gone: " + gone, "back after 1.5s", "gone: " + gone, "back after 1.5s"},
			map[string]int{"ok": 12, "failed:infrastructure (open an environment: " + gone + ")": 6},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, told := night(t)
				s.script.Outages = tc.outages
				if r := s.mustConduct(); r.Ended != conduct.EndedDone || r.Missing != 0 {
					t.Errorf("ended %s, %d missing; want done, none", r.Ended, r.Missing)
				}
				if diff := cmp.Diff(told(), tc.told); diff != "" {
					t.Errorf("told (-got +want):\n%s", diff)
				}
				got := map[string]int{}
				for state, n := range s.states() { // any service may be missed first
					got[someService.ReplaceAllString(state, "watch service SOME:")] += n
				}
				if diff := cmp.Diff(got, tc.states); diff != "" {
					t.Errorf("runs by state (-got +want):\n%s", diff)
				}
			})
		})
	}
}

// An engine that is back before it is asked has ended the services all the same: what
// they ended with is no result about them. The failure of a subject under an engine
// that was started anew before it is one.
func TestEngineIsBackBeforeItIsAsked(t *testing.T) {
	for _, tc := range []struct {
		name    string
		outages []fake.Outage
		exit    *fake.Exit
		want    map[string]int
	}{
		{"under load", []fake.Outage{{Run: 2, After: 3 * time.Second, Restart: true}}, nil, map[string]int{"ok": 4, "failed:infrastructure": 1}},
		{"both attempts", []fake.Outage{{Run: 2, After: 3 * time.Second, Restart: true}, {Run: 5, After: 3 * time.Second, Restart: true}}, nil, map[string]int{"ok": 3, "failed:infrastructure": 2}},
		{"before the run", []fake.Outage{{Run: 2, Restart: true}}, nil, map[string]int{"ok": 4}},
		{"a subject that fails by itself", []fake.Outage{{Run: 1, Restart: true}}, &fake.Exit{After: 3 * time.Second, Code: 143}, map[string]int{"failed:subject": 4, "failed:infrastructure": 1}},
	} {
		t.Run(tc.name, inBubble(func(t *testing.T) {
			s, told := night(t)
			s.matrix.Repeat.Rounds = 1
			s.script.Outages = tc.outages
			s.script.Service = s.behave(fake.Behaviour{Exit: tc.exit})
			s.mustConduct()
			if told() != nil {
				t.Errorf("an engine that is there is waited for: %q", told())
			}
			s.wantPlainStates(tc.want)
		}))
	}
}

// An engine on its way down ends the services while it still answers.
func TestEngineEndsTheServicesFirst(t *testing.T) {
	for _, tc := range []struct {
		name string
		exit fake.Exit
		goes time.Duration // after the opening
		want map[string]int
	}{
		{"terminated", fake.Exit{After: 3 * time.Second, Code: 143}, 13 * time.Second, map[string]int{"ok": 4, "failed:infrastructure": 1}},
		{"killed", fake.Exit{After: 3 * time.Second, Code: 137}, 4 * time.Second, map[string]int{"ok": 4, "failed:infrastructure": 1}},
		{"the engine goes much later", fake.Exit{After: 3 * time.Second, Code: 143}, time.Hour, map[string]int{"ok": 3, "failed:subject": 1}},
		{"out of memory", fake.Exit{After: 3 * time.Second, Code: 137, OOMKilled: true}, time.Hour, map[string]int{"ok": 3, "failed:subject": 1}},
	} {
		t.Run(tc.name, inBubble(func(t *testing.T) {
			s, _ := night(t)
			s.matrix.Repeat.Rounds = 1
			s.script.Outages = []fake.Outage{{Run: 2, After: tc.goes, For: 5 * time.Second}}
			healthy := s.behave(fake.Behaviour{})
			s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
				b := healthy(r, svc)
				if r.N == 2 && svc.Name == "app" {
					b.Exit = &tc.exit
				}
				return b
			}
			s.mustConduct()
			s.wantPlainStates(tc.want)
		}))
	}
}

// wantPlainStates counts the runs by state, for whatever reason: any service may be
// missed first.
func (s *stage) wantPlainStates(want map[string]int) {
	s.t.Helper()
	got := map[string]int{}
	for state, n := range s.states() {
		plain, _, _ := strings.Cut(state, " ")
		got[plain] += n
	}
	if diff := cmp.Diff(got, want); diff != "" {
		s.t.Errorf("runs by state (-got +want):\n%s", diff)
	}
}

// An engine that is shutting down still answers, and fails at once whatever it is
// asked for: that is not taken for a host that is broken.
func TestEngineShutsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, told := night(t)
		s.script.Outages = []fake.Outage{{Run: 2, After: 500 * time.Millisecond, For: 5 * time.Second}}
		began := time.Now()
		s.script.Open = func(r fake.Run) error {
			switch {
			case r.N == 2:
				began = time.Now()
			case r.N == 1 || time.Since(began) > 500*time.Millisecond:
				return nil
			}
			return errors.New("shutting down")
		}
		if r := s.mustConduct(); r.Ended != conduct.EndedDone || r.Missing != 0 {
			t.Errorf("ended %s, %d missing; want done, none", r.Ended, r.Missing)
		}
		if diff := cmp.Diff(told(), []string{"gone: " + gone, "back after 7.5s"}); diff != "" {
			t.Errorf("told (-got +want):\n%s", diff)
		}
		s.wantStates(map[string]int{"ok": 12, "failed:infrastructure (open an environment: shutting down)": 1})
	})
}

// A host that is broken is not asked for ever, nor as fast as it fails.
func TestRestsBetweenFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		var asked []time.Time
		s.script.Open = func(fake.Run) error {
			asked = append(asked, time.Now())
			return errors.New("broken")
		}
		if r := s.mustConduct(); r.Ended != conduct.EndedInfrastructure {
			t.Errorf("ended %s, want %s", r.Ended, conduct.EndedInfrastructure)
		}
		var rests []time.Duration
		for i := range asked[1:] {
			rests = append(rests, asked[i+1].Sub(asked[i]))
		}
		if diff := cmp.Diff(rests, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}); diff != "" {
			t.Errorf("rests (-got +want):\n%s", diff)
		}
	})
}

// An engine that stays away ends the invocation, and the next one goes on.
func TestEngineStaysAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, told := night(t)
		s.script.Outages = []fake.Outage{{Run: 6, After: time.Second}}
		s.mayLeave = true
		began := time.Now()
		r := s.mustConduct()
		if want := "the engine did not come back within 10m0s: " + gone; r.Ended != conduct.EndedEngineGone || r.Why != want {
			t.Errorf("ended %s (%s), want %s (%s)", r.Ended, r.Why, conduct.EndedEngineGone, want)
		}
		if took := time.Since(began); took < 10*time.Minute || took > 11*time.Minute {
			t.Errorf("took %v, want the patience of 10 minutes after half a minute of runs", took)
		}
		if diff := cmp.Diff(told(), []string{"gone: " + gone}); diff != "" {
			t.Errorf("told (-got +want):\n%s", diff)
		}
		s.script.Outages, s.mayLeave = nil, false
		if r := s.mustConduct(); r.Ended != conduct.EndedDone {
			t.Errorf("ended %s", r.Ended)
		}
		if got := s.states()["ok"]; got != 12 {
			t.Errorf("%d runs are ok after going on, want 12", got)
		}
	})
}

// Whoever wants to stop need not wait for the engine.
func TestStopWhileEngineIsGone(t *testing.T) {
	for _, tc := range []struct {
		name string
		stop func(s *stage, abort context.CancelFunc)
		want conduct.Ending
	}{
		{"drain", func(s *stage, _ context.CancelFunc) { close(s.drain) }, conduct.EndedDrained},
		{"abort", func(_ *stage, abort context.CancelFunc) { abort() }, conduct.EndedAborted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				s.script.Instant = false
				s.script.Outages = []fake.Outage{{Run: 1, After: time.Second}}
				s.mayLeave = true
				ctx, abort := context.WithCancel(t.Context())
				defer abort()
				var asked time.Time
				s.on = func(e conduct.Event) {
					if e.Kind == conduct.EventEngineGone {
						time.AfterFunc(time.Minute, func() {
							asked = time.Now()
							tc.stop(s, abort)
						})
					}
				}
				r, err := s.conduct(ctx)
				if err != nil || r.Ended != tc.want {
					t.Errorf("ended %s, %v; want %s", r.Ended, err, tc.want)
				}
				if late := time.Since(asked); late != 0 {
					t.Errorf("it took %v to stop", late)
				}
			})
		})
	}
}
