package load

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// crew is the desks of all lanes: as many as requests are in flight, unless all
// connections are in use. A request goes to a desk that rests, the one that has rested for
// longest, so that all connections are used alike; else to whoever is free next.
type crew struct {
	hire func(i int)
	late func() bool // drain has ended: nothing is sent any more
	most int64       // connections
	busy atomic.Int64

	mu      sync.Mutex
	size    int64
	over    bool
	queue   chan arrival // has room for all that are in flight
	resting []*desk      // from head on, in order
	head    int
}

// start begins a request.
func (c *crew) start(a arrival) {
	c.mu.Lock()
	defer c.mu.Unlock()
	busy := c.busy.Add(1)
	if d := c.pop(); d != nil {
		d.send(a)
		return
	}
	// A desk that is on its way to rest looks here before.
	if busy > c.size && c.size < c.most {
		c.size++
		c.hire(int(c.size - 1))
	}
	c.queue <- a
}

// pop takes the desk that has rested for longest.
func (c *crew) pop() *desk {
	if c.head == len(c.resting) || c.late() {
		return nil
	}
	d := c.resting[c.head]
	d.listed = false
	c.head++
	if c.head*2 > len(c.resting) { // the room in front is used again
		c.resting = c.resting[:copy(c.resting, c.resting[c.head:])]
		c.head = 0
	}
	return d
}

// leave takes a desk from those that rest, if it is among them.
func (c *crew) leave(d *desk) {
	if i := slices.Index(c.resting[c.head:], d); i >= 0 {
		c.resting = slices.Delete(c.resting, c.head+i, c.head+i+1)
	}
	d.listed = false
}

// dismiss ends the work of all desks, each after what it has under way.
func (c *crew) dismiss() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	close(c.queue)
	for _, d := range c.resting[c.head:] {
		_ = d.cn.SetReadDeadline(time.Unix(1, 0)) // wakes it
	}
}

// desk is a goroutine with a connection of its own. It takes what waits in the queue, or
// rests: then whoever starts a request sends it over the desk's connection, and the desk
// reads the response. That spares the way through the queue, which costs more than the
// sending, and takes its time.
type desk struct {
	sender
	crew *crew
	cn   *conn
	seed *rand.PCG
	list func() bool // made once

	// Under the crew's lock while the desk rests.
	listed   bool   // among those that do
	sent     bool   // a request was
	part     []byte // of it that there was no room for
	a        arrival
	at       time.Duration // real send
	drained  time.Duration // end of drain as it was then
	q        *request
	deadline time.Time
	next     arrival // taken from the queue in the place of a rest
	taken    bool
}

func newDesk(r *run, i int, c *crew) *desk {
	d := &desk{crew: c, cn: r.place(), seed: rand.NewPCG(0, 0)}
	d.sender = r.sender(i, rand.New(d.seed))
	d.list = d.enlist
	return d
}

// work serves until the crew is dismissed.
func (d *desk) work(ctx context.Context) {
	defer d.cn.drop()
	for a := range d.crew.queue {
		more := true
		for more {
			d.seed.Seed(a.draw, 0)
			d.request(ctx, d.cn, a.kind, a.intended, true)
			if a, more = a.lane.done(); !more {
				a, more = d.rest()
			}
		}
	}
}

// rest serves what others send over the connection, and gives the next request that is
// for the desk to send: one that waited. False means that there is none and the
// connection is closed, or of a kind on which nobody else can send.
func (d *desk) rest() (a arrival, more bool) {
	for d.cn.Conn != nil && d.cn.direct != nil && !d.cn.surplus {
		n, err, sent := d.wait()
		switch {
		case d.taken:
			return d.next, true
		case !sent:
			d.cn.drop() // the server closed it while it was idle, or said something unasked; or the work is over
			return a, false
		}
		o := d.cn.client.settle(d.cn, d.q, n, err, d.deadline, true)
		d.over(d.cn, d.a.kind, d.a.intended, d.at, d.drained, o)
		if a, more = d.a.lane.done(); more {
			return a, true
		}
	}
	return a, false
}

// wait waits until there is something to read, and reports whether a request was sent
// meanwhile. Deadlines of earlier requests wake it, and are put right.
func (d *desk) wait() (n int, err error, sent bool) { //nolint:revive // the outcome of a read, and what it is of
	d.sent, d.taken = false, false
	list := d.list
	for {
		n, err = d.cn.direct.rest(d.cn, list)
		if d.taken {
			return 0, nil, false
		}
		again, listed, part := d.woken(err)
		switch {
		case part != nil:
			if err := d.cn.send(part, d.deadline); err != nil {
				return 0, err, true
			}
			if n > 0 { // it is answered already
				return n, err, true
			}
		case !again:
			return n, err, d.sent
		}
		if list = d.list; listed {
			list = nil
		}
	}
}

// woken says whether the rest goes on, whether the desk need not be listed for it, and what
// is to be sent first.
func (d *desk) woken(err error) (again, listed bool, part []byte) {
	d.crew.mu.Lock()
	defer d.crew.mu.Unlock()
	switch {
	case d.part != nil:
		part, d.part = d.part, nil
		d.cn.known = d.deadline
		_ = d.cn.SetDeadline(d.deadline) // a fault is what the next write meets
		return true, true, part
	case d.sent:
		return err != nil && d.cn.tooEarly(err, d.deadline), true, nil
	case err != nil && isTimeout(err) && !d.crew.over:
		d.cn.known = time.Time{}
		again = d.cn.SetDeadline(time.Time{}) == nil
	}
	if !again {
		d.crew.leave(d)
	}
	return again, d.listed, nil
}

// enlist has the desk rest, unless there is something to do.
func (d *desk) enlist() bool {
	c := d.crew
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case d.next, d.taken = <-c.queue:
		return false
	default:
		c.resting, d.listed = append(c.resting, d), true
		return true
	}
}

// send sends a request over the connection of a desk that rests.
func (d *desk) send(a arrival) {
	d.seed.Seed(a.draw, 0)
	d.a, d.at, d.drained, d.sent = a, d.clock.now(), d.drainEnd(), true
	d.shard.send(a.kind, a.intended, d.at)
	d.q = d.compose(d.cn, a.kind)
	d.deadline = d.sender.deadline(d.at, d.drained)
	d.cn.traffic = traffic{}
	if d.cn.expect(d.q, d.deadline) != nil {
		return // the desk meets it
	}
	if d.part = d.cn.direct.send(d.cn); d.part != nil {
		_ = d.cn.SetReadDeadline(time.Unix(1, 0)) // wakes it: whoever sends here must not wait
	}
}
