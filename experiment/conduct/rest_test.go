package conduct_test

import (
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/fake"
)

// What an engine that was gone too long has kept is removed by the next invocation of
// the same process, before its first run.
func TestNextInvocationRemovesTheRest(t *testing.T) {
	t.Run("of a run", inBubble(func(t *testing.T) { restIsRemoved(t, time.Second) }))
	t.Run("of an opening that failed", inBubble(func(t *testing.T) { restIsRemoved(t, 0) }))
}

// restIsRemoved lets the engine go so long after the opening of the second run.
func restIsRemoved(t *testing.T, after time.Duration) {
	s, _ := night(t)
	var rest conduct.Rest
	s.change = func(c *conduct.Conductor) { c.Rest = &rest }
	s.script.Outages = []fake.Outage{{Run: 2, After: after, For: 12 * time.Minute}}
	s.mayLeave = true
	if r := s.mustConduct(); r.Ended != conduct.EndedEngineGone {
		t.Fatalf("ended %s, want %s", r.Ended, conduct.EndedEngineGone)
	}
	before := s.runner
	if before.Live() == 0 {
		t.Fatal("the engine that is gone kept nothing")
	}
	time.Sleep(5 * time.Minute)
	s.script.Outages, s.mayLeave = nil, false
	s.script.Open = func(r fake.Run) error {
		if live := before.Live(); live != 0 {
			t.Errorf("%d environments are left when run %d begins", live, r.N)
		}
		return nil
	}
	if r := s.mustConduct(); r.Ended != conduct.EndedDone {
		t.Errorf("ended %s", r.Ended)
	}
}
