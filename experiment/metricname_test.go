package experiment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestSplitMetricName(t *testing.T) {
	for name, want := range map[string]experiment.MetricName{
		"throughput":                    {Base: "throughput"},
		"app.cpu":                       {Base: "app.cpu"},
		"spike:latency_p99":             {Phase: "spike", Base: "latency_p99"},
		"latency_p99{search}":           {Base: "latency_p99", Request: "search"},
		"spike:latency_p99{search}":     {Phase: "spike", Base: "latency_p99", Request: "search"},
		"slo:spike:latency_p95{search}": {Phase: "slo:spike", Base: "latency_p95", Request: "search"},
		"latency_p99{":                  {Base: "latency_p99{"},
		"":                              {},
	} {
		got := experiment.SplitMetricName(name)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
		if got.String() != name {
			t.Errorf("%q comes back as %q", name, got)
		}
	}
	if got := experiment.SplitMetricName("spike:latency_p99{search}").Of("latency_count"); got != "spike:latency_count{search}" {
		t.Errorf("the count beside it is %q", got)
	}
}

func TestMetricOfPhaseRequestAndMatrix(t *testing.T) {
	s := experiment.Sweep{Declared: []experiment.Metric{
		{Name: "app.heap", Unit: experiment.UnitBytes, Better: experiment.LowerIsBetter},
		{Name: "cost", Unit: "ms"},
	}}
	for _, tc := range []struct {
		name   string
		unit   experiment.Unit
		better experiment.Direction
		known  bool
	}{
		{"throughput", experiment.UnitPerSecond, experiment.HigherIsBetter, true},
		{"recovery:throughput{search}", experiment.UnitPerSecond, experiment.HigherIsBetter, true},
		{"slo:latency_p95{search}", experiment.UnitSeconds, experiment.LowerIsBetter, true},
		{"spike:app.cpu", experiment.UnitCores, experiment.LowerIsBetter, true},
		{"ceiling", experiment.UnitPerSecond, experiment.HigherIsBetter, true},
		{"app.heap", experiment.UnitBytes, experiment.LowerIsBetter, true},
		{"spike:app.heap", experiment.UnitBytes, experiment.LowerIsBetter, true},
		{"cost", "ms", experiment.NoDirection, true},
		{"app.cpu{search}", "", experiment.NoDirection, false},
		{"app.stack", "", experiment.NoDirection, false},
	} {
		m, known := s.Metric(tc.name)
		got := experiment.Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Scale: m.Scale}
		want := experiment.Metric{Name: tc.name, Unit: tc.unit, Better: tc.better, Scale: experiment.ScaleRatio}
		if diff := cmp.Diff(want, got); diff != "" || known != tc.known {
			t.Errorf("%s, known %v (-want +got):\n%s", tc.name, known, diff)
		}
	}
}
