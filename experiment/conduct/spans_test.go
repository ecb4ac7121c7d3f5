package conduct

import (
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestEdges(t *testing.T) {
	const m, w, d, end = experiment.PhaseMeasure, experiment.PhaseWarmup, experiment.PhaseDrain, experiment.PhaseDone
	ev := func(p experiment.Phase, part string) experiment.LoadEvent {
		return experiment.LoadEvent{Phase: p, Part: part}
	}
	phases := func(names ...string) experiment.Load {
		l := experiment.Load{}
		for _, n := range names {
			measured, name := strings.HasPrefix(n, "!"), strings.TrimPrefix(n, "!")
			l.Phases = append(l.Phases, experiment.LoadPhase{Name: name, Measure: measured})
		}
		return l
	}
	for _, tc := range []struct {
		name   string
		load   experiment.Load
		events []experiment.LoadEvent
		want   string // the events at which it begins and ends
	}{
		{"one window", experiment.Load{}, []experiment.LoadEvent{ev(w, ""), ev(m, ""), ev(d, ""), ev(end, "")}, "begins 1 ends 2"},
		{"no drain", experiment.Load{}, []experiment.LoadEvent{ev(w, ""), ev(m, "")}, "begins 1"},
		{"measured to the end", phases("calm", "!spike", "!after"), []experiment.LoadEvent{ev(w, "calm"), ev(m, "spike"), ev(m, "after"), ev(d, "")}, "begins 1 ends 3"},
		{"a gap, and a tail that is not measured", phases("!a", "b", "!c", "tail"), []experiment.LoadEvent{ev(m, "a"), ev(w, "b"), ev(m, "c"), ev(w, "tail"), ev(d, "")}, "begins 0 ends 3"},
		{"cut before the last", phases("!a", "!b"), []experiment.LoadEvent{ev(m, "a"), ev(d, "")}, "begins 0 ends 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newEdges(tc.load)
			var got []string
			for i, event := range tc.events {
				begins, ends := e.of(event)
				if begins {
					got = append(got, "begins "+strconv.Itoa(i))
				}
				if ends {
					got = append(got, "ends "+strconv.Itoa(i))
				}
			}
			if diff := cmp.Diff(strings.Join(got, " "), tc.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}

// Each measured phase has rates of its own; those of the whole reach from the first to
// the last.
func TestRatesOfPhases(t *testing.T) {
	began := time.Unix(1000, 0)
	var readings []experiment.Usage
	at := func(s int) time.Time { return began.Add(time.Duration(s) * time.Second) }
	for _, r := range []struct {
		s   int
		cpu float64
	}{{0, 0}, {10, 5}, {20, 6}, {30, 16}} {
		readings = append(readings, experiment.Usage{At: at(r.s), Counters: map[experiment.Counter]float64{experiment.CounterCPU: r.cpu}})
	}
	s := newSampler(map[string]experiment.Proc{"app": &meter{readings: readings}}, slog.New(slog.DiscardHandler))
	for _, e := range []experiment.LoadEvent{
		{Phase: experiment.PhaseWarmup, Part: "calm", At: at(-10)},
		{Phase: experiment.PhaseMeasure, Part: "spike", At: at(0)},
		{Phase: experiment.PhaseWarmup, Part: "pause", At: at(10)},
		{Phase: experiment.PhaseMeasure, Part: "after", At: at(20)},
		{Phase: experiment.PhaseDrain, At: at(30)},
		{Phase: experiment.PhaseDone, At: at(31)},
	} {
		s.mark(t.Context(), e)
	}
	got := map[string]float64{}
	s.observe(func(metric string, _ experiment.Phase, v float64, _ experiment.Unit) {
		if strings.HasSuffix(metric, "app.cpu") {
			got[metric] = v
		}
	})
	want := map[string]float64{"spike:app.cpu": 0.5, "after:app.cpu": 1, "app.cpu": 16.0 / 30}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("rates (-got +want):\n%s", diff)
	}
	if from, to, ok := s.window(); !ok || !from.Equal(at(0)) || !to.Equal(at(30)) {
		t.Errorf("window from %v to %v, %v", from, to, ok)
	}
}
