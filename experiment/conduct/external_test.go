package conduct_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/experiment/matrixfile"
	"github.com/ceteris/ceteris/runners/fake"
)

// rateReader reads "rate N", "window D" behind it where the tool tells that, and "cut" behind it as a sign that there was to be more. It
// notes the spans that it is given.
type rateReader struct{ spans []experiment.Span }

func (r *rateReader) ReadOutput(from io.Reader, span experiment.Span) (experiment.LoadResult, error) {
	r.spans = append(r.spans, span)
	body, err := io.ReadAll(from)
	if err != nil {
		return experiment.LoadResult{}, err
	}
	var rate float64
	out := experiment.LoadResult{Tool: "ratetool 1", Format: "text", Unknown: []experiment.Unknown{{Metric: "latency_p99", Why: "never told"}}}
	if len(body) == 0 {
		return out, fmt.Errorf("%w: it is empty", experiment.ErrIncomplete)
	}
	if _, err := fmt.Sscanf(string(body), "rate %g", &rate); err != nil {
		return out, fmt.Errorf("no rate in %q", body)
	}
	if at := strings.Index(string(body), "window "); at >= 0 {
		if out.Window, err = time.ParseDuration(strings.Fields(string(body[at:]))[1]); err != nil {
			return out, err
		}
	}
	out.Observations = []experiment.Observation{
		{Metric: "throughput", Phase: experiment.PhaseMeasure, Value: rate, Unit: experiment.UnitPerSecond},
		{Metric: "requests_done", Phase: experiment.PhaseMeasure, Value: 10 * rate, Unit: experiment.UnitCount},
	}
	if strings.Contains(string(body), "cut") {
		return out, fmt.Errorf("%w: it is cut off", experiment.ErrIncomplete)
	}
	return out, nil
}

// driven gives a stage whose load is driven by another generator, in one round.
func driven(t *testing.T, keys string) (*stage, *rateReader) {
	t.Helper()
	s := newStage(t)
	src := strings.Replace(matrix, matrix[strings.Index(matrix, "load: "):strings.Index(matrix, "repeat:")], "load: {"+keys+"}\ncontrol: false\n", 1)
	src = strings.Replace(src, "rounds: 3", "rounds: 1", 1)
	src = strings.Replace(src, "threads: {baseline: 32, levels: [8, 32]}\n  ", "", 1)
	src = strings.Replace(src, `"${threads}", LOG`, `"32", LOG`, 1)
	src = strings.Replace(src, `is: {threads: "${threads}"}`, `is: {threads: "32"}`, 1)
	m, err := matrixfile.Parse("driven.yaml", t.TempDir(), []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	s.matrix = m.ForRunner(experiment.RunnerDocker)
	reader := &rateReader{}
	s.change = func(c *conduct.Conductor) { c.Readers = map[string]experiment.OutputReader{"wrk": reader} }
	return s, reader
}

// generates says how the generator behaves.
func (s *stage) generates(b fake.Behaviour) {
	healthy := s.script.Service
	s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
		if svc.Name == experiment.GeneratorName {
			return b
		}
		return healthy(r, svc)
	}
}

func TestExternal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, reader := driven(t, `to: "app:80", image: "wrk:1", command: ["-o", "${file:/out/r}", "http://${addr:app:80}/${log}", "-t${env:TOKEN}"], files: {/s.lua: "-- ${addr:app:80}"}, output: /out/r, reader: wrk`)
		rec := s.record()
		s.secrets = map[string]string{"TOKEN": "sesame-street"}
		var launched experiment.Service
		healthy := s.script.Service
		s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
			switch svc.Name {
			case experiment.GeneratorName:
				launched = svc
				return fake.Behaviour{Exit: &fake.Exit{After: 10 * time.Second}, Stderr: "busy with sesame-street\n", Files: map[string]string{"/out/r": "rate 50"}, CPU: 0.5}
			case "app":
				b := healthy(r, svc)
				b.CPU = 0.25
				return b
			}
			return healthy(r, svc)
		}
		s.mustConduct()
		s.wantStates(map[string]int{"ok": 2})
		argv, _, err := launched.Texts()
		if err != nil {
			t.Fatal(err)
		}
		files, err := launched.FileTexts()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(argv, []string{"-o", "/out/r", "http://app.invalid:80/info", "-tsesame-street"}); diff != "" && argv[2] != "http://app.invalid:80/off" {
			t.Errorf("command (-got +want):\n%s", diff)
		}
		if files["/s.lua"] != "-- app.invalid:80" || launched.Role != experiment.RoleLoad || len(launched.Cores) == 0 {
			t.Errorf("launched with files %v, role %s, cores %v", files, launched.Role, launched.Cores)
		}
		if diff := cmp.Diff(reader.spans, make([]experiment.Span, 2)); diff != "" {
			t.Errorf("spans of a window that is the whole (-got +want):\n%s", diff)
		}
		o := rec.outcomes[0]
		for metric, want := range map[string]float64{"throughput": 50, "app.cpu": 0.25, "generator.cpu": 0.5, "generator.ready_seconds": 0} {
			if v, ok := o.Observed(metric); !ok || v < want-0.01 || v > want+0.01 {
				t.Errorf("%s is %v, %v, want %v", metric, v, ok, want)
			}
		}
		if o.Result.Window != 10*time.Second || o.Result.Tool != "ratetool 1" || o.Generator.Image != "wrk:1" || len(o.Exits) != 0 {
			t.Errorf("window %v, tool %q, generator %q, exits %v", o.Result.Window, o.Result.Tool, o.Generator.Image, o.Exits)
		}
		kept := map[string]string{}
		for _, a := range o.Artifacts {
			kept[a.Service+"/"+a.Name] = string(a.Body)
		}
		if diff := cmp.Diff(kept, map[string]string{"generator/output": "rate 50", "generator/log": "busy with ***\n"}); diff != "" {
			t.Errorf("kept (-got +want):\n%s", diff)
		}
	})
}

// The window is a part of the time in which the generator works, where the matrix says so.
func TestExternalWindow(t *testing.T) {
	for _, tc := range []struct {
		name, keys string
		works      time.Duration
		begin, end time.Duration // of the span, from the launch on; negative: no bound
		window     time.Duration
		note       string
	}{
		{"all of it", "", 10 * time.Second, -1, -1, 10 * time.Second, ""},
		{"a part", ", warmup: 2s, measure: 5s", 10 * time.Second, 2 * time.Second, 7 * time.Second, 5 * time.Second, ""},
		{"from a time on", ", warmup: 2s", 10 * time.Second, 2 * time.Second, -1, 8 * time.Second, ""},
		{"it ends with the window", ", measure: 10s", 10 * time.Second, 0, 10 * time.Second, 10 * time.Second, ""},
		{"it ends a little early", ", measure: 10s", 9500 * time.Millisecond, 0, 9500 * time.Millisecond, 9500 * time.Millisecond, ""},
		{"it ends early", ", measure: 10s", 6 * time.Second, 0, 6 * time.Second, 6 * time.Second, "it ended 4s before the window of 10s did"},
		{"it ends at once", "", 0, -1, -1, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, reader := driven(t, `image: "wrk:1", reader: wrk`+tc.keys)
				rec := s.record()
				s.generates(fake.Behaviour{Exit: &fake.Exit{After: tc.works}, Stdout: "rate 50"})
				var began time.Time
				s.script.Open = func(fake.Run) error { began = time.Now(); return nil }
				s.mustConduct()
				s.wantStates(map[string]int{"ok": 2})
				span := reader.spans[1]
				bound := func(at time.Time) time.Duration {
					if at.IsZero() {
						return -1
					}
					return at.Sub(began)
				}
				o := rec.outcomes[1]
				if bound(span.Begin) != tc.begin || bound(span.End) != tc.end || o.Result.Window != tc.window {
					t.Errorf("span %v to %v, window %v; want %v to %v, %v", bound(span.Begin), bound(span.End), o.Result.Window, tc.begin, tc.end, tc.window)
				}
				if tc.note == "" && len(o.Result.Notes) > 0 || tc.note != "" && (len(o.Result.Notes) != 1 || o.Result.Notes[0].Text != tc.note) {
					t.Errorf("notes %+v, want %q", o.Result.Notes, tc.note)
				}
				if cpu, ok := o.Observed("app.cpu"); ok != (tc.works > 0) {
					t.Errorf("app.cpu is %v, %v", cpu, ok)
				}
			})
		})
	}
}

// Throughput and counters of different windows are no pair, unless the matrix made it so.
func TestExternalOfAnotherWindow(t *testing.T) {
	const warning = ", and the counters of services are of the 10s in which it worked: declare warmup and measure, and both are of one window"
	for name, tc := range map[string]struct{ keys, window, want string }{
		"shorter":            {"", " window 9400ms", "its result is of 9.4s" + warning},
		"longer":             {"", " window 20s", "its result is of 20s" + warning},
		"within a twentieth": {"", " window 9500ms", ""},
		"not told":           {"", "", ""},
		"warm-up alone":      {", warmup: 5s", " window 10s", "its result is of 10s" + strings.Replace(warning, "10s", "5s", 1)},
		"declared":           {", warmup: 2s, measure: 5s", " window 10s", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := driven(t, `image: "wrk:1", reader: wrk`+tc.keys)
				rec := s.record()
				s.generates(fake.Behaviour{Exit: &fake.Exit{After: 10 * time.Second}, Stdout: "rate 50" + tc.window})
				s.mustConduct()
				var want []experiment.LoadNote
				if tc.want != "" {
					want = []experiment.LoadNote{{Severity: experiment.SeverityWarn, Text: tc.want}}
				}
				if diff := cmp.Diff(rec.outcomes[0].Result.Notes, want); diff != "" {
					t.Errorf("notes (-got +want):\n%s", diff)
				}
			})
		})
	}
}

// What became of a generator decides about the run, unless a service explains it.
func TestExternalEnds(t *testing.T) {
	after := func(d time.Duration, code int) *fake.Exit { return &fake.Exit{After: d, Code: code} }
	for _, tc := range []struct {
		name, keys string
		generator  fake.Behaviour
		app        *fake.Exit
		states     map[string]int
		notes      []string
	}{
		{
			"a whole result beside a failure is kept", "",
			fake.Behaviour{Exit: after(time.Second, 99), Stdout: "rate 50"},
			nil,
			map[string]int{"ok": 2},
			[]string{"it ended with exit code 99"},
		},
		{
			"a result that is cut off is kept, and invalid", "",
			fake.Behaviour{Exit: after(time.Second, 0), Stdout: "rate 50 cut"},
			nil,
			map[string]int{"invalid (result-incomplete)": 2},
			[]string{"result incomplete: it is cut off"},
		},
		{
			"no result", "",
			fake.Behaviour{Exit: after(time.Second, 2), Stderr: "cannot resolve app\n"},
			nil,
			map[string]int{"failed:infrastructure (the load generator ended with 2: result incomplete: it is empty; it said: cannot resolve app)": 4},
			nil,
		},
		{
			"another's result", "",
			fake.Behaviour{Exit: after(time.Second, 0), Stdout: "usage: wrk"},
			nil,
			map[string]int{`failed:infrastructure (the load generator ended with 0: no rate in "usage: wrk"; it said: usage: wrk)`: 4},
			nil,
		},
		{
			"no file", ", output: /out/r",
			fake.Behaviour{Exit: after(time.Second, 0)},
			nil,
			map[string]int{"failed:infrastructure (the load generator ended with 0: read its output: read /out/r in service generator: file does not exist)": 4},
			nil,
		},
		{
			"it does not end", ", within: 30s",
			fake.Behaviour{Exit: after(time.Hour, 0), Stdout: "rate 50"},
			nil,
			map[string]int{"failed:infrastructure (the load generator did not end within 30s; it said: rate 50)": 4},
			nil,
		},
		{
			"it ends before the window", ", warmup: 5s",
			fake.Behaviour{Exit: after(2*time.Second, 1), Stdout: "rate 50"},
			nil,
			map[string]int{"failed:infrastructure (the load generator ended with 1 after 2s, before the window began; it said: rate 50)": 4},
			nil,
		},
		{
			"it cannot be started", "",
			fake.Behaviour{Fault: errors.New("no such image")},
			nil,
			map[string]int{"failed:infrastructure (start service generator: no such image)": 4},
			nil,
		},
		{
			"the subject ends under load", "",
			fake.Behaviour{Exit: after(20*time.Second, 0), Stdout: "rate 50"},
			after(5*time.Second, 3),
			map[string]int{"failed:subject (restarted: app ended with 3 under load)": 2},
			nil,
		},
		{
			"the end of the subject becomes known after that of the generator", "",
			fake.Behaviour{Exit: after(5*time.Second, 1)},
			after(6*time.Second, 3),
			map[string]int{"failed:subject (restarted: app ended with 3 under load)": 2},
			nil,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := driven(t, `image: "wrk:1", reader: wrk`+tc.keys)
				rec := s.record()
				s.script.Service = s.behave(fake.Behaviour{Exit: tc.app})
				s.generates(tc.generator)
				s.mustConduct()
				s.wantStates(tc.states)
				var notes []string
				for _, n := range rec.outcomes[0].Result.Notes {
					notes = append(notes, n.Text)
				}
				if diff := cmp.Diff(notes, tc.notes); diff != "" {
					t.Errorf("notes (-got +want):\n%s", diff)
				}
				if _, ok := rec.outcomes[0].Observed("throughput"); ok != (tc.notes != nil) {
					t.Errorf("throughput known: %v", ok)
				}
			})
		})
	}
}

// An output of which the runner says that a part is gone is no result, whatever the rest
// may be taken for.
func TestExternalOutputIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := driven(t, `image: "wrk:1", reader: wrk`)
		rec := s.record()
		s.through(&tap{broken: errors.New("the head is gone")})
		s.generates(fake.Behaviour{Exit: &fake.Exit{After: time.Second}, Stdout: "rate 50"})
		s.mustConduct()
		s.wantStates(map[string]int{"failed:infrastructure (the load generator ended with 0: the head is gone; it said: rate 50)": 4})
		if v, ok := rec.outcomes[0].Observed("throughput"); ok {
			t.Errorf("throughput is %g", v)
		}
	})
}

// Values are taken out of what no reader knows.
func TestExtract(t *testing.T) {
	for _, tc := range []struct {
		name, extract, output string
		want                  map[string]float64
		unknown               []experiment.Unknown
		reason                string
	}{
		{
			"text", `{regex: '(?P<throughput>[0-9.]+)/s p99=(?P<latency_p99>\S+)'}`, "1.5/s p99=4.5ms\n12.5/s p99=12.5ms\n",
			map[string]float64{"throughput": 12.5, "latency_p99": 0.0125},
			nil, "",
		},
		{
			"JSON, more than one", `[{json: {throughput: .rate}}, {json: {saved: .b, lost: .c}, unit: B}]`, `{"rate": 3, "b": 7}`,
			map[string]float64{"throughput": 3, "saved": 7},
			[]experiment.Unknown{{Metric: "lost", Why: "the output does not tell it"}},
			"",
		},
		{
			"no number", `{csv: {throughput: rate, saved: b}}`, "rate,b\n5,many\n",
			map[string]float64{"throughput": 5},
			[]experiment.Unknown{{Metric: "saved", Why: `"many" is no number`}},
			"",
		},
		{
			"impossible", `{csv: {throughput: rate, error_rate: errors, balance: b, dropped: d}}`, "rate,errors,b,d\n-40,1.5,-3,1\n",
			map[string]float64{"balance": -3, "dropped": 1},
			[]experiment.Unknown{{Metric: "throughput", Why: `"-40" is impossible`}, {Metric: "error_rate", Why: `"1.5" is impossible`}},
			"",
		},
		{
			"nothing", `{json: {throughput: .rate}}`, "bye", nil, nil, "the load generator ended with 0: extract: no JSON: bye; it said: bye",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := driven(t, `image: "tool:1", extract: `+tc.extract)
				rec := s.record()
				s.generates(fake.Behaviour{Exit: &fake.Exit{After: time.Second}, Stdout: tc.output})
				s.mustConduct()
				o := rec.outcomes[0]
				got := map[string]float64{}
				for _, x := range o.Observations {
					if !strings.Contains(x.Metric, ".") {
						got[x.Metric] = x.Value
					}
				}
				if len(got) == 0 {
					got = nil
				}
				if diff := cmp.Diff(got, tc.want); diff != "" {
					t.Errorf("values (-got +want):\n%s", diff)
				}
				if diff := cmp.Diff(o.Result.Unknown, tc.unknown); diff != "" {
					t.Errorf("unknown (-got +want):\n%s", diff)
				}
				if o.Run.Reason != tc.reason {
					t.Errorf("state %s, reason %q, want %q", o.Run.State, o.Run.Reason, tc.reason)
				}
				if tc.reason == "" && (o.Result.Tool != "tool:1" || o.Result.Format != "extract") {
					t.Errorf("tool %q, format %q", o.Result.Tool, o.Result.Format)
				}
			})
		})
	}
}

// A reader that is not there is missed before anything begins.
func TestExternalWithoutReader(t *testing.T) {
	s, _ := driven(t, `image: "k6:1", reader: k6`)
	_, err := s.conduct(t.Context())
	if err == nil || err.Error() != "the output of k6 cannot be read here" {
		t.Errorf("got %v", err)
	}
}
