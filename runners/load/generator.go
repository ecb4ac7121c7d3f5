package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// ErrInterrupted is returned by Generator.Run when its context ended first.
var ErrInterrupted = errors.New("interrupted")

// Generator drives one load and tells of it in the protocol.
type Generator struct {
	Load experiment.Load // as from ParsePlan
	Data *Feed           // for a load that has data
	Dial DialFunc        // nil: TCP, the host of each target looked up once
	Out  io.Writer       // takes the protocol

	coarse bool // wait by the runtime's timers alone: the only ones that a synctest bubble knows
}

// Run sends the load, from its start to the end of drain, and writes phases, slices
// and result as they come. When ctx ends, requests under way are cut off and no
// result is written: the error wraps ErrInterrupted.
func (g Generator) Run(ctx context.Context) error {
	clients, err := g.clients(ctx)
	if err != nil {
		return err
	}
	out := NewEncoder(g.Out)
	if err := out.Hello("ceteris loadgen"); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	offering, stop := context.WithCancel(ctx)
	defer stop()
	r := newRun(ctx, g, clients, stop)
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.drive(ctx, offering)
	}()
	err = r.report(ctx, out, over)
	if err != nil {
		cancel(err)
	}
	<-over
	if errors.Is(err, ErrInterrupted) {
		return errors.Join(err, out.Abort(ErrInterrupted.Error()))
	}
	return err
}

// clients makes one for each target.
func (g Generator) clients(ctx context.Context) ([]*client, error) {
	switch {
	case g.Data == nil && g.Load.Data != nil:
		return nil, errors.New("data: the load wants some")
	case g.Data != nil && !slices.Equal(g.Data.columns, columnsOf(g.Load)):
		return nil, fmt.Errorf("data: its columns are %q, those of the plan %q", g.Data.columns, columnsOf(g.Load))
	case g.Data != nil:
		if err := g.Data.Check(g.Load.Requests); err != nil {
			return nil, err
		}
	}
	dial := g.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	var out []*client
	for i, target := range g.Load.Targets {
		address := target
		if g.Dial == nil {
			var err error
			if address, err = resolve(ctx, target); err != nil {
				return nil, err
			}
		}
		n := len(g.Load.Targets)
		c, err := newClient(g.Load, target, address, (g.Load.Connections+n-1-i)/n, dial)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// resolve looks up the host of a target once, so that no request waits for a
// name server. A host with several addresses keeps its name: which of them
// answers is found out at each connection.
func resolve(ctx context.Context, target string) (string, error) {
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		return "", fmt.Errorf("target: %w", err)
	}
	found, err := net.DefaultResolver.LookupHost(ctx, host)
	switch {
	case err != nil:
		return "", fmt.Errorf("target: %w", err)
	case len(found) == 1:
		return net.JoinHostPort(found[0], port), nil
	default:
		return target, nil
	}
}

// run is one load under way.
type run struct {
	load    experiment.Load
	mix     mix
	data    *Feed
	clients []*client
	rec     *recorder
	clock   clock
	coarse  bool

	ticker  *ticker       // nil: users wait by timers of the runtime
	places  atomic.Int64  // handed out
	ends    atomic.Int64  // moment at which intended starts end
	stop    func()        // ends the offering where that moment comes before it was planned
	drained chan struct{} // closed when drain ends
	late    *time.Timer   // closes it
	changed chan struct{} // tells the reporter that the load has ended
}

func newRun(ctx context.Context, g Generator, clients []*client, stop func()) *run {
	r := &run{
		load: g.Load, mix: newMix(g.Load.Requests), data: g.Data, clients: clients, rec: newRecorder(g.Load),
		coarse: g.coarse, stop: stop, drained: make(chan struct{}), changed: make(chan struct{}, 1),
	}
	r.ends.Store(int64(loadEnd(g.Load)))
	r.rec.ended = func(at time.Duration) {
		r.endAt(at)
		r.stop()
		r.changed <- struct{}{}
	}
	r.clock = startClock(lead(g.Load))
	if !r.coarse && slices.ContainsFunc(legs(g.Load), func(l leg) bool { return l.closed != nil && l.closed.Think > 0 }) {
		r.ticker = newTicker(ctx, r.clock)
	}
	r.late = time.AfterFunc(r.drainEnd()-r.clock.now(), func() { close(r.drained) })
	return r
}

// end is the moment at which intended starts end.
func (r *run) end() time.Duration { return time.Duration(r.ends.Load()) }

// endAt brings the end forward.
func (r *run) endAt(at time.Duration) {
	r.ends.Store(int64(at))
	r.late.Reset(r.drainEnd() - r.clock.now())
}

// drainEnd is the moment at which drain ends at the latest.
func (r *run) drainEnd() time.Duration { return r.end() + r.load.Timeout }

// most is how many requests may be under way at once for the sake of connections, of the
// number that would like to be: over HTTP/2 they share connections.
func (r *run) most(wanted int) int {
	if r.load.HTTP2 {
		return wanted
	}
	return min(wanted, r.load.Connections)
}

// place gives a connection to be opened: they are dealt to the targets in turn.
func (r *run) place() *conn {
	n := r.places.Add(1) - 1
	return r.clients[n%int64(len(r.clients))].place()
}

// drive returns when drain has ended: no earlier than the load, even if nothing
// is left to be sent in it. Nothing is offered any more when offering ends, and what is
// under way is cut off when ctx ends, which is around it.
func (r *run) drive(ctx, offering context.Context) {
	defer r.late.Stop()
	if r.ticker != nil {
		defer r.ticker.close()
	}
	var (
		course = legs(r.load)
		both   sync.WaitGroup
	)
	both.Go(func() { r.closedLoop(ctx, offering, course) })
	both.Go(func() { r.openLoop(ctx, offering, course, streams(r.load)) })
	both.Wait()
	newAlarm(r.clock).until(offering, r.end())
}

// sender is one goroutine that sends requests, one after another.
type sender struct {
	*run
	shard *shard
	draws *rand.Rand
}

func (r *run) sender(i int, draws *rand.Rand) sender {
	return sender{run: r, shard: r.rec.shard(i), draws: draws}
}

// request sends a request, records what becomes of it and gives the moment at which it
// was over. offered tells that its offer was recorded. Where the end of drain comes before
// its timeout, it is not failed but unfinished.
func (s sender) request(ctx context.Context, cn *conn, kind int, intended time.Duration, offered bool) time.Duration {
	sent, drained := s.clock.now(), s.drainEnd()
	switch {
	case sent >= drained:
		if !offered {
			s.shard.offer(kind, intended)
		}
		s.shard.unfinished(kind, intended, never, drained, traffic{})
		return drained
	case offered:
		s.shard.send(kind, intended, sent)
	default:
		s.shard.start(kind, intended, sent)
	}
	q := s.compose(cn, kind)
	o := cn.client.do(ctx, cn, q, sent-cn.since, s.deadline(sent, drained))
	return s.over(cn, kind, intended, sent, drained, o)
}

// compose puts the next request of a kind into a connection.
func (s sender) compose(cn *conn, kind int) *request {
	q := &cn.client.requests[kind]
	var row []string
	if q.fed {
		row = s.data.take()
	}
	q.write(cn, s.draws, row)
	return q
}

// deadline of a request that is sent now, when drain is to end at that moment.
func (s sender) deadline(sent, drained time.Duration) time.Time {
	return s.clock.time(min(sent+s.load.Timeout, drained))
}

// over records what became of a request that was sent, and gives the moment.
func (s sender) over(cn *conn, kind int, intended, sent, drained time.Duration, o outcome) time.Duration {
	end := s.clock.now()
	cn.since = end
	if drained = min(drained, s.drainEnd()); o.kind == experiment.FailureTimeout && sent+s.load.Timeout > drained {
		s.shard.unfinished(kind, intended, sent, drained, o.traffic)
		return drained
	}
	s.shard.done(kind, intended, sent, end, o)
	return end
}
