package load

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// arrival is one request of an open load.
type arrival struct {
	intended time.Duration
	draw     uint64 // seeds the numbers in its path
}

// openLoop offers requests by the pacer's schedule until the window ends, each
// at its intended start however late it is, and returns when all are done or
// drain has ended. An arrival that finds in_flight requests under way is dropped.
// Requests wait for one of the connections in order of arrival.
func (r *run) openLoop(ctx context.Context, o experiment.OpenLoad) {
	var (
		pacer    = Pacer{Rate: o.Rate, Ramp: r.load.Ramp}
		lead     = r.load.Ramp + r.load.Warmup
		draws    = rand.New(rand.NewPCG(r.load.Seed, 0))
		queue    = make(chan arrival, o.InFlight)
		inFlight atomic.Int64
		workers  int64
		group    sync.WaitGroup
		bell     = newAlarm(ctx, r.clock, !r.coarse)
	)
	defer bell.close()
	defer group.Wait()
	defer close(queue)
	defer r.rec.expect(never)
	for k := int64(0); ; k++ {
		a := arrival{intended: pacer.At(k) - lead, draw: draws.Uint64()}
		r.rec.expect(a.intended)
		if a.intended >= r.load.Measure || !bell.until(ctx, a.intended) {
			return
		}
		if inFlight.Load() >= int64(o.InFlight) {
			r.rec.drop(a.intended)
			continue
		}
		r.rec.offer(a.intended)
		// As many workers as requests in flight: one that is idle, or about to be,
		// takes this one, unless all connections are in use.
		if n := inFlight.Add(1); n > workers && workers < int64(r.load.Connections) {
			workers++
			group.Go(func() { r.worker(ctx, queue, &inFlight) })
		}
		queue <- a // has room: it holds in_flight
	}
}

// worker owns one connection.
func (r *run) worker(ctx context.Context, queue <-chan arrival, inFlight *atomic.Int64) {
	var cn conn
	defer cn.drop()
	seed := rand.NewPCG(0, 0)
	draws := rand.New(seed)
	for a := range queue {
		seed.Seed(a.draw, 0)
		r.request(ctx, &cn, a.intended, draws)
		inFlight.Add(-1)
	}
}
