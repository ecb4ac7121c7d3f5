package load

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// ticker wakes many goroutines, each at a moment of its own, by one fine timer.
type ticker struct {
	clock clock
	fine  *fineTimer
	stop  context.CancelFunc
	over  chan struct{}

	mu   sync.Mutex
	next wakeups
}

// newTicker gives nil where there is no fine timer. The caller closes it.
func newTicker(ctx context.Context, c clock) *ticker {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	t := &ticker{clock: c, fine: newFineTimer(ctx), stop: stop, over: make(chan struct{})}
	if t.fine == nil {
		stop()
		return nil
	}
	go t.run(ctx)
	return t
}

// close ends it; nobody may wait any more.
func (t *ticker) close() {
	t.stop()
	<-t.over
	t.fine.close()
}

// add wakes whoever waits for it at its moment. It reports whether it will.
func (t *ticker) add(w *wakeup) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	heap.Push(&t.next, w)
	if t.next[0] == w && !t.arm() {
		heap.Remove(&t.next, 0)
		return false
	}
	return true
}

// arm sets the timer to the first wake-up.
func (t *ticker) arm() bool { return t.fine.set(max(t.next[0].at-t.clock.now(), 1)) }

func (t *ticker) run(ctx context.Context) {
	defer close(t.over)
	for t.fine.expired() && ctx.Err() == nil {
		t.mu.Lock()
		for now := t.clock.now(); len(t.next) > 0 && t.next[0].at <= now; {
			heap.Pop(&t.next).(*wakeup).rings <- struct{}{}
		}
		if len(t.next) > 0 {
			t.arm()
		}
		t.mu.Unlock()
	}
}

// wakeup belongs to whoever waits for it, who may use it again.
type wakeup struct {
	at    time.Duration
	rings chan struct{} // takes a value at that moment; has room for one
}

// wakeups is a heap.
type wakeups []*wakeup

func (w wakeups) Len() int           { return len(w) }
func (w wakeups) Less(i, j int) bool { return w[i].at < w[j].at }
func (w wakeups) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *wakeups) Push(x any)        { *w = append(*w, x.(*wakeup)) }
func (w *wakeups) Pop() any {
	last := len(*w) - 1
	x := (*w)[last]
	*w = (*w)[:last]
	return x
}
