package experiment

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// whole gives a matrix in which every field is set and every slice has elements.
func whole(t *testing.T) *Matrix {
	t.Helper()
	text := func(s string) Template {
		tmpl, err := ParseTemplate(s, Pos{File: "whole.yaml", Line: 1, Column: 1})
		if err != nil {
			t.Fatal(err)
		}
		return tmpl
	}
	within := 30 * time.Second
	return &Matrix{
		Name: "whole", Question: "Why?", Runner: RunnerAuto, Control: true,
		Subject: Subject{
			Services: []ServiceSpec{
				{
					Name: "redis", Image: text("redis:7"), Command: []Template{text("redis-server")},
					Ports: []int{6379}, Role: RoleBacking, At: Pos{Line: 2, Column: 1},
					Ready: &Step{Run: []Template{text("redis-cli"), text("ping")}, Has: text("PONG"), Within: within},
					Process: &ProcessSpec{
						Build: &BuildSpec{Go: "../cmd/store"}, Env: []EnvVar{{Name: "LISTEN", Value: text("${self:6379}")}},
						Command: []Template{text("-v")}, Ready: &Step{Port: 6379, Within: within},
						Confirm: []Step{{Run: []Template{text("id")}, Has: text("0"), Within: within}},
						Limits:  LimitsSpec{CPUs: text("2"), Memory: text("64MiB"), PIDs: text("9")},
					},
				},
				{
					Name: "app", Build: &BuildSpec{Go: "../cmd/app"}, Needs: []string{"redis"}, Ports: []int{8080},
					Env: []EnvVar{
						{Name: "LISTEN", Value: text("${self:8080}")},
						{Name: "REDIS", Value: text("${addr:redis:6379}")},
						{Name: "THREADS", Value: text("${threads}")},
						{Name: "LOG", Value: text("level=${log}")},
					},
					Ready:  &Step{Log: "started [0-9]+", Times: 2, Within: within},
					Limits: LimitsSpec{CPUs: text("1"), Memory: text("256MiB"), PIDs: text("100")},
					Role:   RoleSubject, At: Pos{Line: 9, Column: 1},
					Confirm: []Step{{
						HTTP: text(":8080/config"), JSON: []Extract{{Name: "threads", Path: ".threads"}},
						Has: text("ok"), Is: []Expected{{Name: "threads", Value: text("${threads}")}}, Within: within,
					}},
				},
			},
			Links: []LinkSpec{{From: "app", To: "redis", Port: 6379, Latency: text("${latency}")}},
		},
		Factors: []Factor{
			{Name: "threads", Unit: "threads", Levels: []Level{{Text: "8"}, {Text: "32"}, {Text: "128"}}, Baseline: 1},
			{Name: "log", Levels: []Level{{Text: "off"}, {Text: ""}}},
			{Name: "latency", Unit: "", Levels: []Level{{Text: "0s"}, {Text: "2ms"}}},
		},
		Load: LoadSpec{
			Service: "app", Port: 8080, Requests: []RequestSpec{{Method: "GET", Path: text("/x?u=${random:1..9}")}},
			Closed: &ClosedSpec{Users: text("64"), Think: text("0s")},
			Ramp:   text("0s"), Warmup: WarmupSpec{For: text("1s")}, Measure: MeasureSpec{For: text("4s")}, Timeout: text("10s"),
			Connects: text("64"), KeepAlive: true,
		},
		Place:  PlaceSpec{Subject: "0", Backing: "0", Load: "1", Conductor: RunnerAuto},
		Repeat: RepeatPlan{Rounds: 5, Seed: 42},
		Judge: Settings{
			Metric: "throughput", MinimumEffect: 0.03, Confidence: 0.95, ErrorRate: 0.01,
			Guards: map[string]GuardSetting{"host-noise": {Off: true}},
		},
		Origin: Origin{File: "whole.yaml", Dir: "/matrices"},
	}
}

func TestWholeIsValid(t *testing.T) {
	m := whole(t)
	if err := m.Validate(); err != nil {
		t.Error(err)
	}
	for _, runner := range []string{RunnerDocker, RunnerProcess} {
		if err := m.ForRunner(runner).ValidateRunner(); err != nil {
			t.Errorf("%s: %v", runner, err)
		}
	}
}

// randomFactors gives factors with 2 to 6 levels each and any baseline.
func randomFactors(rng *rand.Rand) []Factor {
	factors := make([]Factor, rng.IntN(6))
	for i := range factors {
		f := Factor{Name: fmt.Sprintf("f%d", i)}
		for l := range 2 + rng.IntN(5) {
			f.Levels = append(f.Levels, Level{Text: fmt.Sprintf("l%d", l)})
		}
		f.Baseline = rng.IntN(len(f.Levels))
		factors[i] = f
	}
	return factors
}
