package conduct

import (
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/fake"
)

// What ended while the engine went says nothing about the subject; what ended well,
// or because somebody wanted it to, stays what it is.
func TestEngineLost(t *testing.T) {
	for _, tc := range []struct {
		name  string
		run   experiment.Run
		fault error
		want  experiment.Run
		lost  bool
	}{
		{"ok", experiment.Run{State: experiment.StateOK}, experiment.ErrNoRuntime, experiment.Run{State: experiment.StateOK}, false},
		{
			"interrupted",
			experiment.Run{State: experiment.StateInterrupted, Reason: "aborted"},
			experiment.ErrNoRuntime,
			experiment.Run{State: experiment.StateInterrupted, Reason: "aborted"},
			false,
		},
		{
			"the engine is there",
			experiment.Run{State: experiment.StateFailedSubject, Reason: "oom: app"},
			nil,
			experiment.Run{State: experiment.StateFailedSubject, Reason: "oom: app"},
			false,
		},
		{
			"the subject ended with the engine",
			experiment.Run{State: experiment.StateFailedSubject, Reason: "restarted: app ended with 143 under load"},
			experiment.ErrNoRuntime,
			experiment.Run{State: experiment.StateFailedInfra, Reason: "no container engine answers (before that: restarted: app ended with 143 under load)"},
			true,
		},
		{
			"the result ended with the engine",
			experiment.Run{State: experiment.StateInvalid, Reason: "result-incomplete"},
			experiment.ErrNoRuntime,
			experiment.Run{State: experiment.StateFailedInfra, Reason: "no container engine answers (before that: result-incomplete)"},
			true,
		},
		{
			"as said",
			experiment.Run{State: experiment.StateFailedInfra, Reason: "open an environment: refused"},
			experiment.ErrNoRuntime,
			experiment.Run{State: experiment.StateFailedInfra, Reason: "open an environment: refused"},
			true,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &sweep{Conductor: &Conductor{Log: slog.New(slog.DiscardHandler), Runner: fake.New(fake.Script{CheckFault: tc.fault})}}
			o := experiment.Outcome{Run: tc.run}
			lost := s.engineLost(t.Context(), "", &o)
			if (lost != nil) != tc.lost {
				t.Errorf("lost: %v", lost)
			}
			if diff := cmp.Diff(o.Run, tc.want); diff != "" {
				t.Errorf("run (-got +want):\n%s", diff)
			}
		})
	}
}
