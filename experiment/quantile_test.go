package experiment_test

import (
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// Each quantile names a metric of every distribution of response times; the maximum wants
// no number of requests.
func TestQuantiles(t *testing.T) {
	before := 0.0
	for _, q := range experiment.Quantiles() {
		want := q.Q
		if q.Name == "max" {
			want = 0
		}
		for _, prefix := range []string{"latency_", "failed_latency_", "service_time_"} {
			if m, known := experiment.MetricByName(prefix + q.Name); !known || m.Q != want || m.Unit != experiment.UnitSeconds {
				t.Errorf("%s%s: %+v, known %v", prefix, q.Name, m, known)
			}
		}
		if q.Q <= before || q.Q > 1 {
			t.Errorf("%s is %g after %g", q.Name, q.Q, before)
		}
		before = q.Q
	}
	if before != 1 {
		t.Errorf("the last is %g, and no maximum", before)
	}
}
