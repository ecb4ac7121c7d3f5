package experiment

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func cellNamed(t *testing.T, m *Matrix, label string) Cell {
	t.Helper()
	for _, c := range m.Cells() {
		if c.Label() == label {
			return c
		}
	}
	t.Fatalf("no cell %s", label)
	return Cell{}
}

// TestPlan resolves a varied cell for both runners: factors are put in, addresses
// and own ports are left.
func TestPlan(t *testing.T) {
	m := whole(t)
	for _, c := range []struct {
		runner  string
		redis   string
		limit   float64
		command int
	}{
		{RunnerDocker, "image:redis:7", 0, 1},
		{RunnerProcess, "go:/cmd/store", 2, 1},
	} {
		t.Run(c.runner, func(t *testing.T) {
			p, err := m.ForRunner(c.runner).Plan(cellNamed(t, m, "threads=128"))
			if err != nil {
				t.Fatal(err)
			}
			redis, app := p.Services[0], p.Services[1]
			if redis.Source() != c.redis || redis.Limits.CPUs != c.limit || len(redis.Command) != c.command {
				t.Errorf("redis runs %s with %v CPUs and %d arguments", redis.Source(), redis.Limits.CPUs, len(redis.Command))
			}
			if app.Source() != "go:/cmd/app" || app.Limits != (Limits{CPUs: 1, Memory: 256 << 20, PIDs: 100}) {
				t.Errorf("app runs %s within %+v", app.Source(), app.Limits)
			}
			var env []string
			for _, e := range app.Env {
				env = append(env, e.Name+"="+e.Value.String())
			}
			want := []string{"LISTEN=${self:8080}", "REDIS=${addr:redis:6379}", "THREADS=128", "LOG=level=off"}
			if diff := cmp.Diff(env, want); diff != "" {
				t.Errorf("environment (-got +want):\n%s", diff)
			}
			if got := app.Confirm[0].Is[0].Value.String(); got != "128" {
				t.Errorf("confirm expects %q", got)
			}
		})
	}
}

func TestPlanLoadAndLinks(t *testing.T) {
	m := whole(t)
	p, err := m.Plan(cellNamed(t, m, "latency=2ms"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.Links, []Link{{From: "app", To: "redis", Port: 6379, Latency: 2 * time.Millisecond}}); diff != "" {
		t.Errorf("links (-got +want):\n%s", diff)
	}
	want := Load{
		Service: "app", Port: 8080, Requests: []Request{{Weight: 1, Method: "GET", Path: m.Load.Requests[0].Path}}, Closed: &ClosedLoad{Users: 64},
		Warmup: time.Second, Measure: 4 * time.Second, Timeout: 10 * time.Second, Connections: 64, KeepAlive: true, Seed: 42,
	}
	if diff := cmp.Diff(p.Load, want, templates); diff != "" {
		t.Errorf("load (-got +want):\n%s", diff)
	}
	m.Load.Closed, m.Load.Connects = nil, Template{}
	m.Load.Open = &OpenSpec{Rate: Literal("30/m"), InFlight: Literal("7")}
	if p, err = m.Plan(m.Cells()[0]); err != nil {
		t.Fatal(err)
	}
	if p.Load.Connections != 7 || *p.Load.Open != (OpenLoad{Rate: 0.5, InFlight: 7}) {
		t.Errorf("open load %+v with %d connections", p.Load.Open, p.Load.Connections)
	}
}

// TestPlanTellsAllFaults: errors of several fields of a cell come together.
func TestPlanTellsAllFaults(t *testing.T) {
	m := whole(t)
	m.Load.Closed.Users = Literal("none")
	m.Load.Measure.For = Literal("1ms")
	m.Subject.Services[1].Limits.Memory = Template{parts: []templatePart{{ref: &Ref{Kind: RefFactor, Name: "nobody"}}}}
	_, err := m.Plan(m.Cells()[0])
	want := []string{
		`subject.services.app.limits.memory: ${nobody} has no value here`,
		`load.closed.users: "none" is no whole number`,
		`load.measure: "1ms" is shorter than 100ms`,
	}
	var got []string
	for _, f := range FieldErrors(err) {
		got = append(got, f.Error())
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("errors (-got +want):\n%s", diff)
	}
}

func TestTexts(t *testing.T) {
	m := whole(t)
	p, err := m.Plan(m.Cells()[0])
	if err != nil {
		t.Fatal(err)
	}
	app := p.Services[1]
	if _, _, err := app.Texts(); err == nil || !strings.Contains(err.Error(), "env LISTEN: ${self:8080} is not resolved") {
		t.Errorf("an open reference gave %v", err)
	}
	app = app.Resolve(func(r Ref) (string, bool) { return string(r.Kind), true })
	_, env, err := app.Texts()
	if diff := cmp.Diff(env, []string{"LISTEN=self", "REDIS=addr", "THREADS=32", "LOG=level=off"}); diff != "" || err != nil {
		t.Errorf("environment (-got +want):\n%s%v", diff, err)
	}
}
