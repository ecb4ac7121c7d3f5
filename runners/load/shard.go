package load

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// shard takes the events of some of the requests, so that cores do not wait for one
// another; the recorder adds the shards up. It is safe for concurrent use; times are
// handed in, so it has no clock. Requests are told apart by their kind, the index in the
// load's list.
type shard struct {
	mu      sync.Mutex
	windows []*window
	total   counts
	byName  []counts // the total of each name; none where there is a kind without one
	timeline

	latest time.Duration // moment of all events
	work   *work         // nil: the window ends by its time
}

// work is what ends the window of a load of fixed work.
type work struct {
	left atomic.Int64 // requests to be done; below 0 when more were
	over func()
}

func newShard(l experiment.Load, names int) *shard {
	s := &shard{latest: -lead(l), byName: make([]counts, names), windows: newWindows(l, names)}
	s.timeline = newTimeline(l, len(s.windows))
	return s
}

// inside gives the window in which a moment lies; nil for none.
func (s *shard) inside(at time.Duration) *window {
	for _, w := range s.windows {
		if at < w.end {
			if at < w.begin {
				return nil
			}
			return w
		}
	}
	return nil
}

// scopes are the counts to which an event belongs.
type scopes struct {
	list [4]*counts
	n    int
}

func (s *scopes) add(c *counts) {
	s.list[s.n] = c
	s.n++
}

// scopes gives those of a moment, and its window.
func (s *shard) scopes(kind int, at time.Duration) (c scopes, w *window) {
	w = s.inside(at)
	c.add(&s.total)
	if w != nil {
		c.add(&w.all.counts)
	}
	if len(s.byName) > 0 {
		c.add(&s.byName[kind])
		if w != nil {
			c.add(&w.named[kind].counts)
		}
	}
	s.latest = max(s.latest, at)
	return c, w
}

// tallies are those of the window in which an intended start lies.
func (s *shard) tallies(kind int, intended time.Duration) (list [2]*tally, n int) {
	w := s.inside(intended)
	if w == nil {
		return list, 0
	}
	list[0] = &w.all
	if len(s.byName) == 0 {
		return list, 1
	}
	list[1] = &w.named[kind]
	return list, 2
}

// offer enters a request that is in flight from its intended start.
func (s *shard) offer(kind int, intended time.Duration) {
	s.mu.Lock()
	s.enterOffer(kind, intended)
	s.mu.Unlock()
}

// send enters the real send of an offered request.
func (s *shard) send(kind int, intended, sent time.Duration) {
	s.mu.Lock()
	s.enterSend(kind, intended, sent)
	s.mu.Unlock()
}

// start is both at once.
func (s *shard) start(kind int, intended, sent time.Duration) {
	s.mu.Lock()
	s.enterOffer(kind, intended)
	s.enterSend(kind, intended, sent)
	s.mu.Unlock()
}

func (s *shard) enterOffer(kind int, intended time.Duration) {
	c, _ := s.scopes(kind, intended)
	for _, c := range c.list[:c.n] {
		c.offered++
	}
	s.at(intended).offered++
	s.shift(intended, 1)
}

func (s *shard) enterSend(kind int, intended, sent time.Duration) {
	c, w := s.scopes(kind, sent)
	for _, c := range c.list[:c.n] {
		c.sent++
	}
	s.at(sent).sent++
	if w == nil || intended < w.begin {
		w = s.inside(intended)
	}
	if w != nil {
		w.all.lateness.Add(sent - intended)
	}
}

// drop enters an arrival that is not sent.
func (s *shard) drop(kind int, intended time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, _ := s.scopes(kind, intended)
	for _, c := range c.list[:c.n] {
		c.offered++
		c.dropped++
	}
	at := s.at(intended)
	at.offered++
	at.dropped++
}

// done enters the end of a sent request.
func (s *shard) done(kind int, intended, sent, end time.Duration, o outcome) {
	s.mu.Lock()
	c, w := s.scopes(kind, end)
	for _, c := range c.list[:c.n] {
		c.done(o)
	}
	s.wire(kind, sent, c, o.traffic)
	at := s.at(end)
	at.done++
	s.shift(end, -1)
	tallies, n := s.tallies(kind, intended)
	if o.kind != "" {
		at.failed++
		for _, t := range tallies[:n] {
			t.failure.Add(end - intended)
		}
	} else {
		s.landed(at, end-intended)
		for _, t := range tallies[:n] {
			t.success.Add(end - intended)
			t.service.Add(end - sent)
		}
	}
	s.mu.Unlock()
	if s.work != nil && w != nil && s.work.left.Add(-1) == 0 {
		s.work.over()
	}
}

// unfinished enters a request that is open when drain ends, at its age. sent is
// never if it got no connection.
func (s *shard) unfinished(kind int, intended, sent, end time.Duration, t traffic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, _ := s.scopes(kind, intended)
	for _, c := range c.list[:c.n] {
		c.unfinished++
		if sent == never {
			c.waiting++
		}
	}
	if sent != never {
		c, _ = s.scopes(kind, end)
		s.wire(kind, sent, c, t)
	}
	s.shift(end, -1)
	tallies, n := s.tallies(kind, intended)
	for _, t := range tallies[:n] {
		t.success.Add(end - intended)
		if sent != never {
			t.service.Add(end - sent)
		}
	}
}

// wire enters what a request cost on the wire: its connection and its bytes when it was
// sent, those of the response in the scopes of its end.
func (s *shard) wire(kind int, sent time.Duration, atEnd scopes, t traffic) {
	atSend, _ := s.scopes(kind, sent)
	for _, c := range atSend.list[:atSend.n] {
		c.connects += t.connects
		c.written += t.written
	}
	for _, c := range atEnd.list[:atEnd.n] {
		c.received += t.received
	}
}
