package conduct_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/fake"
	"github.com/ceteris/ceteris/runners/load"
)

// haunted is a runner that finds leftovers: at each look those of the next list.
type haunted struct {
	*fake.Runner
	found   [][]experiment.Leftover
	removed []string
}

func (h *haunted) Leftovers(context.Context) ([]experiment.Leftover, error) {
	if len(h.found) == 0 {
		return nil, nil
	}
	now := h.found[0]
	h.found = h.found[1:]
	return now, nil
}

func (h *haunted) Remove(_ context.Context, l experiment.Leftover) error {
	h.removed = append(h.removed, l.Name)
	return nil
}

// TestLeftovers: what a dead owner left goes, also what an engine has made of its
// last wish while the sweep ran; nothing else is touched.
func TestLeftovers(t *testing.T) {
	of := func(name string, fate experiment.OwnerFate) experiment.Leftover {
		return experiment.Leftover{Name: name, Fate: fate}
	}
	s := newStage(t)
	h := &haunted{Runner: fake.New(s.script), found: [][]experiment.Leftover{
		{of("early", experiment.OwnerDead), of("foreign", experiment.OwnerUnknown), of("alive", experiment.OwnerAlive)},
		{of("late", experiment.OwnerDead), of("foreign", experiment.OwnerUnknown), of("alive", experiment.OwnerAlive)},
	}}
	c := &conduct.Conductor{
		Runner: h, Reader: load.Reader{}, Judge: guard.New(), Analyst: analysis.New(), Store: s.store,
		Generator: experiment.Build{Binary: "/loadgen"}, Log: slog.New(slog.DiscardHandler), Now: time.Now, Events: s.on,
	}
	r, err := c.Conduct(t.Context(), conduct.Request{
		Matrix: s.matrix, Drain: s.drain, Rounds: 1,
		Invocation: experiment.Invocation{Began: time.Now(), Owner: "test", Command: []string{"run"}, Version: "test"},
	})
	if err != nil || r.Ended != conduct.EndedDone {
		t.Fatalf("ended %q with %v", r.Ended, err)
	}
	if diff := cmp.Diff(h.removed, []string{"early", "late"}); diff != "" {
		t.Errorf("removed (-got +want):\n%s", diff)
	}
}
