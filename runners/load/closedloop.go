package load

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// closedLoop lets users send, wait for their response and think until the window
// ends, and returns when all are done or drain has ended. Each has a connection
// of its own, unless there are fewer connections than users: then they take
// turns, in order of asking.
func (r *run) closedLoop(ctx context.Context, c experiment.ClosedLoad) {
	var shared chan *conn
	if r.load.Connections < c.Users {
		shared = make(chan *conn, r.load.Connections)
		for range r.load.Connections {
			shared <- new(conn)
		}
	}
	var group sync.WaitGroup
	for i := range c.Users {
		group.Go(func() { r.user(ctx, i, c, shared) })
	}
	group.Wait()
	for range len(shared) {
		(<-shared).drop()
	}
}

func (r *run) user(ctx context.Context, i int, c experiment.ClosedLoad, shared chan *conn) {
	var (
		own      conn
		bell     = newAlarm(ctx, r.clock, c.Think > 0 && !r.coarse)
		draws    = rand.New(rand.NewPCG(r.load.Seed, uint64(i)+1))
		intended = UserStart(i, c.Users, r.load.Ramp) - r.load.Ramp - r.load.Warmup
	)
	defer own.drop()
	defer bell.close()
	for intended < r.load.Measure && bell.until(ctx, intended) {
		r.rec.offer(intended)
		cn := &own
		if shared != nil {
			if cn = r.turn(ctx, shared); cn == nil {
				r.rec.unfinished(intended, never, r.drainEnd())
				return
			}
		}
		end := r.request(ctx, cn, intended, draws)
		if shared != nil {
			shared <- cn
		}
		intended = end + c.Think
	}
}

// turn waits for a connection; nil when drain or ctx ended first.
func (r *run) turn(ctx context.Context, shared <-chan *conn) *conn {
	select {
	case cn := <-shared:
		return cn
	default:
	}
	late := time.NewTimer(r.drainEnd() - r.clock.now())
	defer late.Stop()
	select {
	case cn := <-shared:
		return cn
	case <-late.C:
		return nil
	case <-ctx.Done():
		return nil
	}
}
