package runnertest

import (
	"crypto/rand"
	"os/exec"
	"slices"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// testLeftovers runs services for an owner that has died and for one that lives,
// and lets a fresh runner clean.
func testLeftovers(t *testing.T, s *suite) {
	owner, die := helper(t)
	dead, living := s.openFor(t, owner), s.open(t)
	lost, kept := s.Subject("stubborn"), s.Subject("serve")
	lost.Volumes = []experiment.Volume{{Name: "data", Target: "/data"}}
	lostProc, keptProc := dead.launch(lost), living.launch(kept)
	addr, err := lostProc.Addr(SubjectPort, experiment.FromConductor)
	if err != nil {
		t.Fatal(err)
	}
	fresh := s.New(t)
	cleaner, ok := fresh.(experiment.Cleaner)
	if !ok {
		t.Fatalf("%T is no Cleaner", fresh)
	}
	if n := clean(t, cleaner, dead.owner); n != 0 {
		t.Fatalf("%d leftovers of an owner that lives counted as a dead one's", n)
	}
	die()
	if n := clean(t, cleaner, dead.owner); n == 0 {
		t.Fatal("no leftovers of the dead owner found")
	}
	if s.Capabilities.Serves && !refused(t.Context(), addr) {
		t.Error("the dead owner's service still listens")
	}
	if left := s.remains(t, dead.owner); len(left) > 0 {
		t.Errorf("left of the dead owner: %q", left)
	}
	if s.Capabilities.Serves {
		if got := living.get(keptProc, "/healthz"); got != "ok\n" {
			t.Errorf("the living owner's service: got %q", got)
		}
	}
	refuseToRemove(t, cleaner, living.owner)
	if s.Capabilities.Serves {
		living.get(keptProc, "/healthz")
	}
}

// leftoversOf lists what belongs to an owner.
func leftoversOf(t *testing.T, c experiment.Cleaner, owner string) []experiment.Leftover {
	t.Helper()
	all, err := c.Leftovers(within(t, patience))
	if err != nil {
		t.Fatalf("leftovers: %v", err)
	}
	return slices.DeleteFunc(all, func(l experiment.Leftover) bool { return l.Owner != owner })
}

// clean removes what a dead owner left and says how much that was.
func clean(t *testing.T, c experiment.Cleaner, owner string) int {
	t.Helper()
	n := 0
	for _, l := range leftoversOf(t, c, owner) {
		if l.Fate != experiment.OwnerDead {
			continue
		}
		n++
		if err := c.Remove(within(t, patience), l); err != nil {
			t.Errorf("remove %s %s: %v", l.Kind, l.Name, err)
		}
	}
	return n
}

// refuseToRemove checks that what belongs to a living owner is listed as such and
// not removed, whoever asks.
func refuseToRemove(t *testing.T, c experiment.Cleaner, owner string) {
	t.Helper()
	all := leftoversOf(t, c, owner)
	for _, l := range all {
		if l.Fate != experiment.OwnerAlive {
			t.Errorf("%s %s: its owner is %s, want %s", l.Kind, l.Name, l.Fate, experiment.OwnerAlive)
		}
		if err := c.Remove(within(t, patience), l); err == nil {
			t.Errorf("%s %s of a living owner was removed", l.Kind, l.Name)
		}
	}
	if len(all) == 0 {
		t.Error("what belongs to a living owner is not listed")
	}
}

// helper starts a process to own something, and gives its identity and the means
// to end it.
func helper(t *testing.T) (owner experiment.Owner, die func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	die = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(die)
	owner, err := experiment.ThisOwner("conformance-" + rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	owner.PID = cmd.Process.Pid
	if owner.Started, err = experiment.ProcessStart(owner.PID); err != nil {
		t.Fatal(err)
	}
	return owner, die
}
