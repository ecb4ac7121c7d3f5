//go:build integration

package load

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// The same as in the bubble, over TCP and by the real clock. The truth holds on a
// host that is not held up itself: one attempt of three has to meet it.
func TestAStallShowsByTheRealClock(t *testing.T) {
	const attempts = 3
	for i := range attempts {
		off := stallByTheRealClock(t)
		if len(off) == 0 {
			return
		}
		t.Logf("attempt %d: %v", i+1, off)
	}
	t.Errorf("off the truth in all of %d attempts", attempts)
}

func stallByTheRealClock(t *testing.T) (off []string) {
	const service = 100 * ms // the server sleeps up to 1 ms too long
	var n atomic.Int64
	delay := stallOnce(1000+2000, service)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(delay(n.Add(1) - 1)) }))
	defer s.Close()
	l := experiment.Load{
		Target: s.Listener.Addr().String(), Path: template(t, "/"), Warmup: time.Second, Measure: 10 * time.Second, Timeout: 10 * time.Second,
		Connections: 2000, KeepAlive: true, Open: &experiment.OpenLoad{Rate: 1000, InFlight: 2000},
	}
	r := onLoopback(t, l)
	if r.Total.Sent != n.Load() {
		t.Errorf("sent %d, the server counted %d", r.Total.Sent, n.Load())
	}
	return offTruth(t, r, l.Measure, service, 2000)
}
