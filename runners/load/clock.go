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
// possible: by a timer of the alarm's own, or by one that many share.
type alarm struct {
	clock  clock
	timer  *time.Timer
	fine   *fineTimer // nil: not by one of its own
	ticker *ticker    // nil: not by one that is shared
	wake   chan struct{}
}

func newAlarm(c clock) *alarm { return &alarm{clock: c} }

// newFineAlarm makes one with a timer of its own until ctx ends; the caller closes it.
func newFineAlarm(ctx context.Context, c clock) *alarm {
	return &alarm{clock: c, fine: newFineTimer(ctx)}
}

func (a *alarm) close() {
	if a.fine != nil {
		a.fine.close()
	}
}

// until waits until the given moment and reports whether it came before ctx
// ended. It returns at once when the moment has passed.
func (a *alarm) until(ctx context.Context, at time.Duration) bool {
	wait := at - a.clock.now()
	if wait <= 0 {
		return ctx.Err() == nil
	}
	if a.fine != nil && a.fine.wait(wait) {
		return ctx.Err() == nil
	}
	if a.wake == nil && a.ticker != nil {
		a.wake = make(chan struct{}, 1)
	}
	if a.wake != nil && a.ticker.add(at, a.wake) {
		select {
		case <-a.wake:
			return true
		case <-ctx.Done():
			return false // for good: the alarm is not asked again
		}
	}
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
