package load

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// settle is how long a slice stays open after its end, for events whose
// goroutine took the time and was then held up.
const settle = 250 * time.Millisecond

// never is a moment that does not come.
const never = time.Duration(1<<63 - 1)

// recorder adds up what its shards, one for each core, have taken.
type recorder struct {
	shards []*shard
	names  []string // of the kinds; none where there is one without
	drops  bool     // an open load is part of it
	bodies bool     // of what goes over the wire the bodies of responses alone are known
	work   work
	ended  func(time.Duration) // called when the work is done, with the window's end

	mu       sync.Mutex
	arrivals []time.Duration // of each lane: earlier ones were all handed in
}

func newRecorder(l experiment.Load) *recorder {
	r := &recorder{drops: anyOpen(l), bodies: l.HTTP2, ended: func(time.Duration) {}}
	if len(l.Requests) > 1 || len(l.Requests) == 1 && l.Requests[0].Name != "" {
		for _, q := range l.Requests {
			r.names = append(r.names, q.Name)
		}
	}
	r.work.left.Store(l.Work)
	r.work.over = r.endWork
	for range runtime.GOMAXPROCS(0) {
		s := newShard(l, len(r.names))
		if l.Work > 0 {
			s.work = &r.work
		}
		r.shards = append(r.shards, s)
	}
	if r.drops {
		for range 1 + len(l.Streams) {
			r.arrivals = append(r.arrivals, r.shards[0].timeline.start)
		}
	}
	return r
}

// shard gives that of the i-th who records.
func (r *recorder) shard(i int) *shard { return r.shards[i%len(r.shards)] }

// all calls f while nobody records.
func (r *recorder) all(f func()) {
	for _, s := range r.shards {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	f()
}

// expect tells that no arrival of a lane before the given moment is still to come.
func (r *recorder) expect(lane int, at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrivals[lane] = at
}

// endWork ends the window when its work is done: after all that was recorded so
// far. What is recorded later counts by its own moment.
func (r *recorder) endWork() {
	var end time.Duration
	r.all(func() {
		first := r.shards[0]
		end = first.beginOf(first.first) + minWindow
		for _, s := range r.shards {
			end = max(end, s.latest+1)
		}
		end = min(end, first.windows[0].end)
		for _, s := range r.shards {
			s.windows[0].end = end
			s.cut(end)
		}
	})
	r.ended(end)
}

// beginWindow brings the begin of the window forward to the next slice after the given
// moment, which must not lie before now, and gives its begin and end.
func (r *recorder) beginWindow(now time.Duration) (begin, end time.Duration) {
	r.all(func() {
		for _, s := range r.shards {
			w := s.windows[0]
			if next := (now/s.width + 1) * s.width; next < w.begin {
				w.begin, w.end = next, w.end-(w.begin-next)
				s.first += s.forward(next)
			}
			begin, end = w.begin, w.end
		}
	})
	return begin, end
}

// span gives the begin of the first window and the end of the last one.
func (r *recorder) span() (begin, end time.Duration) {
	s := r.shards[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.windows[0].begin, s.windows[len(s.windows)-1].end
}

// missing is how much of the work was not done.
func (r *recorder) missing() int64 { return max(r.work.left.Load(), 0) }

// closeSlices takes out the slices that are over at the given moment; with final,
// the end of drain, all that are left.
func (r *recorder) closeSlices(now time.Duration, final bool) []closed {
	by := now
	if !final {
		by = r.settled(now)
	}
	var out []closed
	for _, s := range r.shards {
		s.mu.Lock()
		for i, c := range s.close(by, final) {
			if i == len(out) {
				out = append(out, c)
			} else {
				s.recycle(out[i].merge(c))
			}
		}
		s.mu.Unlock()
	}
	return out
}

// recycle gives back what closeSlices handed out, to the shard that has the least: one
// that got back more than it took would hoard.
func (r *recorder) recycle(done []closed) {
	r.all(func() {
		for _, c := range done {
			least := slices.MinFunc(r.shards, func(a, b *shard) int { return len(a.spare) - len(b.spare) })
			least.recycle(c.latencies)
		}
	})
}

// settled is the moment before which everything was recorded.
func (r *recorder) settled(now time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.arrivals) == 0 {
		return now - settle
	}
	return min(now-settle, slices.Min(r.arrivals))
}
