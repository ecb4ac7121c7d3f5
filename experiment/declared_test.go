package experiment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestDeclaredMetrics(t *testing.T) {
	app := experiment.ServiceSpec{
		Name:    "app",
		Collect: []experiment.Collect{{Step: experiment.Step{JSON: []experiment.Extract{{Name: "queued"}}, Unit: experiment.UnitCount, Better: experiment.LowerIsBetter}}},
		Scrape:  []experiment.Scrape{{Metrics: []experiment.ScrapeMetric{{Name: "heap", Unit: experiment.UnitBytes}}}},
	}
	m := experiment.Matrix{
		Subject: experiment.Subject{Services: []experiment.ServiceSpec{app}},
		Collect: []experiment.Collect{{Step: experiment.Step{Image: experiment.Literal("probe:1"), Regex: "(?P<rows>[0-9]+)"}}},
		Metrics: []experiment.Derived{{Name: "cost", Of: "app.heap / throughput", Unit: "B s", Better: experiment.LowerIsBetter}},
	}
	want := []experiment.Metric{
		{Name: "app.queued", Unit: experiment.UnitCount, Better: experiment.LowerIsBetter},
		{Name: "app.heap", Unit: experiment.UnitBytes},
		{Name: "rows"},
		{Name: "cost", Unit: "B s", Better: experiment.LowerIsBetter},
	}
	if diff := cmp.Diff(m.Declared(), want); diff != "" {
		t.Error(diff)
	}
}
