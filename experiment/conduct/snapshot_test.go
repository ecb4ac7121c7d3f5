package conduct_test

import (
	"errors"
	"testing"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
)

// kept makes the store a service whose volume is prepared once.
func (s *stage) kept(steps ...experiment.Step) {
	store := s.service("store")
	store.Volumes = []experiment.Volume{{Name: "data", Target: "/data"}}
	store.Prepare = experiment.Preparation{Steps: steps, Snapshot: true}
}

// An engine that fails while volumes are saved says nothing about the room for them: the
// next attempt keeps them, and no run of the sweep starts from anything but a copy.
func TestSavingFails(t *testing.T) {
	inBubble(func(t *testing.T) {
		s := newStage(t)
		s.matrix.Repeat.Rounds = 1
		s.kept(experiment.Step{Run: run("seed")})
		seeds, saves := 0, 0
		s.answering(func(_ experiment.Service, argv string) (experiment.ExecResult, bool) {
			if argv == "seed" {
				seeds++
			}
			return experiment.ExecResult{}, argv == "seed"
		})
		shelf := shelf{}
		s.change = func(c *conduct.Conductor) { c.Snapshots = shelf }
		s.through(&tap{saved: func() error {
			if saves++; saves == 1 {
				return errors.New("connection reset by the engine")
			}
			return nil
		}})
		s.mustConduct()
		s.wantStates(map[string]int{"ok": 4, "failed:infrastructure (prepare service store: keep its volumes: connection reset by the engine)": 1})
		if seeds != 2 || len(shelf) != 1 {
			t.Errorf("%d preparations, %d snapshots; want 2, 1", seeds, len(shelf))
		}
	})(t)
}

// A container that prepares is part of what the volumes are: another image of the same
// name makes another snapshot.
func TestSnapshotKnowsTheImagesOfItsSteps(t *testing.T) {
	shelf := shelf{}
	for i, id := range []string{"sha256:1", "sha256:1", "sha256:2"} {
		s := newStage(t)
		s.matrix.Repeat.Rounds = 1
		s.kept(experiment.Step{Image: experiment.Literal("migrate:2"), Run: run("up")})
		s.change = func(c *conduct.Conductor) { c.Snapshots = shelf }
		s.through(&tap{images: func(images experiment.Images) {
			images[experiment.Service{Image: "migrate:2"}.Source()] = id
		}})
		s.mustConduct()
		s.wantStates(map[string]int{"ok": 4})
		if want := []int{1, 1, 2}[i]; len(shelf) != want {
			t.Errorf("after images %s: %d snapshots, want %d", id, len(shelf), want)
		}
	}
}
