package experiment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGroupUnknown(t *testing.T) {
	const hidden, few = "the tool hides it", "it prints three"
	var all []Unknown
	add := func(why string, metrics ...string) {
		for _, m := range metrics {
			all = append(all, Unknown{Metric: m, Why: why})
		}
	}
	add(hidden, "offered", "latency_p50", "latency_p90")
	add(few, "service_time_p999")
	add(hidden, "latency_p95", "latency_p99", "latency_p999", "latency_max", "latency_count", "lateness_p99", "app.latency_p50")
	add(few, "service_time_max")
	want := []Unknown{
		{Metric: "offered, latency_*, latency_count, lateness_p99, app.latency_p50", Why: hidden},
		{Metric: "service_time_p999|max", Why: few},
	}
	if diff := cmp.Diff(want, GroupUnknown(all)); diff != "" {
		t.Errorf("want, got:\n%s", diff)
	}
}
