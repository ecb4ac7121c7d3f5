package fake_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/fake"
	"github.com/ceteris/ceteris/runners/load"
)

// A load in a file, with phases and named requests, is told of as the real generator
// does.
func TestGeneratorTellsOfPhasesAndRequests(t *testing.T) {
	l := experiment.Load{
		Requests: []experiment.Request{{Name: "search", Weight: 3}, {Name: "buy", Weight: 1}},
		Phases: []experiment.LoadPhase{
			{Name: "calm", For: 2 * time.Second},
			{Name: "spike", For: 3 * time.Second, Measure: true},
			{Name: "recovery", For: 5 * time.Second, Measure: true},
		},
	}
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		env, err := fake.New(fake.Script{}).Open(t.Context(), experiment.RunKey{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := env.Launch(t.Context(), experiment.Service{
			Name: experiment.GeneratorName, Role: experiment.RoleLoad, Build: &experiment.Build{Binary: "/generator"},
			Files: []experiment.File{{Path: experiment.LoadPath, Content: experiment.Literal(string(text))}},
			Env:   []experiment.EnvVar{{Name: experiment.GeneratorEnv, Value: experiment.Literal("@" + experiment.LoadPath)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Logs(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		r, err := load.Reader{}.Read(t.Context(), out, func(e experiment.LoadEvent) { parts = append(parts, string(e.Phase)+" "+e.Part) })
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(parts, []string{"warmup calm", "measure spike", "measure recovery", "drain ", "done "}); d != "" {
			t.Errorf("phases (-got +want):\n%s", d)
		}
		if d := cmp.Diff(r.Parts, load.Parts(l)); d != "" || r.Window != 8*time.Second {
			t.Errorf("parts (-got +want):\n%s\nwindow %v", d, r.Window)
		}
		for metric, want := range map[string]float64{
			"throughput": 1000, "requests_done": 8000, "spike:throughput": 1000, "recovery:throughput{search}": 750, "spike:offered{buy}": 250,
		} {
			if got, ok := experiment.Observed(r.Observations, metric); !ok || got != want {
				t.Errorf("%s is %g, want %g", metric, got, want)
			}
		}
		if err := env.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
