package load

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// settle is how long a slice stays open after its end, for events whose
// goroutine took the time and was then held up.
const settle = 100 * time.Millisecond

// never is a moment that does not come.
const never = time.Duration(math.MaxInt64)

// recorder takes the events of all requests. It is safe for concurrent use; times
// are handed in, so it has no clock. Requests are told apart by their kind, the index
// in the load's list.
type recorder struct {
	mu      sync.Mutex
	names   []string // of the kinds; none where there is one without
	windows []*window
	total   counts
	byName  []counts // the total of each name
	timeline
	arrivals []time.Duration // of each lane: earlier ones were all handed in

	work   int64               // requests that end the window; 0: none do
	latest time.Duration       // moment of all events, where there is work
	ended  func(time.Duration) // called when the work is done, with the window's end
}

func newRecorder(l experiment.Load) *recorder {
	r := &recorder{work: l.Work, latest: -lead(l), ended: func(time.Duration) {}}
	if len(l.Requests) > 1 || len(l.Requests) == 1 && l.Requests[0].Name != "" {
		for _, q := range l.Requests {
			r.names = append(r.names, q.Name)
		}
	}
	r.byName = make([]counts, len(r.names))
	r.windows = newWindows(l, len(r.names))
	r.timeline = newTimeline(l, len(r.windows))
	if r.drops {
		for range 1 + len(l.Streams) {
			r.arrivals = append(r.arrivals, r.start)
		}
	}
	return r
}

// inside gives the window in which a moment lies; nil for none.
func (r *recorder) inside(at time.Duration) *window {
	for _, w := range r.windows {
		if at < w.end {
			if at < w.begin {
				return nil
			}
			return w
		}
	}
	return nil
}

// each calls f for the counts to which an event at this moment belongs.
func (r *recorder) each(kind int, at time.Duration, f func(*counts)) {
	f(&r.total)
	w := r.inside(at)
	if w != nil {
		f(&w.all.counts)
	}
	if len(r.names) > 0 {
		f(&r.byName[kind])
		if w != nil {
			f(&w.named[kind].counts)
		}
	}
	if r.work > 0 {
		r.latest = max(r.latest, at)
	}
}

// of calls f for the tallies of the window in which an intended start lies.
func (r *recorder) of(kind int, intended time.Duration, f func(*tally)) {
	w := r.inside(intended)
	if w == nil {
		return
	}
	f(&w.all)
	if len(r.names) > 0 {
		f(&w.named[kind])
	}
}

// expect tells that no arrival of a lane before the given moment is still to come.
func (r *recorder) expect(lane int, at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrivals[lane] = at
}

// offer enters a request that is in flight from its intended start.
func (r *recorder) offer(kind int, intended time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.each(kind, intended, func(c *counts) { c.offered++ })
	r.at(intended).offered++
	r.shift(intended, 1)
}

// drop enters an arrival that is not sent.
func (r *recorder) drop(kind int, intended time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.each(kind, intended, func(c *counts) { c.offered++; c.dropped++ })
	s := r.at(intended)
	s.offered++
	s.dropped++
}

// send enters the real send of an offered request.
func (r *recorder) send(kind int, intended, sent time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.each(kind, sent, func(c *counts) { c.sent++ })
	r.at(sent).sent++
	if w := r.inside(intended); w != nil {
		w.all.lateness.Add(sent - intended)
	}
}

// done enters the end of a sent request.
func (r *recorder) done(kind int, intended, sent, end time.Duration, o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.each(kind, end, func(c *counts) { c.done(o) })
	s := r.at(end)
	s.done++
	r.shift(end, -1)
	if o.kind != "" {
		s.failed++
		r.of(kind, intended, func(t *tally) { t.failure.Add(end - intended) })
	} else {
		r.landed(s, end-intended)
		r.of(kind, intended, func(t *tally) {
			t.success.Add(end - intended)
			t.service.Add(end - sent)
		})
	}
	if r.work > 0 {
		r.endWork()
	}
}

// unfinished enters a request that is open when drain ends, at its age. sent is
// never if it got no connection.
func (r *recorder) unfinished(kind int, intended, sent, end time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.each(kind, intended, func(c *counts) {
		c.unfinished++
		if sent == never {
			c.waiting++
		}
	})
	r.shift(end, -1)
	r.of(kind, intended, func(t *tally) {
		t.success.Add(end - intended)
		if sent != never {
			t.service.Add(end - sent)
		}
	})
}

// endWork ends the window as soon as its work is done: after all that was recorded so
// far. What is recorded later counts by its own moment.
func (r *recorder) endWork() {
	w := r.windows[0]
	if w.all.ok+w.all.failed < r.work {
		return
	}
	r.work = 0
	w.end = min(max(r.latest+1, r.beginOf(r.first)+minWindow), w.end)
	r.cut(w.end)
	r.ended(w.end)
}

// beginWindow brings the begin of the window forward to the next slice after the given
// moment, which must not lie before now, and gives its begin and end.
func (r *recorder) beginWindow(now time.Duration) (begin, end time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.windows[0]
	if next := (now/r.width + 1) * r.width; next < w.begin {
		w.begin, w.end = next, w.end-(w.begin-next)
		r.first += r.forward(next)
	}
	return w.begin, w.end
}

// span gives the begin of the first window and the end of the last one.
func (r *recorder) span() (begin, end time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.windows[0].begin, r.windows[len(r.windows)-1].end
}

// missing is how much of the work was not done.
func (r *recorder) missing() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work == 0 {
		return 0
	}
	return r.work - r.windows[0].all.ok - r.windows[0].all.failed
}

// closeSlices takes out the slices that are over at the given moment; with final,
// the end of drain, all that are left.
func (r *recorder) closeSlices(now time.Duration, final bool) []closed {
	r.mu.Lock()
	defer r.mu.Unlock()
	if final {
		return r.close(now, true)
	}
	by := now - settle
	if len(r.arrivals) > 0 {
		by = min(by, slices.Min(r.arrivals))
	}
	return r.close(by, false)
}

// recycle gives back what closeSlices handed out.
func (r *recorder) recycle(done []closed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range done {
		if c.latencies != nil {
			r.spare = append(r.spare, c.latencies[:0])
		}
	}
}
