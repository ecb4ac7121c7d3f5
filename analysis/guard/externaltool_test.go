package guard_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/experiment"
)

// driven is a run whose load was driven by another generator, that used little.
func driven(metrics map[string]float64) experiment.Outcome {
	o := calm()
	o.Plan.Load = experiment.Load{External: &experiment.External{Reader: "wrk"}, Measure: 10 * time.Second}
	o.Observations = []experiment.Observation{{Metric: "generator.cpu", Phase: experiment.PhaseMeasure, Value: 0.4}}
	for name, v := range metrics {
		o.Observations = append(o.Observations, experiment.Observation{Metric: name, Phase: experiment.PhaseMeasure, Value: v})
	}
	o.Result.Tool = "wrk 4.1.0"
	return o
}

func TestExternalTool(t *testing.T) {
	o := driven(map[string]float64{"throughput": 900})
	o.Result.Format = "text"
	o.Result.Notes = []experiment.LoadNote{
		{Severity: experiment.SeverityWarn, Text: "4 timeouts are in no percentile"},
		{Text: "it ended with exit code 3"},
	}
	const closed = "a closed loop offers nothing"
	o.Result.Unknown = []experiment.Unknown{
		{Metric: "offered", Why: closed},
		{Metric: "latency_p90", Why: "it prints three"},
		{Metric: "dropped", Why: closed},
		{Metric: "latency_p999", Why: "it prints three"},
		{Metric: "service_time_max", Why: "it prints three"},
	}
	for _, q := range []string{"p50", "p90", "p95", "p99", "p999", "max"} {
		o.Result.Unknown = append(o.Result.Unknown, experiment.Unknown{Metric: "failed_latency_" + q, Why: closed})
	}
	o.Result.Unknown = append(o.Result.Unknown, experiment.Unknown{Metric: "lateness_p99"})
	type said struct {
		Severity      experiment.Severity
		Code, Message string
	}
	var got []said
	for _, f := range guard.New().JudgeRun(o, experiment.Settings{}) {
		if f.Service != experiment.GeneratorName || f.Run != o.Run.ID {
			t.Errorf("of %s in run %d: %s", f.Service, f.Run, f.Message)
		}
		got = append(got, said{f.Severity, f.Code, f.Message})
	}
	want := []said{
		{experiment.SeverityWarn, "external-tool", "wrk 4.1.0 (text): 4 timeouts are in no percentile"},
		{experiment.SeverityNote, "external-tool", "wrk 4.1.0 (text): it ended with exit code 3"},
		{
			experiment.SeverityNote, "external-tool",
			"wrk 4.1.0 (text) cannot tell offered, latency_p90|p999, dropped, service_time_max, failed_latency_*, lateness_p99",
		},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("findings (-got +want):\n%s", diff)
	}
	off := experiment.Settings{Guards: map[string]experiment.GuardSetting{"external-tool": {Off: true}}}
	if found := guard.New().JudgeRun(o, off); len(found) != 0 {
		t.Errorf("turned off: %+v", found)
	}
}

func TestExtractedTool(t *testing.T) {
	o := driven(nil)
	for _, m := range []string{"throughput", "latency_p50", "latency_p99", "retries"} {
		observe(m, 5)(&o)
	}
	o.Result.Tool, o.Result.Format = "tool:1", experiment.FormatExtract
	o.Result.Unknown = []experiment.Unknown{{Metric: "hits", Why: "the output does not tell it"}, {Metric: "misses", Why: `"few" is no number`}}
	var got []string
	for _, f := range guard.New().JudgeRun(o, experiment.Settings{}) {
		got = append(got, string(f.Severity)+": "+f.Message)
	}
	want := []string{
		`note: tool:1 (extract) cannot tell hits (the output does not tell it); misses ("few" is no number)`,
		"note: tool:1 drove the load: nothing is known of it but throughput, latency_p50|p99, retries",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("findings (-got +want):\n%s", diff)
	}
}

// What a tool does not tell is not taken for zero: a run of which one metric of the
// requests is known, whatever it is, or all but one, gives no guard a reason to speak.
func TestUnknownIsNotZero(t *testing.T) {
	good := map[string]float64{
		"throughput": 990, "offered": 1000, "sent": 1000, "dropped": 0, "error_rate": 0, "unfinished": 0, "requests_done": 9900,
		"in_flight": 10, "connects": 1, "response_bytes": 200, "lateness_p99": 1e-4,
		"latency_p50": 0.01, "latency_p99": 0.02, "latency_max": 0.03, "service_time_p50": 0.01, "service_time_p99": 0.02,
	}
	quiet := func(name string, metrics map[string]float64) {
		t.Helper()
		for _, f := range guard.New().JudgeRun(driven(metrics), experiment.Settings{ErrorRate: experiment.DefaultErrorRate}) {
			t.Errorf("%s: %s: %s", name, f.Code, f.Message)
		}
	}
	quiet("all", good)
	quiet("none", nil)
	for name, v := range good {
		quiet(name+" alone", map[string]float64{name: v})
		but := map[string]float64{}
		for other, v := range good {
			if other != name {
				but[other] = v
			}
		}
		quiet("all but "+name, but)
	}
}

// What is known counts, whoever told it.
func TestKnownCounts(t *testing.T) {
	for code, metrics := range map[string]map[string]float64{
		"errors":        {"throughput": 900, "error_rate": 0.2},
		"dropped":       {"throughput": 900, "dropped": 0.2},
		"generator-cpu": {"throughput": 900, "generator.cpu": 0.95},
	} {
		o := driven(metrics)
		if code == "generator-cpu" {
			o.Observations = o.Observations[1:]
		}
		found := guard.New().JudgeRun(o, experiment.Settings{ErrorRate: experiment.DefaultErrorRate})
		if len(found) != 1 || found[0].Code != code {
			t.Errorf("%v gave %+v, want %s", metrics, found, code)
		}
	}
}
