package load

import (
	"context"
	"math"
	"sync"
	"time"
)

// closedLoop lets users send, wait for their response and think until the load
// ends, and returns when all are done or drain has ended. Each has a connection
// of its own, unless there are fewer connections than users: then they take
// turns, in order of asking.
func (r *run) closedLoop(ctx, offering context.Context, course []leg) {
	users := 0
	for _, g := range course {
		if g.closed != nil {
			users = max(users, g.closed.Users)
		}
	}
	var shared chan *conn
	if most := r.most(users); most < users {
		shared = make(chan *conn, most)
		for range most {
			shared <- r.place()
		}
	}
	var group sync.WaitGroup
	for i := range users {
		var own *conn
		if shared == nil {
			own = r.place()
		}
		group.Go(func() { r.user(ctx, offering, i, course, own, shared) })
	}
	group.Wait()
	for range len(shared) {
		(<-shared).drop()
	}
}

// user is one user through all of the load. One who is still at a request when a part
// ends finishes it, and goes on from there if there is another part to take.
func (r *run) user(ctx, offering context.Context, i int, course []leg, own *conn, shared chan *conn) {
	var (
		bell  = newAlarm(r.clock)
		s     = r.sender(i, draws(r.load.Seed, uint64(i)+1))
		think time.Duration // of a part in which users only go, that of the one before
		next  = time.Duration(math.MinInt64)
		now   = next // the time, as far as it is known
	)
	bell.ticker = r.ticker
	if own != nil {
		defer own.drop()
	}
	for _, g := range course {
		if g.closed != nil {
			think = g.closed.Think
		}
		from, to := g.span(i)
		if from >= to {
			continue
		}
		for next = max(next, from); next < min(to, r.end()); next = now + think {
			if next > now && !bell.until(offering, next) || offering.Err() != nil {
				break
			}
			var ok bool
			if now, ok = s.turn(ctx, own, shared, next); !ok {
				return
			}
		}
	}
}

// turn sends one request, over the user's own connection or over one of the shared
// ones, and gives the moment at which it was over; false if drain or ctx ended before
// there was a connection.
func (s sender) turn(ctx context.Context, cn *conn, shared chan *conn, intended time.Duration) (time.Duration, bool) {
	kind := s.mix.pick(s.draws)
	if cn != nil {
		return s.request(ctx, cn, kind, intended, false), true
	}
	s.shard.offer(kind, intended)
	select { // one that is free goes before an end
	case cn = <-shared:
	default:
		select {
		case cn = <-shared:
		case <-s.drained:
		case <-ctx.Done():
		}
	}
	if cn == nil {
		s.shard.unfinished(kind, intended, never, s.drainEnd(), traffic{})
		return 0, false
	}
	defer func() { shared <- cn }()
	return s.request(ctx, cn, kind, intended, true), true
}
