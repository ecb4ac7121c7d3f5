package conduct_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
)

// shrinking gives the room before each look; the last stays.
func shrinking(free ...int64) func(experiment.Host) ([]conduct.DiskFree, error) {
	return func(experiment.Host) ([]conduct.DiskFree, error) {
		now := free[0]
		if len(free) > 1 {
			free = free[1:]
		}
		return []conduct.DiskFree{{Path: "/data", Free: now << 20, Floor: 64 << 20}}, nil
	}
}

func (s *stage) wantDiskFull(r conduct.Result, why string) {
	s.t.Helper()
	if r.Ended != conduct.EndedDiskFull || r.Why != why {
		s.t.Errorf("ended %s (%s), want %s (%s)", r.Ended, r.Why, conduct.EndedDiskFull, why)
	}
}

// Without room no run begins; with room again the sweep goes on.
func TestDiskFills(t *testing.T) {
	s := newStage(t)
	s.change = func(c *conduct.Conductor) { c.Free = shrinking(900, 900, 900, 900, 900, 60) }
	s.wantDiskFull(s.mustConduct(), "/data has 60.0 MiB left, and a run may need 232.0 MiB")
	s.wantStates(map[string]int{"ok": 5, "pending": 7})
	s.change = nil
	if r := s.mustConduct(); r.Ended != conduct.EndedDone {
		t.Errorf("ended %s", r.Ended)
	}
	s.wantStates(map[string]int{"ok": 12, "superseded (ok)": 1})
}

// crammed is a store that cannot take a run any more.
type crammed struct {
	experiment.Store
	runs int
	err  error
}

func (c *crammed) EndRun(ctx context.Context, o experiment.Outcome, f []experiment.Finding) error {
	if c.runs--; c.runs < 0 {
		return c.err
	}
	return c.Store.EndRun(ctx, o, f)
}

// A disk that fills within a run costs that run alone. Another fault of the store is an
// error.
func TestStoreIsFull(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		full bool
	}{
		{"no room", fmt.Errorf("t.db: %w", experiment.ErrDiskFull), true},
		{"another fault", errors.New("the file is gone"), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.change = func(c *conduct.Conductor) { c.Store = &crammed{s.store, 5, tc.err} }
			r, err := s.conduct(t.Context())
			fault := "store run 6: " + tc.err.Error()
			if tc.full {
				s.wantDiskFull(r, fault)
			} else if err == nil || err.Error() != fault {
				t.Errorf("got %v, want %s", err, fault)
			}
			s.wantStates(map[string]int{"ok": 5, "running": 1, "pending": 6})
			s.change = nil
			s.mustConduct()
			s.wantStates(map[string]int{"ok": 12, "superseded (ok)": 1, "interrupted": 1})
		})
	}
}

// lateFault is a store that fails when it reads the sweep for the n-th time.
type lateFault struct {
	experiment.Store
	n    int
	fail func() error
}

func (l *lateFault) LoadSweep(ctx context.Context, id int64) (experiment.Sweep, error) {
	if l.n--; l.n == 0 {
		return experiment.Sweep{}, l.fail()
	}
	return l.Store.LoadSweep(ctx, id)
}

// Wherever the disk is found full, or the abort comes, it is that which ended the
// invocation, and no fault.
func TestEndsBetweenRuns(t *testing.T) {
	full := fmt.Errorf("t.db: %w", experiment.ErrDiskFull)
	for _, tc := range []struct {
		name  string
		n     int // 1: when the sweep begins, 2: after its first round
		abort bool
		ended conduct.Ending
		ran   int
	}{
		{"full before the first run", 1, false, conduct.EndedDiskFull, 0},
		{"full after a round", 2, false, conduct.EndedDiskFull, 4},
		{"aborted before the first run", 1, true, conduct.EndedAborted, 0},
		{"aborted after a round", 2, true, conduct.EndedAborted, 4},
	} {
		t.Run(tc.name, inBubble(func(t *testing.T) {
			s := newStage(t)
			ctx, abort := context.WithCancel(t.Context())
			defer abort()
			s.change = func(c *conduct.Conductor) {
				c.Store = &lateFault{s.store, tc.n, func() error {
					if tc.abort {
						abort()
						return ctx.Err()
					}
					return full
				}}
			}
			r, err := s.conduct(ctx)
			if err != nil || r.Ended != tc.ended || r.Counts[experiment.StateOK] != tc.ran {
				t.Errorf("ended %s after %v, %v; want %s after %d runs", r.Ended, r.Counts, err, tc.ended, tc.ran)
			}
			s.change = nil
			if r := s.mustConduct(); r.Ended != conduct.EndedDone {
				t.Errorf("ended %s", r.Ended)
			}
			s.wantStates(map[string]int{"ok": 12})
		}))
	}
}
