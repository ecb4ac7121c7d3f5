package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWorkersBoundWhatRunsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkers(3, 100)
		var running, most, done atomic.Int64
		for range 30 {
			go func() {
				if err := w.acquire(t.Context()); err != nil {
					t.Error(err)
					return
				}
				defer w.release()
				most.Store(max(most.Load(), running.Add(1)))
				time.Sleep(time.Second)
				running.Add(-1)
				done.Add(1)
			}()
		}
		synctest.Wait()
		if w.busy() != 3 || w.max() != 3 || w.queued() != 27 {
			t.Errorf("busy %d of %d, queued %d; want 3 of 3 and 27", w.busy(), w.max(), w.queued())
		}
		began := time.Now()
		time.Sleep(10*time.Second + time.Millisecond)
		if done.Load() != 30 || most.Load() != 3 {
			t.Errorf("after %v %d done, %d at once; want 30 and 3", time.Since(began), done.Load(), most.Load())
		}
		if w.busy() != 0 || w.queued() != 0 {
			t.Errorf("busy %d, queued %d at the end", w.busy(), w.queued())
		}
	})
}

func TestWorkersServeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkers(1, 100)
		if err := w.acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		var order, want []int
		for i := range 20 {
			go func() {
				if err := w.acquire(t.Context()); err != nil {
					t.Error(err)
				}
				order = append(order, i) // one at a time: the thread guards it
				w.release()
			}()
			synctest.Wait() // it stands in the queue
			want = append(want, i)
		}
		w.release()
		synctest.Wait()
		if d := cmp.Diff(want, order); d != "" {
			t.Error(d)
		}
	})
}

func TestWorkersQueueOverflowsAndForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkers(1, 2)
		if err := w.acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		waited := make(chan error, 2)
		for range 2 {
			go func() { waited <- w.acquire(ctx) }()
		}
		synctest.Wait()
		if err := w.acquire(t.Context()); !errors.Is(err, errQueueFull) {
			t.Errorf("third in a queue of 2: %v", err)
		}
		cancel() // the clients leave
		for range 2 {
			if err := <-waited; !errors.Is(err, context.Canceled) {
				t.Errorf("a client that left: %v", err)
			}
		}
		if w.queued() != 0 {
			t.Errorf("%d still queued", w.queued())
		}
		w.release()
		if err := w.acquire(t.Context()); err != nil {
			t.Errorf("free again: %v", err)
		}
	})
}
