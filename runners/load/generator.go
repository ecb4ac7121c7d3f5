package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// ErrInterrupted is returned by Generator.Run when its context ended first.
var ErrInterrupted = errors.New("interrupted")

// Generator drives one load and tells of it in the protocol.
type Generator struct {
	Load experiment.Load // as from ParsePlan
	Dial DialFunc        // nil: TCP, the target's host looked up once
	Out  io.Writer       // takes the protocol

	coarse bool // wait by the runtime's timers alone: the only ones that a synctest bubble knows
}

// Run sends the load, from the ramp to the end of drain, and writes phases, slices
// and result as they come. When ctx ends, requests under way are cut off and no
// result is written: the error wraps ErrInterrupted.
func (g Generator) Run(ctx context.Context) error {
	paths, err := newPath(g.Load.Requests[0].Path)
	if err != nil {
		return fmt.Errorf("path: %w", err)
	}
	client := newClient(g.Load, g.Dial)
	if g.Dial == nil {
		client.dial = (&net.Dialer{}).DialContext
		if client.address, err = resolve(ctx, g.Load.Targets[0]); err != nil {
			return err
		}
	}
	out := NewEncoder(g.Out)
	if err := out.Hello("ceteris loadgen"); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &run{
		load: g.Load, paths: paths, client: client, rec: newRecorder(g.Load),
		clock: startClock(g.Load.Ramp + g.Load.Warmup), coarse: g.coarse,
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.drive(ctx)
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
	load   experiment.Load
	paths  path
	client *client
	rec    *recorder
	clock  clock
	coarse bool
}

// drainEnd is the moment at which drain ends at the latest.
func (r *run) drainEnd() time.Duration { return r.load.Measure + r.load.Timeout }

// drive returns when drain has ended: no earlier than the window, even if nothing
// is left to be sent in it.
func (r *run) drive(ctx context.Context) {
	if r.load.Open != nil {
		r.openLoop(ctx, *r.load.Open)
	} else {
		r.closedLoop(ctx, *r.load.Closed)
	}
	newAlarm(ctx, r.clock, false).until(ctx, r.load.Measure)
}

// request sends an offered request, records what becomes of it and gives the
// moment at which it was over. Where the end of drain comes before its timeout,
// it is not failed but unfinished.
func (r *run) request(ctx context.Context, cn *conn, intended time.Duration, draws *rand.Rand) time.Duration {
	sent, drained := r.clock.now(), r.drainEnd()
	if sent >= drained {
		r.rec.unfinished(intended, never, drained)
		return drained
	}
	r.rec.send(intended, sent)
	cn.path = r.paths.appendTo(cn.path[:0], draws)
	o := r.client.do(ctx, cn, r.clock.time(min(sent+r.load.Timeout, drained)))
	end := r.clock.now()
	if o.kind == kindTimeout && sent+r.load.Timeout > drained {
		r.rec.unfinished(intended, sent, drained)
		return drained
	}
	r.rec.done(intended, sent, end, o)
	return end
}
