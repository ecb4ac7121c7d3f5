package conduct_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/fake"
)

// jumping gives clocks that are moved once, so long after the test began. The
// generator's stay.
func jumping(at, wall, mono time.Duration) func() conduct.Clocks {
	read := conduct.SystemClocks()
	return func() conduct.Clocks {
		now := read()
		if now.Mono >= at {
			now.Wall, now.Mono = now.Wall.Add(wall), now.Mono+mono
		}
		return now
	}
}

// Of 4 runs of 8 s the second is disturbed, whose window is from 12 s to 16 s. It is
// invalid, and tried once more.
func TestClocks(t *testing.T) {
	const over, under = 1001 * time.Millisecond, 999 * time.Millisecond
	for _, tc := range []struct {
		name           string
		at, wall, mono time.Duration
		want           string
	}{
		{"the host sleeps in the window", 14 * time.Second, over, 0, "invalid (host-suspended)"},
		{"the host sleeps before the window", 9 * time.Second, over, 0, "invalid (host-suspended)"},
		{"the clock is set back", 14 * time.Second, -over, 0, "invalid (host-suspended)"},
		{"the clocks move apart a little less", 14 * time.Second, under, 0, ""},
		{"the conductor is stopped in the window", 14 * time.Second, over, over, "invalid (conductor-paused)"},
		{"the conductor is stopped a little less", 14 * time.Second, under, under, ""},
		{"the conductor is stopped before the window", 9 * time.Second, over, over, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				s.script.Instant = false
				s.script.Service = s.behave(fake.Behaviour{ReadyAfter: 3 * time.Second})
				s.matrix.Repeat.Rounds = 1
				clocks := jumping(tc.at, tc.wall, tc.mono)
				s.change = func(c *conduct.Conductor) { c.Clocks = clocks }
				if r := s.mustConduct(); r.Ended != conduct.EndedDone || r.Missing != 0 {
					t.Errorf("ended %s, %d missing", r.Ended, r.Missing)
				}
				want := map[string]int{"ok": 4}
				if tc.want != "" {
					want[tc.want] = 1
				}
				s.wantStates(want)
			})
		})
	}
}
