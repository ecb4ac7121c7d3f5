//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/cmd/loadbench/target"
	"github.com/ceteris/ceteris/experiment"
)

// used is a sample of so many requests in so much processor time.
func used(tool string, requests int64, cpu time.Duration) sample {
	return sample{tool: tool, ran: ran{cpu: cpu}, target: target.Report{Requests: requests}}
}

func TestCompareWithinPairs(t *testing.T) {
	peers := []*tool{{name: "wrk"}, {name: "hey"}, {name: "k6"}}
	pairs := []pair{
		{"hey", used(ours, 4000, time.Second), used("hey", 1000, time.Second)},
		{"wrk", used(ours, 1000, time.Second), used("wrk", 4000, 2*time.Second)},
		{"hey", used(ours, 400, time.Second), used("hey", 200, time.Second)},
	}
	want := []Comparison{
		{Peer: "wrk", Ratio: spread{1, 0.5, 0.5, 0.5}, Ours: Figure{1000, 500}, Theirs: Figure{2000, 2000}},
		{Peer: "hey", Ratio: spread{2, 3, 2, 4}, Ours: Figure{2200, 1100}, Theirs: Figure{600, 300}},
	}
	if d := cmp.Diff(compare(pairs, peers, 0, 2*time.Second), want); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
}

// outcome is one in which every goal is met, on its bound where it has one.
func outcome() Outcome {
	at := func(v float64) spread { return spread{4, v, v, v} }
	truth := Told{"p50": 0.01, "p99": 0.92, "p999": 1, "max": 1.01}
	return Outcome{
		Target: Capacity{Rate: 50_000, OnCPU: 60_000},
		Closed: []Comparison{{Peer: "wrk", Ratio: at(0.9)}, {Peer: "h2load", Ratio: at(0.1)}, {Peer: "fortio", Ratio: at(1.1)}, {Peer: "bombardier", Ratio: at(1.1)}, {Peer: "hey", Ratio: at(1.1)}, {Peer: "vegeta", Ratio: at(3)}, {Peer: "k6", Ratio: at(6)}},
		Open: &Open{
			Costs: []Comparison{{Peer: "vegeta", Rate: 5000, Ratio: at(2), Late: new(at(0.1))}, {Peer: "vegeta", Rate: 1000, Ratio: at(1), Late: new(at(0.1))}, {Peer: "vegeta", Rate: 20000, Ratio: at(2), Late: new(at(0.1))}, {Peer: "fortio", Rate: 5000, Ratio: at(0.4)}},
			Paces: []Pace{
				{Tool: ours, Rate: 5000, Achieved: at(0.999), Lateness: at(0.0005), Bunched: at(0.2)},
				{Tool: "vegeta", Rate: 5000, Achieved: at(0.9), Lateness: at(0.005), Bunched: at(0.9)},
				{Tool: ours, Rate: 1000, Achieved: at(1), Lateness: at(0.0001)},
				{Tool: ours, Rate: 20000, Achieved: at(1), Lateness: at(0.0001), Bunched: at(0.9)},
			},
		},
		Stall: &Stalls{
			Tools: []Stalled{
				{Tool: ours, Truth: truth, Says: Told{"p50": 0.0101, "p99": 0.91, "p999": 1.01, "max": 1.01}, Of: "latency"},
				{Tool: "hey", Truth: truth, Says: Told{"p50": 0.01}, Of: "service_time"},
			},
			Drops: Account{Scheduled: 10_000, Offered: 10_000, Sent: 9000, Dropped: 1000, Arrived: 9000},
		},
		Connections: &Crowds{
			Crowds: []Crowd{
				{Connections: 64, Sending: at(0.015), Working: 64, Exact: true},
				{Connections: 5000, Sending: at(1), Peak: at(60 << 20), Working: 5000, Exact: true},
				{Connections: 10000, Sending: at(9), Working: 10000, Exact: true},
			},
			Refused: Refusal{Code: 2, Said: "too few descriptors"},
		},
	}
}

// all is what the command line asks for by itself.
func all() options { return options{modes: modes(), rates: []int{1000, 5000, 20000}} }

func missed(o Outcome) []string {
	var out []string
	for _, g := range goals(o, all()) {
		if !g.Met {
			out = append(out, g.Name+": "+g.Want)
		}
	}
	return out
}

func TestGoals(t *testing.T) {
	if got := missed(outcome()); len(got) > 0 {
		t.Errorf("missed %q", got)
	}
	for name, tt := range map[string]struct {
		spoil func(*Outcome)
		want  []string
	}{
		"a slow target":                 {func(o *Outcome) { o.Target.OnCPU-- }, []string{"target: carries at least 60000/s on its core"}},
		"dearer than wrk":               {func(o *Outcome) { o.Closed[0].Ratio.Median = 0.89 }, []string{"closed, requests by processor time: at least 0.9 of wrk"}},
		"as dear as hey":                {func(o *Outcome) { o.Closed[4].Ratio.Median = 1 }, []string{"closed, requests by processor time: at least 1.1 of hey"}},
		"over half of vegeta":           {func(o *Outcome) { o.Open.Costs[0].Ratio.Median = 1.9 }, []string{"open at 5000/s, requests by processor time: at least 2 of vegeta"}},
		"one repetition too slow":       {func(o *Outcome) { o.Open.Paces[3].Achieved.Min = 0.99 }, []string{"open at 20000/s, achieved by offered: at least 0.999"}},
		"late":                          {func(o *Outcome) { o.Open.Paces[0].Lateness.Median = 0.0006 }, []string{"open at 5000/s, lateness p99: at most 0.5 ms"}},
		"once nearly as late as vegeta": {func(o *Outcome) { o.Open.Costs[0].Late.Max = 0.2 }, []string{"open at 5000/s, lateness p99: never above 0.1 of vegeta's"}},
		"bunched":                       {func(o *Outcome) { o.Open.Paces[0].Bunched.Median = 0.3 }, []string{"open at 5000/s, share bunched: at most 0.2"}},
		"a wrong quantile":              {func(o *Outcome) { o.Stall.Tools[0].Says["p99"] = 0.9 }, []string{"stall, p99: within 2% of the truth"}},
		"an unknown quantile":           {func(o *Outcome) { delete(o.Stall.Tools[0].Says, "max") }, []string{"stall, max: within 2% of the truth"}},
		"a drop not told":               {func(o *Outcome) { o.Stall.Drops.Dropped-- }, []string{"stall, drops: exact"}},
		"one failed":                    {func(o *Outcome) { o.Connections.Crowds[2].Failed = 1 }, []string{"10000 connections, all work: all send, none fails, counted alike"}},
		"too large":                     {func(o *Outcome) { o.Connections.Crowds[1].Peak.Max++ }, []string{"5000 connections, memory: at most 60 MiB"}},
		"it began all the same":         {func(o *Outcome) { o.Connections.Refused.Requests = 1 }, []string{"5000 connections with 1000 descriptors: an error before the first request"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := outcome()
			tt.spoil(&o)
			if d := cmp.Diff(missed(o), tt.want); d != "" {
				t.Errorf("missed (-got +want):\n%s", d)
			}
		})
	}
}

// What was asked for and is not there is no success.
func TestGoalsNotMeasured(t *testing.T) {
	for name, tt := range map[string]struct {
		asked options
		want  []string
	}{
		"no peers": {options{modes: []string{modeClosed, modeOpen}, rates: []int{5000}}, []string{
			"closed, requests by processor time: at least 0.9 of wrk", "closed, requests by processor time: at least 1.1 of fortio",
			"closed, requests by processor time: at least 1.1 of bombardier", "closed, requests by processor time: at least 1.1 of hey",
			"closed, requests by processor time: at least 3 of vegeta", "closed, requests by processor time: at least 6 of k6",
			"open at 5000/s, requests by processor time: at least 2 of vegeta", "open at 5000/s, lateness p99: never above 0.1 of vegeta's",
			"open at 5000/s, achieved by offered: at least 0.999", "open at 5000/s, lateness p99: at most 0.5 ms", "open at 5000/s, share bunched: at most 0.2",
		}},
		"one of them":            {options{modes: []string{modeClosed, modeOpen}, only: []string{"hey"}}, []string{"closed, requests by processor time: at least 1.1 of hey"}},
		"not its mode":           {options{modes: []string{modeOpen}}, nil},
		"a peer that is no goal": {options{modes: []string{modeClosed}, only: []string{"wrk2"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			o := Outcome{Target: Capacity{OnCPU: targetRate}, Open: &Open{}}
			for _, g := range goals(o, tt.asked)[1:] {
				if g.Met || g.Measured != "not measured" {
					t.Errorf("%+v", g)
				}
				got = append(got, g.Name+": "+g.Want)
			}
			if d := cmp.Diff(got, tt.want); d != "" {
				t.Errorf("(-got +want):\n%s", d)
			}
		})
	}
	text := goalTable([]Goal{{Name: "a", Measured: notMeasured}}).RenderMarkdown()
	if !strings.Contains(text, "| not measured | - |") {
		t.Error(text)
	}
}

func TestCompareLateness(t *testing.T) {
	late := func(by time.Duration) sample {
		s := used("", 3, time.Second)
		s.target.Records = arrivals(0, ms, 2*ms+by)
		return s
	}
	got := compare([]pair{{"vegeta", late(ms), late(4 * ms)}, {"vegeta", late(2 * ms), late(2 * ms)}}, []*tool{{name: "vegeta"}}, 1000, time.Second)
	if d := cmp.Diff(got[0].Late, &spread{2, 0.625, 0.25, 1}); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
}

func TestPrint(t *testing.T) {
	o := outcome()
	o.Goals = goals(o, all())
	for format, want := range map[string][]string{
		"text": {"│ 5000  │ vegeta │ 2.00 (2.00 to 2.00, n=4)", "│ hey     │", "unknown", "Goals"},
		"md":   {"| - | wrk | 0.90 (0.90 to 0.90, n=4) |", "| 20000 | loadgen | 1.0000 (1.0000 to 1.0000, n=4) | 0.1 (0.1 to 0.1, n=4) ms | - |", "| target | carries at least 60000/s on its core | 60000/s by its processor time, 50000/s served | met |"},
	} {
		t.Run(format, func(t *testing.T) {
			var out bytes.Buffer
			if err := o.print(&out, format); err != nil {
				t.Fatal(err)
			}
			for _, text := range want {
				if !strings.Contains(out.String(), text) {
					t.Errorf("%q is missing in\n%s", text, &out)
				}
			}
		})
	}
	t.Run("json", func(t *testing.T) {
		var out bytes.Buffer
		if err := o.print(&out, "json"); err != nil {
			t.Fatal(err)
		}
		var back Outcome
		if err := json.Unmarshal(out.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(back, o); d != "" {
			t.Errorf("(-got +want):\n%s", d)
		}
	})
}

// A tool that counts from the intended start is told with that, another one with the real send.
func TestWhatAToolSays(t *testing.T) {
	of := func(values map[string]float64) experiment.LoadResult {
		var r experiment.LoadResult
		for metric, v := range values {
			r.Observations = append(r.Observations, experiment.Observation{Metric: metric, Value: v})
		}
		return r
	}
	for name, tt := range map[string]struct {
		values map[string]float64
		want   Stalled
	}{
		"both":         {map[string]float64{"latency_p50": 2, "service_time_p50": 1}, Stalled{Says: Told{"p50": 2}, Of: "latency"}},
		"service time": {map[string]float64{"service_time_max": 1, "failed_latency_p50": 3}, Stalled{Says: Told{"max": 1}, Of: "service_time"}},
		"none":         {map[string]float64{"throughput": 1}, Stalled{Says: Told{}, Why: "it tells no response time"}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(Stalled{}.with(of(tt.values), nil), tt.want); d != "" {
				t.Errorf("(-got +want):\n%s", d)
			}
		})
	}
}

func TestAPeerThatFailsIsLeftOut(t *testing.T) {
	b, log := started(t)
	b.peers = []*tool{{name: "broken", path: "/bin/false", invoke: func(job) (invocation, error) { return invocation{}, nil }}}
	b.ours = fetcher(t)
	got, err := b.pairs(t.Context(), "closed", job{}, target.Stretch{}, b.peers)
	if err != nil || len(got) != 0 || strings.Count(log.String(), "from here on without broken ended with 1") != 1 {
		t.Errorf("%d pairs, %v, log %s", len(got), err, log)
	}
}

func TestPairsAlternate(t *testing.T) {
	b, _ := started(t)
	b.random = rand.New(rand.NewPCG(1, 0))
	b.ours = fetcher(t)
	var order []string
	noted := func(name string, by *tool) *tool {
		return &tool{name: name, path: by.path, invoke: func(j job) (invocation, error) {
			order = append(order, name)
			return by.invoke(j)
		}}
	}
	peer := noted("peer", fetcher(t))
	b.ours = noted(ours, b.ours)
	got, err := b.pairs(t.Context(), "closed", job{}, target.Stretch{}, []*tool{peer})
	if err != nil || len(got) != 2 {
		t.Fatalf("%d pairs, %v", len(got), err)
	}
	if d := cmp.Diff(order, []string{ours, "peer", "peer", ours}); d != "" {
		t.Errorf("order (-got +want):\n%s", d)
	}
	for _, p := range got {
		if p.ours.tool != ours || p.theirs.tool != "peer" || p.ours.target.Statuses[200] != 7 || p.theirs.target.Requests != 7 || p.ours.cpu <= 0 || p.ours.began <= 0 {
			t.Errorf("%+v", p)
		}
	}
}
