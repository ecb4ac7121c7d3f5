package analysis

import (
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// The ladder of a connection budget: REST over one connection, 15 s a step, latencies as
// the caller sees them, in microseconds. The ceiling is about 9,000/s; the tail moves one
// rung before the median, and the low rungs, inflated by a short warm-up, hide nothing.
func TestTheCeilingOfAConnectionBudget(t *testing.T) {
	table := []struct{ target, achieved, dropped, p50, p95 float64 }{
		{400, 400, 0, 309, 680},
		{800, 800, 0, 198, 660},
		{1600, 1591, 0.005, 113, 307},
		{3200, 3190, 0.003, 79, 954},
		{6400, 6316, 0.013, 72, 1795},
		{9600, 8812, 0.081, 33394, 61987},
		{12800, 9043, 0.29, 40396, 54690},
	}
	m := experiment.Matrix{
		Factors: []experiment.Factor{{Name: "rate"}},
		Design:  experiment.Design{Across: []string{"rate"}},
		Load:    experiment.LoadSpec{Open: &experiment.OpenSpec{}},
	}
	var err error
	if m.Load.Open.Rate, err = experiment.ParseTemplate("${rate}/s", experiment.Pos{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range table {
		m.Factors[0].Levels = append(m.Factors[0].Levels, experiment.Level{Text: strconv.FormatFloat(r.target, 'f', 0, 64)})
	}
	s := experiment.Sweep{Rounds: 3, Settings: defaults(), Factors: m.Factors, Across: m.Design.Across, Cells: m.Cells(), Ladders: m.Ladders()}
	s.Settings.Metric = experiment.MetricCeiling
	s.Settings.Objectives = []experiment.Objective{{Metric: "latency_p95", Limit: 1}} // the tail that is looked at; it limits nothing
	for round := 1; round <= s.Rounds; round++ {
		for i, c := range s.Cells {
			noise := 1 + 0.01*float64((round+i)%3-1)
			r := experiment.RunRecord{Run: experiment.Run{ID: int64(len(s.Runs) + 1), Cell: c.Key, Round: round, State: experiment.StateOK}}
			r.Observations = []experiment.Observation{
				observed("offered", table[i].target), observed("throughput", table[i].achieved*noise), observed("dropped", table[i].dropped),
				observed("error_rate", 0), observed("latency_p50", table[i].p50*1e-6), observed("latency_p95", table[i].p95*1e-6), observed("latency_count", 1e5),
			}
			s.Runs = append(s.Runs, r)
		}
	}
	r := analysed(t, s)
	rung := func(i int) experiment.CellKey { return s.Cells[i].Key }
	want := []experiment.LadderResult{{
		Cell: s.Ladders[0].Cell.Key, Status: "found", Tail: "latency_p95", State: experiment.ResultsFinal,
		Sustained: rung(4), Broken: rung(5), TailFirst: rung(4), MedianFirst: rung(5),
	}}
	for i := range table {
		broken := ""
		if i >= 5 {
			broken = "dropped"
		}
		want[0].Rungs = append(want[0].Rungs, experiment.RungResult{Cell: rung(i), N: 3, Broken: broken})
	}
	if diff := cmp.Diff(r.Ladders, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	for _, i := range r.Intervals {
		if i.Metric == experiment.MetricCeiling && math.Abs(*i.Estimate-8927.5) > 1e-6+0.01*8927.5 {
			t.Errorf("ceiling %v, want about 8927.5", *i.Estimate)
		}
	}
}

func TestWhatALadderShows(t *testing.T) {
	r := analysed(t, climbed(t, 5, map[string]float64{"1": 500, "8": 2500, "64": 9000}))
	got := map[string]string{}
	for _, l := range r.Ladders {
		text := l.Status
		if l.Above != nil {
			text += " " + strconv.FormatFloat(*l.Above, 'f', -1, 64)
		}
		got[string(l.Cell)] = text
	}
	want := map[string]string{
		"main|baseline|pool=1||ladder": "below-ladder", "main|control|pool=1||ladder": "below-ladder",
		"main|varied|pool=8||ladder": "found", "main|varied|pool=64||ladder": "not-reached 4000",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// The ceiling of a ladder is compared with what it was in the sweep before; without one
// in every round it is not, and nothing is said of its size.
func TestCeilingsChangeBetweenSweeps(t *testing.T) {
	before := climbed(t, 5, map[string]float64{"1": 1500, "8": 2500, "64": 3500})
	s := climbed(t, 5, map[string]float64{"1": 2500, "8": 2500, "64": 3500})
	before.ID, s.ID, s.Before = 1, 2, &before
	for i, r := range before.Runs { // in one round the top rung is sustained
		if c, _ := before.Cell(r.Cell); r.Round == 1 && c.Label() == "pool=64" && c.Condition == "rate=4000" {
			before.Runs[i].Observations = []experiment.Observation{observed("offered", 4000), observed("throughput", 4000)}
		}
	}
	for _, secondary := range []bool{false, true} {
		if secondary {
			s.Settings.Metric = experiment.DefaultMetric
		}
		got := map[experiment.CellKey]experiment.Change{}
		for _, c := range analysed(t, s).Changes {
			if c.Metric == experiment.MetricCeiling && c.Secondary == secondary {
				got[c.Cell] = c
			}
		}
		if len(got) != 2 {
			t.Fatalf("%d changes, want those of 2 ladders", len(got))
		}
		if c := got["main|varied|pool=8||ladder"]; c.Verdict != experiment.VerdictLower || c.Estimate == nil || math.Abs(*c.Estimate-0.6) > 0.02 || c.FromSweep != 1 {
			t.Errorf("pool=8: %+v", c)
		}
		c := got["main|varied|pool=64||ladder"]
		if c.Verdict != experiment.VerdictNotTested || c.Reason != "above 4000/s" || c.Estimate != nil || c.Before != nil || c.After != nil {
			t.Errorf("pool=64: %+v", c)
		}
	}
}

// Between two looks of a rule the means of the rungs are those of the rounds that were
// looked at, as their numbers of runs are.
func TestClimbsBetweenTwoLooks(t *testing.T) {
	s := climbed(t, 7, map[string]float64{"8": 1500, "16": 2500})
	s.Rounds, s.Stopping = 30, experiment.Stopping{Until: experiment.StopDecided, AtMost: 30}
	climbs, err := Climbs(s, s.Settings)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range analysed(t, s).Ladders {
		for j, r := range l.Rungs {
			if got := climbs[i].Rungs[j].N; got != r.N || got != 5 {
				t.Fatalf("%s: %d runs, %d judged, want 5", r.Cell, got, r.N)
			}
		}
	}
}
