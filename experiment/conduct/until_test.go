package conduct_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ceteris/ceteris/experiment/conduct"
)

// A round has 4 runs of 5 s and is finished; none begins at the given time or later.
func TestUntil(t *testing.T) {
	for _, tc := range []struct {
		name  string
		after time.Duration
		ended conduct.Ending
		ok    int
	}{
		{"before the first", 0, conduct.EndedUntil, 0},
		{"within the first", time.Second, conduct.EndedUntil, 4},
		{"just when the second would begin", 20 * time.Second, conduct.EndedUntil, 4},
		{"just after the second began", 20*time.Second + 1, conduct.EndedUntil, 8},
		{"within the last", 45 * time.Second, conduct.EndedDone, 12},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				s.script.Instant = false
				s.until = time.Now().Add(tc.after)
				r := s.mustConduct()
				if got := s.states(); r.Ended != tc.ended || got["ok"] != tc.ok || got["ok"]+got["pending"] != 12 {
					t.Errorf("ended %s with %v; want %s with %d of 12 ok", r.Ended, got, tc.ended, tc.ok)
				}
				s.until = time.Time{}
				if r := s.mustConduct(); r.Ended != conduct.EndedDone {
					t.Errorf("ended %s", r.Ended)
				}
				s.wantStates(map[string]int{"ok": 12})
			})
		})
	}
}
