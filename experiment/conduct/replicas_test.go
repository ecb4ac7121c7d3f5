package conduct

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// What replicas use is added up, but a share of the time stays one.
func TestUsageOfReplicas(t *testing.T) {
	at := time.Unix(100, 0)
	reading := func(later time.Duration, cpu, throttled float64) *meter {
		return &meter{readings: []experiment.Usage{{At: at.Add(later), Counters: map[experiment.Counter]float64{
			experiment.CounterCPU: cpu, experiment.CounterThrottled: throttled,
		}}}}
	}
	r := &replicas{name: "app", members: []member{{"app-1", reading(0, 3, 4)}, {"app-2", reading(2*time.Millisecond, 5, 2)}}}
	got, err := r.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := experiment.Usage{At: at.Add(time.Millisecond), Counters: map[experiment.Counter]float64{
		experiment.CounterCPU: 8, experiment.CounterThrottled: 3,
	}}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("usage (-got +want):\n%s", diff)
	}
}
