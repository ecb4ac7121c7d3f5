package main

import (
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// A trial is of one round, whatever the matrix says.
func TestATrialHasOneRound(t *testing.T) {
	m := &experiment.Matrix{Repeat: experiment.RepeatPlan{Rounds: 30, Seed: 4, Stopping: experiment.Stopping{Until: experiment.StopPrecise, Within: 0.01, AtMost: 30}}}
	for _, trial := range []*experiment.Matrix{brieflyOf(m), baselineFor(m, time.Second)} {
		if want := (experiment.RepeatPlan{Rounds: 1, Seed: 4}); trial.Repeat != want {
			t.Errorf("repeated by %+v, want %+v", trial.Repeat, want)
		}
	}
}
