package conduct

import (
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

func TestHardLimitSums(t *testing.T) {
	const minute = time.Minute
	of := func(s experiment.Service) experiment.CellPlan {
		return experiment.CellPlan{Services: []experiment.Service{s}}
	}
	within := []experiment.Step{{Within: minute}, {Within: 2 * minute}}
	for _, tc := range []struct {
		name string
		plan experiment.CellPlan
		want time.Duration // beside the slack
	}{
		{"nothing", experiment.CellPlan{}, 0},
		{"load", experiment.CellPlan{Load: experiment.Load{Ramp: 1, Warmup: 2, Measure: 3, Timeout: 4}}, 10},
		{"another generator", experiment.CellPlan{Load: experiment.Load{Warmup: 1, Measure: 2, External: &experiment.External{Within: 5}}}, 5},
		{"phases", experiment.CellPlan{Load: experiment.Load{Phases: []experiment.LoadPhase{{For: 1}, {For: 2}}, Timeout: 4}}, 7},
		{"ready", of(experiment.Service{Ready: &experiment.Step{Within: minute}}), minute},
		{"ready by default", of(experiment.Service{Ready: &experiment.Step{}}), experiment.DefaultReadyWithin},
		{"job", of(experiment.Service{Job: true, JobWithin: 3 * minute}), 3 * minute},
		{"job by default", of(experiment.Service{Job: true}), experiment.DefaultJobWithin},
		{"no job", of(experiment.Service{JobWithin: 3 * minute}), 0},
		{"confirm", of(experiment.Service{Confirm: within}), 3 * minute},
		{"prepare", of(experiment.Service{Prepare: experiment.Preparation{Steps: within}}), 3 * minute},
		{"prepare of the whole", experiment.CellPlan{Prepare: within}, 3 * minute},
		{"collect at both ends and between", of(experiment.Service{Collect: []experiment.Collect{{
			Step:    experiment.Step{Within: minute},
			Moments: []experiment.Moment{experiment.MomentStart, experiment.MomentEnd, experiment.MomentDuring},
		}}}), 2 * minute},
		{"replicas, one after another", of(experiment.Service{
			Replicas: 3, Ready: &experiment.Step{Within: minute}, Prepare: experiment.Preparation{Steps: within}, Confirm: within,
			Collect: []experiment.Collect{{Step: experiment.Step{Within: minute}}},
		}), 3 * 8 * minute},
		{"collect by default", experiment.CellPlan{Collect: []experiment.Collect{{}}}, experiment.DefaultConfirmWithin},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := hardLimit(tc.plan) - slack; got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
