package load

import (
	"context"
	"time"
)

// clock tells moments as durations from the window's start.
type clock struct{ window time.Time }

// startClock makes a clock whose window begins lead from now.
func startClock(lead time.Duration) clock { return clock{window: time.Now().Add(lead)} }

func (c clock) now() time.Duration { return time.Since(c.window) }

func (c clock) time(at time.Duration) time.Time { return c.window.Add(at) }

// alarm waits for moments of a clock, for one goroutine. The runtime's timers
// round a wait of an idle process up to whole milliseconds; that would stand in
// every latency of an open load, so the kernel is asked instead, where that is
// possible: by having a thread sleep, or by a timer that many share.
type alarm struct {
	clock  clock
	timer  *time.Timer
	sleeps bool    // its thread does, where it can
	ticker *ticker // nil: not by one that is shared
	wake   *wakeup
}

// longSleep is the longest time for which a thread sleeps: nothing wakes it before.
const longSleep = 20 * time.Millisecond

func newAlarm(c clock) *alarm { return &alarm{clock: c} }

// newSleepAlarm makes one for a goroutine that has nothing to do but to be in time, and
// takes a thread for it. The caller closes it.
func newSleepAlarm(c clock) *alarm {
	return &alarm{clock: c, sleeps: lockSleeper()}
}

func (a *alarm) close() {
	if a.sleeps {
		unlockSleeper()
	}
}

// until waits until the given moment and reports whether it came before ctx
// ended. It returns at once when the moment has passed.
func (a *alarm) until(ctx context.Context, at time.Duration) bool {
	wait := at - a.clock.now()
	if a.sleeps && wait > longSleep {
		if !a.later(ctx, wait-longSleep/2) {
			return false
		}
		wait = at - a.clock.now()
	}
	for a.sleeps && wait > 0 {
		sleep(wait)
		wait = at - a.clock.now()
	}
	if wait <= 0 || ctx.Err() != nil {
		return ctx.Err() == nil
	}
	if a.ticker == nil || !a.ring(at) {
		return a.later(ctx, wait)
	}
	select {
	case <-a.wake.rings:
		return true
	case <-ctx.Done():
		return false // for good: the wake-up is not taken back
	}
}

// ring has the ticker wake at the given moment, and reports whether it will.
func (a *alarm) ring(at time.Duration) bool {
	if a.wake == nil {
		a.wake = &wakeup{rings: make(chan struct{}, 1)}
	}
	a.wake.at = at
	return a.ticker.add(a.wake)
}

// later waits for so long by a timer of the runtime, and reports whether it did before ctx
// ended.
func (a *alarm) later(ctx context.Context, wait time.Duration) bool {
	if a.timer == nil {
		a.timer = time.NewTimer(wait)
	} else {
		a.timer.Reset(wait)
	}
	select {
	case <-a.timer.C:
		return true
	case <-ctx.Done():
		a.timer.Stop()
		return false
	}
}
