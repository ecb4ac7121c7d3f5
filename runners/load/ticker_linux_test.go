package load

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// Whoever waits is woken once for each moment, and never before it.
func TestTickerWakesEachAtItsMoment(t *testing.T) {
	c := startClock(0)
	tick := newTicker(t.Context(), c)
	if tick == nil {
		t.Fatal("the kernel gives no fine timer")
	}
	defer tick.close()
	var users sync.WaitGroup
	for i := range uint64(200) {
		users.Go(func() {
			bell, rng := newAlarm(c), rand.New(rand.NewPCG(i, 1))
			bell.ticker = tick
			at := time.Duration(0)
			for range 20 {
				at += time.Duration(rng.IntN(5000)) * time.Microsecond
				if !bell.until(t.Context(), at) || c.now() < at {
					t.Errorf("woken at %v for %v", c.now(), at)
				}
			}
		})
	}
	users.Wait()
	if len(tick.next) > 0 {
		t.Errorf("%d wake-ups are left", len(tick.next))
	}
}
