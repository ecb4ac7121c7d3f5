package load

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ceteris/ceteris/experiment"
)

func TestUserSpan(t *testing.T) {
	const ramp, length = time.Second, 4 * time.Second
	type span struct{ from, to time.Duration }
	tests := map[string]struct {
		i, before, users int
		want             span
	}{
		"one who was there stays":                   {0, 2, 4, span{0, length}},
		"of two who come the first comes at once":   {2, 2, 4, span{0, length}},
		"the second in the middle of the ramp":      {3, 2, 4, span{500 * ms, length}},
		"of two who go the last is the first":       {3, 4, 2, span{0, 500 * ms}},
		"the other goes at the end of the ramp":     {2, 4, 2, span{0, time.Second}},
		"one who stays when others go":              {1, 4, 2, span{0, length}},
		"the number stays":                          {1, 2, 2, span{0, length}},
		"one who takes part neither before nor now": {4, 4, 2, span{0, 0}},
		"all go": {0, 1, 0, span{0, time.Second}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			from, to := UserSpan(tt.i, tt.before, tt.users, ramp, length)
			if got := (span{from, to}); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// The gaps of a Poisson process are exponential: their mean is the period, their
// deviation too, and a share 1/e of them is longer than it.
func TestPoissonArrivals(t *testing.T) {
	const n = 100_000
	p := Pacer{Rate: 1000}
	a := arrivals{gaps: draws(1, poissonGaps)}
	var (
		last          time.Duration
		sum, sum2     float64
		long, perSlot float64
		slots         = map[int]float64{}
	)
	a.first()
	for range n {
		at := p.At(a.n)
		gap := (at - last).Seconds() * p.Rate
		sum, sum2 = sum+gap, sum2+gap*gap
		if gap > 1 {
			long++
		}
		slots[int(at/(10*ms))]++
		last = at
		a.next()
	}
	mean := sum / n
	if deviation := math.Sqrt(sum2/n - mean*mean); math.Abs(mean-1) > 0.01 || math.Abs(deviation-1) > 0.02 {
		t.Errorf("gaps of mean %g and deviation %g periods, want 1 and 1", mean, deviation)
	}
	if share := long / n; math.Abs(share-1/math.E) > 0.005 {
		t.Errorf("a share of %g is longer than the period, want %g", share, 1/math.E)
	}
	for i := range 9000 { // the variance of counts is their mean, 10
		perSlot += (slots[i] - 10) * (slots[i] - 10)
	}
	if v := perSlot / 9000; v < 9 || v > 11 {
		t.Errorf("counts in 10 ms have the variance %g, want 10", v)
	}
}

func TestPoissonLoadIsThatOfItsSeed(t *testing.T) {
	offered := func(seed uint64) []float64 {
		var out []float64
		l := experiment.Load{Ramp: 500 * ms, Measure: 2 * time.Second, Timeout: time.Second, Seed: seed, Open: &experiment.OpenLoad{Rate: 500, InFlight: 100, Poisson: true}}
		bubble(t, l, constant(ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
			for _, p := range r.Series {
				if p.Metric == "offered" {
					out = append(out, p.Value)
				}
			}
			if got := observed(t, r)["offered"]; math.Abs(got-500) > 60 {
				t.Errorf("%g arrived in a second, want about 500", got)
			}
		})
		return out
	}
	first := offered(3)
	if d := cmp.Diff(offered(3), first); d != "" {
		t.Errorf("the same seed gives other arrivals:\n%s", d)
	}
	if cmp.Equal(offered(4), first) {
		t.Error("another seed gives the same arrivals")
	}
}

// What queues is sent late, with its intended start kept: its response time tells.
func TestOpenLoadQueuesAboveInFlight(t *testing.T) {
	l := experiment.Load{Measure: 2 * time.Second, Timeout: 10 * time.Second, Connections: 50, Open: &experiment.OpenLoad{Rate: 100, InFlight: 2, Queue: true}}
	bubble(t, l, constant(40*ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
		o := observed(t, r)
		// Two at a time are 50 a second: the 200th, intended at 1.99 s, is done at 4 s.
		want := map[string]float64{"offered": 100, "sent": 50, "dropped": 0, "latency_count": 200, "latency_max": 2.01, "service_time_max": 0.04, "unfinished": 0}
		for metric, v := range want {
			if math.Abs(o[metric]-v) > 0.01*v {
				t.Errorf("%s is %g, want %g", metric, o[metric], v)
			}
		}
	})
	t.Run("what waits when drain ends was never sent", func(t *testing.T) {
		l := l
		l.Timeout = 500 * ms
		bubble(t, l, constant(40*ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
			// Until 2.5 s, 63 turns of two were begun, the last at 2.48 s.
			want := experiment.Totals{Offered: 200, Sent: 126, Waiting: 74, OK: 124, Unfinished: 76, Connects: 2, Statuses: map[string]int64{"200": 124}}
			if d := cmp.Diff(r.Total, want, cmpopts.IgnoreFields(want, "BytesSent", "BytesReceived")); d != "" {
				t.Errorf("total (-got +want):\n%s", d)
			}
		})
	})
}

// The load of the drain study: 60 a second, reached in steps of 20 every 5 s by three
// streams.
func TestStreamsAddUp(t *testing.T) {
	step := experiment.OpenLoad{Rate: 20, InFlight: 400}
	l := experiment.Load{
		Warmup: 15 * time.Second, Measure: 10 * time.Second, Timeout: time.Second, Open: &step,
		Streams: []experiment.Stream{{After: 5 * time.Second, Open: step}, {After: 10 * time.Second, Open: step}},
	}
	bubble(t, l, constant(ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
		var got []float64
		for from := -15.0; from < 10; from += 5 {
			got = append(got, inSlices(r, "offered", from, from+5)/5)
		}
		if d := cmp.Diff(got, []float64{20, 40, 60, 60, 60}); d != "" {
			t.Errorf("offered a second, by 5 s (-got +want):\n%s", d)
		}
	})
	t.Run("each has its own account of what is in flight", func(t *testing.T) {
		l := l
		l.Streams = []experiment.Stream{{Open: experiment.OpenLoad{Rate: 1, InFlight: 1}}}
		l.Open = &experiment.OpenLoad{Rate: 100, InFlight: 1}
		bubble(t, l, constant(900*ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
			// Of the stream every request finds room: 25, and of the other one a tenth of
			// that second.
			if got := r.Total.Sent; got < 25+27 || got > 25+28 {
				t.Errorf("sent %d of %d", got, r.Total.Offered)
			}
		})
	})
}

func TestConnectionsAreDealtToReplicas(t *testing.T) {
	for name, l := range map[string]experiment.Load{
		"closed":                  {Closed: &experiment.ClosedLoad{Users: 6}},
		"closed, few connections": {Closed: &experiment.ClosedLoad{Users: 12}, Connections: 6},
		"open":                    {Open: &experiment.OpenLoad{Rate: 1000, InFlight: 6}},
	} {
		t.Run(name, func(t *testing.T) {
			l.Targets, l.Measure, l.Timeout = []string{"a:80", "b:80", "c:80"}, time.Second, time.Second
			m := constant(20 * ms)
			bubble(t, l, m, func(*testing.T, experiment.LoadResult, map[experiment.Phase]time.Duration) {})
			if d := cmp.Diff(m.dials, map[string]int{"a:80": 2, "b:80": 2, "c:80": 2}); d != "" {
				t.Errorf("connections (-got +want):\n%s", d)
			}
		})
	}
}

func shop(t *testing.T) experiment.Load {
	t.Helper()
	return experiment.Load{
		Measure: 2 * time.Second, Timeout: time.Second, Seed: 9,
		Data: &experiment.DataFeed{Columns: []string{"user"}, Rows: 7},
		Requests: []experiment.Request{
			{Name: "search", Weight: 3, Method: "GET", Path: template(t, "/${random:1..1000}")},
			{Name: "buy", Weight: 1, Method: "POST", Path: template(t, "/buy?u=${data:user}"), Status: []experiment.Status{{From: 500, To: 500}}},
		},
	}
}

func TestNamedRequestsHaveMetricsOfTheirOwn(t *testing.T) {
	l := shop(t)
	l.Open = &experiment.OpenLoad{Rate: 1000, InFlight: 100}
	bubble(t, l, constant(10*ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
		o := observed(t, r)
		for metric, want := range map[string]float64{
			"throughput": 750, "throughput{search}": 750, "throughput{buy}": 0, "offered{search}": 750, "offered{buy}": 250,
			"error_rate{search}": 0, "error_rate{buy}": 1, "latency_p95{search}": 0.01, "failed_latency_p95{buy}": 0.01,
			"error_rate": 0.25, "requests_done{buy}": 500, "dropped{buy}": 0, "unfinished{search}": 0, "service_time_p99{search}": 0.01,
		} {
			if got, ok := o[metric]; !ok || math.Abs(got-want) > 0.1*want {
				t.Errorf("%s is %g, want about %g", metric, got, want)
			}
		}
		if _, ok := o["latency_p95{buy}"]; ok {
			t.Error("a response time of successes where there is none")
		}
		var histograms []string
		for _, h := range r.Histograms {
			histograms = append(histograms, strings.TrimSpace(fmt.Sprintf("%s %s %s", h.Phase, h.Kind, h.Request)))
		}
		want := []string{
			"measure success", "measure failure", "measure service_time", "measure success search", "measure service_time search", "measure failure buy",
		}
		if d := cmp.Diff(histograms, want); d != "" {
			t.Errorf("histograms (-got +want):\n%s", d)
		}
		if r.Requests["buy"].Errors[experiment.FailureStatus] != r.Requests["buy"].Sent {
			t.Errorf("buy: %+v", r.Requests["buy"])
		}
	})
}

// The seed decides which requests come and with which values, whatever the server does.
func TestTheSeedDecidesTheMix(t *testing.T) {
	ask := func(seed uint64, delay time.Duration) []string {
		l := shop(t)
		l.Seed, l.Open = seed, &experiment.OpenLoad{Rate: 200, InFlight: 300}
		m := constant(delay)
		bubble(t, l, m, func(*testing.T, experiment.LoadResult, map[experiment.Phase]time.Duration) {})
		return m.asked
	}
	first := ask(1, ms)
	if d := cmp.Diff(ask(1, 300*ms), first); d != "" {
		t.Errorf("a slower server is asked other things:\n%s", d)
	}
	if slices.Equal(ask(2, ms), first) {
		t.Error("another seed asks the same")
	}
	var users []string
	for _, a := range first {
		if u, ok := strings.CutPrefix(a, "POST /buy?u=user-"); ok {
			users = append(users, u)
		}
	}
	if got := strings.Join(users[:9], " "); got != "0 1 2 3 4 5 6 0 1" {
		t.Errorf("rows came in the order %s", got)
	}
}
