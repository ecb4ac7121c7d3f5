package main

import (
	"testing"
	"time"

	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
)

// TestTimeLeft: what is left takes as long as the runs took, however long ago the
// sweep began.
func TestTimeLeft(t *testing.T) {
	me, err := experiment.ThisOwner("db")
	if err != nil {
		t.Skipf("no Linux: %v", err)
	}
	s := db.SweepSummary{
		Rounds: 3, Cells: 4, OK: 4, Invalid: 1, RunTime: 6 * time.Second,
		Began: time.Now().Add(-72 * time.Hour), Owner: me.String(),
	}
	for _, c := range []struct {
		name string
		edit func(*db.SweepSummary)
		want time.Duration
	}{
		{"seven runs to go", func(*db.SweepSummary) {}, 42 * time.Second},
		{"no run yet", func(s *db.SweepSummary) { s.OK, s.Invalid, s.RunTime = 0, 0, 0 }, 0},
		{"done", func(s *db.SweepSummary) { s.OK = 11 }, 0},
		{"stopped", func(s *db.SweepSummary) { s.Outcome = "drained" }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := s
			c.edit(&s)
			if got := sweepLine(s).ETA; got != c.want {
				t.Errorf("%v left, want %v", got, c.want)
			}
		})
	}
}
