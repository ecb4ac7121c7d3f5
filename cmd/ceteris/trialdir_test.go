package main

import (
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// A trial removes what killed ones have left, and nothing else.
func TestTrialRemovesWhatDeadOnesLeft(t *testing.T) {
	trials := trialDirs{filepath.Join(t.TempDir(), "trials")}
	mine, err := experiment.ThisOwner("")
	if err != nil {
		t.Fatal(err)
	}
	dead, alive, foreign := mine, mine, mine
	dead.Started = "1"
	alive.PID = os.Getppid()
	if alive.Started, err = experiment.ProcessStart(alive.PID); err != nil {
		t.Fatal(err)
	}
	foreign.Machine, foreign.Boot = "elsewhere", "another"
	nameOf := func(o experiment.Owner) string { return url.PathEscape(o.String()) }
	for _, o := range []experiment.Owner{dead, alive, foreign} {
		if err := os.MkdirAll(filepath.Join(trials.dir, nameOf(o)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := trials.make(t.Context(), slog.New(slog.DiscardHandler))
	if err != nil || dir != filepath.Join(trials.dir, nameOf(mine)) {
		t.Fatalf("got %s, %v", dir, err)
	}
	entries, err := os.ReadDir(trials.dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, e := range entries {
		got[e.Name()] = true
	}
	if diff := cmp.Diff(got, map[string]bool{nameOf(mine): true, nameOf(alive): true, nameOf(foreign): true}); diff != "" {
		t.Errorf("left (-got +want):\n%s", diff)
	}
	for _, o := range []experiment.Owner{alive, foreign} {
		l := experiment.Leftover{Kind: "directory", ID: filepath.Join(trials.dir, nameOf(o)), Owner: o.String()}
		if err := trials.Remove(t.Context(), l); err == nil {
			t.Errorf("%s was removed", o)
		}
	}
}
