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
// every latency of an open load, so a fine alarm asks the kernel instead, where
// that is possible.
type alarm struct {
	clock clock
	timer *time.Timer
	fine  *fineTimer // nil: by the runtime's timer
}

// newAlarm makes an alarm; the caller closes it.
func newAlarm(ctx context.Context, c clock, fine bool) *alarm {
	a := &alarm{clock: c}
	if fine {
		a.fine = newFineTimer(ctx)
	}
	return a
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
