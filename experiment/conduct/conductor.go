// Package conduct executes a sweep: it drives the runner, the probes, the judge,
// the analyst and the store through their ports, one run after another, and is
// the only place where they meet. It decides what a failure means, what is run
// again and what counts; it computes no statistics and knows no engine, no
// database and no file format.
//
// Two contexts bound the work. Closing Request.Drain means "no new run": the one
// under way is finished and kept. Cancelling the context means "stop now": the
// run under way becomes interrupted, and everything it started is removed. Before
// the first run both end the preparation: there is nothing yet to finish.
package conduct

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Conductor executes sweeps with the parts that it is given.
type Conductor struct {
	Runner    experiment.Runner
	Probes    []experiment.Probe
	Reader    experiment.LoadReader
	Readers   map[string]experiment.OutputReader // of other load generators, by the names of experiment.OutputReaders
	Judge     experiment.Judge
	Analyst   experiment.Analyst
	Store     experiment.Store
	Generator experiment.Build // the load generator
	LinkProxy experiment.Build // toxiproxy's server; used when the matrix has links
	Log       *slog.Logger
	Now       func() time.Time
	Events    func(Event)                          // progress; called from one goroutine
	Pin       func(cores experiment.CoreSet) error // pins the conductor itself before the first run; nil: not pinned

	// Rest is shared by the invocations of a process; nil: what one of them cannot remove
	// is nobody's until the process ends.
	Rest *Rest

	// Snapshots keeps prepared volumes; nil: every run is prepared anew.
	Snapshots Snapshots

	// Journal is a directory of the database alone, in which the output of the generator is
	// written down while a run is under way, so that slices outlive a ceteris that is
	// killed; empty: it is not. It is there only as long as there is something in it.
	Journal string

	// Free gives the room on the file systems to which an invocation on that host
	// writes; asked before each run. Nil: not looked at.
	Free func(experiment.Host) ([]DiskFree, error)
	// Clocks reads this host's clocks; nil: SystemClocks.
	Clocks func() Clocks
}

// Rest is what invocations could not remove, as without an engine. The next one does,
// before its first run: it would disturb what is measured then, and as long as the
// process lives nobody else may. The zero value is nothing.
type Rest struct{ envs []experiment.Env }

// Request says what to execute.
type Request struct {
	Matrix       *experiment.Matrix // resolved for the runner
	Rounds       int                // 0: as the matrix says; of a matrix without a rule
	New          bool               // another sweep of the same hash
	PeelParent   int64              // the sweep before it in a peel; 0: none
	AcceptShared bool               // one core for subject and generator
	Invocation   experiment.Invocation
	Secrets      map[string]string // variables of the caller that the matrix uses, those that are set
	Drain        <-chan struct{}   // closed: no new run
	Until        time.Time         // no round begins from then on, by Conductor.Now; zero: no limit
}

// Ending is how an invocation ended.
type Ending string

// The endings.
const (
	EndedDone           Ending = "done"
	EndedDrained        Ending = "drained"        // by request, after a run
	EndedAborted        Ending = "aborted"        // by request, at once
	EndedInfrastructure Ending = "infrastructure" // too many failures running
	EndedUntil          Ending = "until"          // by request, after a round
	EndedEngineGone     Ending = "engine-gone"    // and not back in time
	EndedDiskFull       Ending = "disk-full"      // no room for one more run
)

// Result is what an invocation came to.
type Result struct {
	Sweep   int64 // 0 if it was drained or aborted before the sweep was begun
	Ended   Ending
	Why     string                      // one sentence, for EndedEngineGone and EndedDiskFull
	Counts  map[experiment.RunState]int // of the runs of this invocation
	Missing int                         // cells that lack a round, because both attempts at it failed by the infrastructure
	Results experiment.Results
}

// Conduct runs what is missing of the sweep and judges it. The error is for what
// prevented it; runs that fail are part of the Result.
func (c *Conductor) Conduct(ctx context.Context, req Request) (Result, error) {
	preparing, done := untilDrain(ctx, req.Drain)
	defer done()
	s, err := c.prepare(preparing, req)
	switch {
	case ctx.Err() != nil:
		return Result{Ended: EndedAborted}, nil
	case preparing.Err() != nil:
		return Result{Ended: EndedDrained}, nil
	case err != nil:
		return Result{}, err
	}
	if c.Rest != nil {
		s.unclosed = c.Rest.envs
		defer func() { c.Rest.envs = s.unclosed }()
	}
	ending, runErr := EndedAborted, s.begin(ctx)
	if runErr == nil {
		ending, runErr = s.rounds(ctx)
	}
	switch {
	case errors.Is(runErr, experiment.ErrDiskFull):
		ending, runErr = s.stopFull(runErr)
	case ctx.Err() != nil && errors.Is(runErr, context.Canceled):
		ending, runErr = EndedAborted, nil // no fault of the store, which was asked to stop
	}
	return s.end(context.WithoutCancel(ctx), ending, runErr)
}

// endTimeout bounds each part of the end of an invocation.
const endTimeout = time.Minute

// end keeps, judges and closes the books, whatever happened, and looks for
// leftovers once more: an engine may have finished what a dead ceteris had asked of
// it only after the first look.
func (s *sweep) end(ctx context.Context, ending Ending, runErr error) (Result, error) {
	result := Result{Sweep: s.head.ID, Ended: ending, Why: s.why, Counts: s.counts, Missing: s.missing}
	if s.head.ID == 0 {
		return result, runErr
	}
	books, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	results, err := s.judge(books)
	result.Results = results
	if err == nil && runErr == nil && ending == EndedDone {
		err = s.finish(books, results)
	}
	inv := s.req.Invocation
	inv.ID, inv.Sweep, inv.Ended, inv.Outcome = s.head.Invocation, s.head.ID, s.Now(), string(ending)
	if runErr != nil {
		inv.Outcome = "failed: " + runErr.Error()
	}
	err = errors.Join(err, s.Store.EndInvocation(books, inv))
	if err != nil && (runErr != nil || ending == EndedDiskFull) {
		s.Log.Error("the end is not in the books", "err", err) // most likely for the same reason
		err = nil
	}
	err = errors.Join(runErr, err)
	s.closeRest(ctx)
	looking, stop := context.WithTimeout(ctx, endTimeout)
	defer stop()
	if err := s.removeLeftovers(looking, false); err != nil {
		s.Log.Warn("leftovers may stay", "err", err)
	}
	return result, err
}

// untilDrain gives a context that ends when drain is closed, too.
func untilDrain(ctx context.Context, drain <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-drain:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
