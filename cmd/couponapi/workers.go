package main

import (
	"context"
	"errors"
	"sync/atomic"
)

// queueLimit is how many requests may wait for a thread. Above it they are
// refused, so that an overload costs bounded memory.
const queueLimit = 10_000

var errQueueFull = errors.New("queue is full")

// workers bounds how many requests are worked on at once. A thread here is the
// right to work: the request keeps its goroutine, as in a pool of threads that
// block, without handing it to another one and back.
type workers struct {
	slots   chan struct{}
	limit   int64
	waiting atomic.Int64
}

func newWorkers(threads, queue int) *workers {
	return &workers{slots: make(chan struct{}, threads), limit: int64(queue)}
}

// acquire waits for a thread, first come, first served (the runtime serves
// blocked senders of a channel in order). It fails with errQueueFull at once, or
// with the context's error when the client gave up.
func (w *workers) acquire(ctx context.Context) error {
	select {
	case w.slots <- struct{}{}: // only succeeds while nobody waits
		return nil
	default:
	}
	if w.waiting.Add(1) > w.limit {
		w.waiting.Add(-1)
		return errQueueFull
	}
	defer w.waiting.Add(-1)
	select {
	case w.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *workers) release() { <-w.slots }

// busy, max and queued are gauges in requests.
func (w *workers) busy() int   { return len(w.slots) }
func (w *workers) max() int    { return cap(w.slots) }
func (w *workers) queued() int { return int(w.waiting.Load()) }
