package load

import (
	"math"
	"strconv"
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
// are handed in, so it has no clock.
type recorder struct {
	mu       sync.Mutex
	window   time.Duration
	openLoad bool

	success, failure, service, lateness distribution // intended start inside the window

	inWindow counts // each at its own moment; statuses and errors of those done in the window
	total    counts
	timeline timeline
	arrivals time.Duration // earlier ones were all handed in
}

type counts struct {
	offered, sent, dropped, waiting, ok, failed, unfinished int64

	statuses [1000]int64 // three digits, as the protocol has it
	errors   map[string]int64
}

func newRecorder(l experiment.Load) *recorder {
	r := &recorder{
		window: l.Measure, openLoad: l.Open != nil, timeline: newTimeline(l), arrivals: never,
		success: newDistribution(), failure: newDistribution(), service: newDistribution(), lateness: newDistribution(),
	}
	if r.openLoad {
		r.arrivals = r.timeline.start
	}
	r.inWindow.errors, r.total.errors = map[string]int64{}, map[string]int64{}
	return r
}

func (r *recorder) inside(at time.Duration) bool { return at >= 0 && at < r.window }

// each calls f for the counts to which an event at this moment belongs.
func (r *recorder) each(at time.Duration, f func(*counts)) {
	f(&r.total)
	if r.inside(at) {
		f(&r.inWindow)
	}
}

// expect tells that no arrival before the given moment is still to come.
func (r *recorder) expect(at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrivals = at
}

// offer enters a request that is in flight from its intended start.
func (r *recorder) offer(intended time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.each(intended, func(c *counts) { c.offered++ })
	r.timeline.at(intended).offered++
	r.timeline.shift(intended, 1)
}

// drop enters an arrival that is not sent.
func (r *recorder) drop(intended time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.each(intended, func(c *counts) { c.offered++; c.dropped++ })
	s := r.timeline.at(intended)
	s.offered++
	s.dropped++
}

// send enters the real send of an offered request.
func (r *recorder) send(intended, sent time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.each(sent, func(c *counts) { c.sent++ })
	r.timeline.at(sent).sent++
	if r.inside(intended) {
		r.lateness.add(sent - intended)
	}
}

// done enters the end of a sent request.
func (r *recorder) done(intended, sent, end time.Duration, o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.each(end, func(c *counts) {
		if o.status > 0 {
			c.statuses[o.status]++
		}
		if o.kind == "" {
			c.ok++
		} else {
			c.failed++
			c.errors[o.kind]++
		}
	})
	s := r.timeline.at(end)
	s.done++
	r.timeline.shift(end, -1)
	switch {
	case o.kind != "":
		s.failed++
		if r.inside(intended) {
			r.failure.add(end - intended)
		}
	default:
		r.timeline.landed(s, end-intended)
		if r.inside(intended) {
			r.success.add(end - intended)
			r.service.add(end - sent)
		}
	}
}

// unfinished enters a request that is open when drain ends, at its age. sent is
// never if it got no connection.
func (r *recorder) unfinished(intended, sent, end time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total.unfinished++
	if sent == never {
		r.total.waiting++
	}
	r.timeline.shift(end, -1)
	if !r.inside(intended) {
		return
	}
	r.success.add(end - intended)
	if sent != never {
		r.service.add(end - sent)
	}
}

// closeSlices takes out the slices that are over at the given moment; with final,
// the end of drain, all that are left.
func (r *recorder) closeSlices(now time.Duration, final bool) []closed {
	r.mu.Lock()
	defer r.mu.Unlock()
	if final {
		return r.timeline.close(now, true)
	}
	return r.timeline.close(min(now-settle, r.arrivals), false)
}

// recycle gives back what closeSlices handed out.
func (r *recorder) recycle(done []closed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range done {
		if c.latencies != nil {
			r.timeline.spare = append(r.timeline.spare, c.latencies[:0])
		}
	}
}

// totals gives the counts of the whole run.
func (r *recorder) totals() experiment.Totals {
	c := &r.total
	return experiment.Totals{
		Offered: c.offered, Sent: c.sent, Dropped: c.dropped, Waiting: c.waiting,
		OK: c.ok, Failed: c.failed, Unfinished: c.unfinished,
		Statuses: c.byStatus(), Errors: c.byKind(),
	}
}

func (c *counts) byStatus() map[string]int64 {
	var out map[string]int64
	for status, n := range c.statuses {
		if n > 0 {
			if out == nil {
				out = map[string]int64{}
			}
			out[strconv.Itoa(status)] = n
		}
	}
	return out
}

func (c *counts) byKind() map[string]int64 {
	if len(c.errors) == 0 {
		return nil
	}
	return c.errors
}
