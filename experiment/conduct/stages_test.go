package conduct_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/fake"
)

// Stages run one after another, each with rounds of its own; a cell that is suspended
// in one runs in the next, and baseline and control of every stage always do.
func TestStages(t *testing.T) {
	s := newStage(t)
	s.matrix.Repeat.Rounds = 3
	s.matrix.Design.Stages = []experiment.Stage{
		{Name: "first"},
		{Name: "second", Baseline: []experiment.Setting{{Factor: "log", Level: "info"}}},
	}
	healthy := s.behave(fake.Behaviour{})
	s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
		if svc.Name == "app" && variable(svc, "THREADS") == "8" {
			return fake.Behaviour{Exit: &fake.Exit{Code: 3}}
		}
		return healthy(r, svc)
	}
	var ran, rounds []string
	s.on = func(e conduct.Event) {
		switch e.Kind {
		case conduct.EventRunEnded:
			block := fmt.Sprintf("%s %d", e.Cell.Stage, e.Round)
			if len(ran) == 0 || ran[len(ran)-1] != block {
				ran = append(ran, block)
			}
		case conduct.EventRound:
			rounds = append(rounds, fmt.Sprintf("%s %d", e.Stage, e.Round))
		default:
		}
	}
	if r := s.mustConduct(); r.Ended != conduct.EndedDone {
		t.Errorf("ended %s", r.Ended)
	}
	want := []string{"first 1", "first 2", "first 3", "second 1", "second 2", "second 3"}
	if diff := cmp.Diff(ran, want); diff != "" {
		t.Errorf("runs by stage and round (-got +want):\n%s", diff)
	}
	if !slices.Equal(rounds, want) {
		t.Errorf("rounds told: %v", rounds)
	}
	s.wantStates(map[string]int{
		"ok": 18, "skipped (suspended)": 2,
		"failed:subject (start service app: exited with code 3 before it was ready)": 4,
	})
}
