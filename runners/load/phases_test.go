package load

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// spike is a load of four phases, of which three are measured.
func spike() experiment.Load {
	return experiment.Load{
		Phases: []experiment.LoadPhase{
			{Name: "settle", For: 2 * time.Second, Open: &experiment.OpenLoad{Rate: 100, InFlight: 1000}},
			{Name: "calm", For: 2 * time.Second, Measure: true, Open: &experiment.OpenLoad{Rate: 100, InFlight: 1000}},
			{Name: "spike", For: 3 * time.Second, Measure: true, Ramp: time.Second, Open: &experiment.OpenLoad{Rate: 500, InFlight: 1000}},
			{Name: "recovery", For: 2 * time.Second, Measure: true, Ramp: time.Second},
		},
		Timeout: time.Second,
	}
}

// inSlices adds up the points of a metric from one second to another, the begin of the
// first window being 0.
func inSlices(r experiment.LoadResult, metric string, from, to float64) float64 {
	sum := 0.0
	for _, p := range r.Series {
		if at := float64(p.AtMS) / 1000; p.Metric == metric && at >= from && at < to {
			sum += p.Value
		}
	}
	return sum
}

func TestEachMeasuredPhaseIsAWindow(t *testing.T) {
	l := spike()
	bubble(t, l, constant(10*ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
		parts := []experiment.LoadPart{
			{Name: "calm", Window: 2 * time.Second},
			{Name: "spike", Begin: 2 * time.Second, Window: 3 * time.Second},
			{Name: "recovery", Begin: 5 * time.Second, Window: 2 * time.Second},
		}
		if d := cmp.Diff(r.Parts, parts); d != "" || r.Window != 7*time.Second {
			t.Errorf("parts (-got +want):\n%s\nwindow %v", d, r.Window)
		}
		o := observed(t, r)
		// From 100 to 500 in a second 300 arrive, and 1,000 in the two that follow; from
		// there to nothing 250, and one at the very end.
		for metric, want := range map[string]float64{
			"calm:offered": 100, "spike:offered": 1300.0 / 3, "recovery:offered": 125, "offered": 1750.0 / 7,
			"calm:latency_count": 200, "spike:latency_count": 1300, "recovery:latency_count": 251, "requests_done": 1751,
			"spike:latency_p99": 0.01, "spike:error_rate": 0, "spike:dropped": 0, "spike:unfinished": 0, "spike:lateness_p99": 1e-6,
			"calm:in_flight": 1, "recovery:in_flight": 1.25, "in_flight": 2.5,
		} {
			if got, ok := o[metric]; !ok || math.Abs(got-want) > 0.02*want {
				t.Errorf("%s is %g, want %g", metric, got, want)
			}
		}
		if _, ok := o["latency_p99"]; ok {
			t.Error("there is a response time of all phases together")
		}
		var histograms []string
		for _, h := range r.Histograms {
			histograms = append(histograms, fmt.Sprintf("%s %s %d", h.Phase, h.Kind, h.Count))
		}
		want := []string{
			"calm success 200", "calm service_time 200", "spike success 1300", "spike service_time 1300",
			"recovery success 251", "recovery service_time 251",
		}
		if d := cmp.Diff(histograms, want); d != "" {
			t.Errorf("histograms (-got +want):\n%s", d)
		}
		if got := inSlices(r, "offered", 2, 2.5); got < 95 || got > 105 { // 50 + 50 of the rise
			t.Errorf("%g arrived in the first half of the rise, want 100", got)
		}
	})
}

func TestPhasesAreToldByName(t *testing.T) {
	var got []string
	l := spike()
	l.Phases = append(l.Phases, experiment.LoadPhase{Name: "rest", For: time.Second})
	for _, e := range Timeline(began(), l) {
		got = append(got, fmt.Sprintf("%s %s %v", e.Phase, e.Part, e.At.Sub(began())))
	}
	want := []string{"warmup settle 0s", "measure calm 2s", "measure spike 4s", "measure recovery 7s", "warmup rest 9s", "drain  10s", "done  10s"}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
}

func TestUsersMoveFromPhaseToPhase(t *testing.T) {
	l := experiment.Load{
		Phases: []experiment.LoadPhase{
			{Name: "few", For: time.Second, Measure: true, Closed: &experiment.ClosedLoad{Users: 2}},
			{Name: "many", For: 2 * time.Second, Ramp: time.Second, Measure: true, Closed: &experiment.ClosedLoad{Users: 10}},
			{Name: "fewer", For: 2 * time.Second, Ramp: time.Second, Measure: true, Closed: &experiment.ClosedLoad{Users: 2}},
			{Name: "none", For: time.Second, Measure: true},
			{Name: "again", For: time.Second, Measure: true, Closed: &experiment.ClosedLoad{Users: 3, Think: 90 * ms}},
		},
		Timeout: time.Second,
	}
	bubble(t, l, constant(10*ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
		o := observed(t, r)
		for metric, want := range map[string]float64{
			"few:throughput": 200, "none:offered": 0, "again:throughput": 30,
			// 2 users and 8 who come evenly, the first at once, the last 125 ms before the end
			// of the ramp: 6.5 on average
			"many:throughput": (650 + 1000) / 2.0,
			// 8 who go, the first after 125 ms: again 6.5
			"fewer:throughput": (650 + 200) / 2.0,
		} {
			if math.Abs(o[metric]-want) > 0.02*want {
				t.Errorf("%s is %g, want %g", metric, o[metric], want)
			}
		}
	})
}

// A response time belongs to the phase of its intended start, a completion to that in
// which it came.
func TestAPhaseThatIsSlowLeavesItsResponseTimesBehind(t *testing.T) {
	l := experiment.Load{
		Phases: []experiment.LoadPhase{
			{Name: "before", For: time.Second, Measure: true, Open: &experiment.OpenLoad{Rate: 10, InFlight: 100}},
			{Name: "after", For: time.Second, Measure: true},
		},
		Timeout: 5 * time.Second,
	}
	bubble(t, l, constant(550*ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
		o := observed(t, r)
		want := map[string]float64{
			"before:offered": 10, "before:throughput": 5, "before:latency_count": 10, "after:offered": 0, "after:throughput": 5, "after:latency_count": 0,
		}
		for metric, v := range want {
			if o[metric] != v {
				t.Errorf("%s is %g, want %g", metric, o[metric], v)
			}
		}
	})
}

// Every moment lies in exactly one slice, and none straddles the begin of a phase.
func TestSlicesNeverStraddlePhases(t *testing.T) {
	l := spike()
	l.Phases[1].For, l.Phases[2].For = 1234567890, 7*ms // ends inside a slice; shorter than one
	g := newGrid(l)
	for at := -4 * time.Second; at < 9*time.Second; at += 777_777 {
		checkSlice(t, g, at)
	}
	for _, s := range g.stretches {
		for _, at := range []time.Duration{s.begin - 1, s.begin, s.end - 1, s.end} {
			checkSlice(t, g, at)
		}
	}
}

func TestAWindowThatIsMovedOrCutKeepsItsSlices(t *testing.T) {
	g := newGrid(experiment.Load{Warmup: time.Second, Steady: 5 * time.Second, Measure: 10 * time.Second})
	before := map[time.Duration]int{}
	for _, at := range []time.Duration{-300 * ms, 0, 750 * ms, 1900 * ms} {
		before[at] = g.index(at)
	}
	by := g.forward(2 * time.Second)
	for at, i := range before {
		if got := g.index(at); got != i+by {
			t.Errorf("the slice of %v was %d and is %d, by %d", at, i, got, by)
		}
	}
	checkSlice(t, g, 12*time.Second-1)
	for _, end := range []time.Duration{2*time.Second + ms, 2*time.Second + 10, 3*time.Second + 51*ms, 3050 * ms, 3050*ms + 500} {
		g := newGrid(experiment.Load{Measure: 10 * time.Second})
		g.cut(end)
		for _, at := range []time.Duration{0, end - 1, end, end + 50*ms} {
			checkSlice(t, g, at)
		}
		last, _ := g.begin(g.stretches[0].count - 1)
		if end-last < ms && end > ms {
			t.Errorf("cut at %v, the last slice begins at %v: at_ms cannot tell it from the next", end, last)
		}
	}
}
