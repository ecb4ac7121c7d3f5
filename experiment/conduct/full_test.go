package conduct_test

import (
	"context"
	"errors"
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
}

func (c *crammed) EndRun(ctx context.Context, o experiment.Outcome, f []experiment.Finding) error {
	if c.runs--; c.runs < 0 {
		return errors.New("database or disk is full")
	}
	return c.Store.EndRun(ctx, o, f)
}

// A disk that fills within a run costs that run alone. Where room is not to be blamed,
// the fault of the store is an error.
func TestStoreIsFull(t *testing.T) {
	const fault = "store run 6: database or disk is full"
	for _, tc := range []struct {
		name string
		free func(experiment.Host) ([]conduct.DiskFree, error)
		why  string // or it is an error
	}{
		{"no room", shrinking(900, 900, 900, 900, 900, 900, 1), "/data has 1.0 MiB left, and a run may need 213.8 MiB (" + fault + ")"},
		{"room enough", shrinking(900), ""},
		{"room unknown", func(experiment.Host) ([]conduct.DiskFree, error) { return nil, errors.New("no such directory") }, ""},
		{"room not asked for", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.change = func(c *conduct.Conductor) { c.Store, c.Free = &crammed{s.store, 5}, tc.free }
			r, err := s.conduct(t.Context())
			if tc.why == "" {
				if err == nil || err.Error() != fault {
					t.Errorf("got %v, want %s", err, fault)
				}
			} else {
				s.wantDiskFull(r, tc.why)
			}
			s.wantStates(map[string]int{"ok": 5, "running": 1, "pending": 6})
			s.change = nil
			s.mustConduct()
			s.wantStates(map[string]int{"ok": 12, "superseded (ok)": 1, "interrupted": 1})
		})
	}
}
