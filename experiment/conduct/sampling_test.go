package conduct

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// meter is a service whose counters are read from a list.
type meter struct {
	experiment.Proc
	readings []experiment.Usage
	n        int
}

func (m *meter) Usage(context.Context) (experiment.Usage, error) {
	m.n++
	return m.readings[m.n-1], nil
}

func TestRatesUseTheCountersOwnTime(t *testing.T) {
	began := time.Unix(1000, 0)
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	reading := func(ms int, cpu float64) experiment.Usage {
		return experiment.Usage{At: at(ms), Counters: map[experiment.Counter]float64{
			experiment.CounterCPU: cpu, experiment.CounterMemoryPeak: 100 * cpu,
		}}
	}
	for _, tc := range []struct {
		name        string
		first, last experiment.Usage
		want        map[string]float64 // in a window of 4 s
	}{
		{"on time", reading(0, 1), reading(4000, 3), map[string]float64{"app.cpu": 0.5, "app.memory_peak": 300}},
		{"a little late, by their own time", reading(300, 1), reading(4300, 3), map[string]float64{"app.cpu": 0.5, "app.memory_peak": 300}},
		{"a little apart", reading(100, 1), reading(4350, 2.7), map[string]float64{"app.cpu": 0.4, "app.memory_peak": 270}},
		{"the first too late", reading(401, 1), reading(4000, 3), map[string]float64{"app.memory_peak": 300}},
		{"the last too late", reading(0, 1), reading(4401, 3), map[string]float64{"app.memory_peak": 300}},
		{"both at the end", reading(4000, 3), reading(4010, 3), map[string]float64{"app.memory_peak": 300}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSampler(map[string]experiment.Proc{"app": &meter{readings: []experiment.Usage{tc.first, tc.last}}}, slog.New(slog.DiscardHandler))
			s.mark(t.Context(), experiment.LoadEvent{Phase: experiment.PhaseWarmup, At: at(-1000)})
			s.mark(t.Context(), experiment.LoadEvent{Phase: experiment.PhaseMeasure, At: at(0)})
			s.mark(t.Context(), experiment.LoadEvent{Phase: experiment.PhaseDrain, At: at(4000)})
			s.mark(t.Context(), experiment.LoadEvent{Phase: experiment.PhaseDone, At: at(4100)})
			got := map[string]float64{}
			s.observe(func(metric string, p experiment.Phase, v float64, _ experiment.Unit) {
				if metric != "conductor.cpu" && p == experiment.PhaseMeasure {
					got[metric] = v
				}
			})
			if diff := cmp.Diff(got, tc.want); diff != "" {
				t.Errorf("observed (-got +want):\n%s", diff)
			}
		})
	}
}
