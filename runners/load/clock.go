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

// alarm waits for moments of a clock. The zero value is ready for use by one
// goroutine.
type alarm struct{ timer *time.Timer }

// until waits until the given moment and reports whether it came before ctx
// ended. It returns at once when the moment has passed.
func (a *alarm) until(ctx context.Context, c clock, at time.Duration) bool {
	wait := at - c.now()
	if wait <= 0 {
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
