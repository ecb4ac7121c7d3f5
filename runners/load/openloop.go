package load

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// maxWaiting is how many arrivals may wait in a lane; more are dropped.
const maxWaiting = 1 << 22

// arrival is one request of an open load.
type arrival struct {
	intended time.Duration
	draw     uint64 // seeds the numbers in it
	kind     int
	lane     *lane
}

// openLoop offers requests by the schedules of the load and of its streams until they
// end, each at its intended start however late it is, and returns when all are done
// or drain has ended. Requests wait for one of the connections in order of arrival.
func (r *run) openLoop(ctx, offering context.Context, course, streams []leg) {
	lanes := []*lane{{course: course}}
	for i := range streams {
		lanes = append(lanes, &lane{number: i + 1, course: streams[i : i+1]})
	}
	room := 0
	for _, l := range lanes {
		room += l.most()
	}
	if room == 0 {
		return
	}
	var workers, loops sync.WaitGroup
	c := &crew{queue: make(chan arrival, room), most: int64(r.most(room)), late: func() bool { return r.clock.now() >= r.drainEnd() }}
	c.hire = func(i int) {
		d := newDesk(r, i, c)
		workers.Go(func() { d.work(ctx) })
	}
	for _, l := range lanes {
		l.crew, l.shard = c, r.rec.shard(l.number)
		loops.Go(func() { r.arrive(offering, l) })
	}
	loops.Wait()
	c.dismiss()
	workers.Wait()
}

// Sleepers is how many threads of the generator do nothing but to begin requests of a
// load in time: as many more than cores should be allowed to run (runtime.GOMAXPROCS), so
// that none keeps others from what they have to do while it sleeps.
func Sleepers(l experiment.Load) int {
	n := len(l.Streams)
	if l.Open != nil || slices.ContainsFunc(l.Phases, func(p experiment.LoadPhase) bool { return p.Open != nil }) {
		n++
	}
	return n
}

// arrive offers the requests of one lane.
func (r *run) arrive(offering context.Context, l *lane) {
	var (
		bell  = newAlarm(r.clock)
		rng   = draws(r.load.Seed, l.draws())
		gaps  = draws(r.load.Seed, poissonGaps+uint64(l.number))
		shape experiment.OpenLoad // of a leg in which it ends, that of the one before
	)
	if !r.coarse {
		bell = newSleepAlarm(r.clock)
	}
	defer bell.close()
	defer r.rec.expect(l.number, never)
	for _, g := range l.course {
		pacer := g.pacer()
		if pacer.Rate == 0 && (pacer.From == 0 || pacer.Ramp == 0) {
			continue
		}
		r.rec.expect(l.number, g.begin)
		if !bell.until(offering, g.begin) {
			return
		}
		if g.open != nil {
			shape = *g.open
			l.allow(shape)
		}
		due := arrivals{}
		if shape.Poisson {
			due.gaps = gaps
		}
		behind := spread{burst: shape.CatchUp}
		for due.first(); ; due.next() {
			a := arrival{intended: later(g.begin, pacer.At(due.n)), kind: r.mix.pick(rng), draw: rng.Uint64(), lane: l}
			if a.intended >= g.end {
				break
			}
			r.rec.expect(l.number, a.intended)
			if a.intended >= r.end() || !bell.until(offering, a.intended) || !bell.until(offering, behind.due(a.intended, r.clock.now())) {
				return
			}
			l.take(a)
		}
	}
}

// later adds a time, which may be never.
func later(at, by time.Duration) time.Duration {
	if by == never {
		return never
	}
	return at + by
}

// lane is arrival processes one after another, with one account of what is in flight.
type lane struct {
	number int // 0, or that of the stream from 1
	shard  *shard
	course []leg
	crew   *crew

	mu       sync.Mutex
	limit    int
	queues   bool // what arrives above the limit waits
	inFlight int
	waiting  []arrival // from head on, in order
	head     int
}

// draws tells the lane's numbers from those of others.
func (l *lane) draws() uint64 {
	if l.number == 0 {
		return 0
	}
	return streamDraws + uint64(l.number)
}

// most is how many requests of the lane can be in flight at once.
func (l *lane) most() int {
	most := 0
	for _, g := range l.course {
		if g.open != nil {
			most = max(most, g.open.InFlight)
		}
	}
	return most
}

// allow sets the limit, and starts what waited and has room under it.
func (l *lane) allow(o experiment.OpenLoad) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit, l.queues = o.InFlight, o.Queue
	for l.inFlight < l.limit && l.head < len(l.waiting) {
		l.inFlight++
		l.crew.start(l.pop())
	}
}

// take starts an arrival that is due, or lets it wait or drops it where the lane is
// full.
func (l *lane) take(a arrival) {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.inFlight >= l.limit
	if full && (!l.queues || len(l.waiting)-l.head >= maxWaiting) {
		l.shard.drop(a.kind, a.intended)
		return
	}
	l.shard.offer(a.kind, a.intended)
	if full {
		l.waiting = append(l.waiting, a)
		return
	}
	l.inFlight++
	l.crew.start(a)
}

// done ends a request, and gives the next one that waited for it.
func (l *lane) done() (arrival, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inFlight <= l.limit && l.head < len(l.waiting) {
		return l.pop(), true
	}
	l.inFlight--
	l.crew.busy.Add(-1)
	return arrival{}, false
}

// pop takes the first that waits.
func (l *lane) pop() arrival {
	a := l.waiting[l.head]
	l.head++
	if l.head*2 > len(l.waiting) { // the room in front is used again
		l.waiting = l.waiting[:copy(l.waiting, l.waiting[l.head:])]
		l.head = 0
	}
	return a
}
