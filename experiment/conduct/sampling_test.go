package conduct

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// What is made of counters is described by the same name and unit: an unknown metric
// would be compared as a ratio, which no count that is mostly zero has.
func TestDerivedMetricsAreKnown(t *testing.T) {
	for _, d := range append(rates(), levels()...) {
		m, known := experiment.MetricByName("app." + d.metric)
		if !known || m.Unit != d.unit {
			t.Errorf("%s: known is %t, unit %q, want %q", d.metric, known, m.Unit, d.unit)
		}
		if mayBeZero := d.unit == experiment.UnitCount || d.unit == experiment.UnitRatio; mayBeZero && m.Scale != experiment.ScaleDifference {
			t.Errorf("%s is compared on the scale %s", d.metric, m.Scale)
		}
	}
}

func TestObserve(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	s := &sampler{marks: map[experiment.Phase]map[string]experiment.Usage{
		experiment.PhaseMeasure: {"app": {At: at, Counters: map[experiment.Counter]float64{
			experiment.CounterCPU: 10, experiment.CounterNetSent: 100, experiment.CounterMemory: 5000, experiment.CounterMemoryPeak: 8000,
		}}},
		experiment.PhaseDrain: {
			"app": {At: at.Add(4 * time.Second), Counters: map[experiment.Counter]float64{
				experiment.CounterCPU: 12, experiment.CounterNetSent: 500, experiment.CounterMemory: 6000, experiment.CounterMemoryPeak: 9000,
				experiment.CounterThrottled: 3, // not known before
				experiment.CounterOOMKills:  1, experiment.CounterRestarts: 0,
			}},
			"late": {At: at, Counters: map[experiment.Counter]float64{experiment.CounterCPU: 1, experiment.CounterMemory: 7}},
		},
	}}
	got := map[string]float64{}
	s.observe(func(metric string, p experiment.Phase, value float64, _ experiment.Unit) {
		if p != experiment.PhaseMeasure {
			t.Errorf("%s is observed in %s", metric, p)
		}
		got[metric] = value
	})
	want := map[string]float64{
		"app.cpu": 0.5, "app.net_sent": 100, "app.memory": 6000, "app.memory_peak": 9000, "app.oom_kills": 1, "app.restarts": 0,
		"late.memory": 7,
	}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("observed (-got +want):\n%s", d)
	}
}
