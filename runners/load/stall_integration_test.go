//go:build integration

package load

import (
	"bytes"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// The same as in the bubble, over TCP and by the real clock. The truth is what the
// server saw: when it finished each request, against when that was intended. A
// host that is held up itself delays both alike.
func TestAStallShowsByTheRealClock(t *testing.T) {
	const (
		service = 100 * ms
		rate    = 1000
		before  = 1000 // arrivals of the warm-up
	)
	l := experiment.Load{
		Requests: get(t, "/"), Warmup: time.Second, Measure: 10 * time.Second, Timeout: 10 * time.Second,
		Connections: 2000, KeepAlive: true, Open: &experiment.OpenLoad{Rate: rate, InFlight: 2000},
	}
	var n atomic.Int64
	finished := make([]time.Time, before+10*rate+1)
	delay := stallOnce(before+2000, service)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		i := n.Add(1) - 1
		time.Sleep(delay(i))
		if i < int64(len(finished)) {
			finished[i] = time.Now()
		}
	}))
	defer s.Close()
	l.Targets = []string{s.Listener.Addr().String()}

	var out bytes.Buffer
	if err := (Generator{Load: l, Out: &out}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var began time.Time
	r, err := Reader{}.Read(t.Context(), &out, func(e experiment.LoadEvent) {
		if e.Phase == experiment.PhaseMeasure {
			began = e.At
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Total.Sent != n.Load() || r.Total.Dropped+r.Total.Failed+r.Total.Unfinished > 0 {
		t.Fatalf("the server counted %d: %+v", n.Load(), r.Total)
	}
	var truth []time.Duration
	for k := range 10 * rate {
		truth = append(truth, finished[before+k].Sub(began.Add(time.Duration(k)*time.Second/rate)))
	}
	slices.Sort(truth)
	if p99 := nearestRank(truth, 0.99); p99 < 800*ms {
		t.Fatalf("the server did not stall: p99 %v", p99)
	}
	got := observed(t, r)
	for metric, q := range map[string]float64{"latency_p50": 0.5, "latency_p99": 0.99, "latency_p999": 0.999} {
		want := nearestRank(truth, q).Seconds()
		if d := math.Abs(got[metric]/want - 1); !(d <= 0.02) {
			t.Errorf("%s is %g s, the truth %g s: %.1f%% off", metric, got[metric], want, 100*d)
		}
		t.Logf("%s: %.4f s, truth %.4f s", metric, got[metric], want)
	}
}
