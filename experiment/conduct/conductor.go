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
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Conductor executes sweeps with the parts that it is given.
type Conductor struct {
	Runner    experiment.Runner
	Probes    []experiment.Probe
	Reader    experiment.LoadReader
	Judge     experiment.Judge
	Analyst   experiment.Analyst
	Store     experiment.Store
	Generator experiment.Build // the load generator
	LinkProxy experiment.Build // toxiproxy's server; used when the matrix has links
	Log       *slog.Logger
	Now       func() time.Time
	Events    func(Event)                          // progress; called from one goroutine
	Pin       func(cores experiment.CoreSet) error // pins the conductor itself before the first run; nil: not pinned
}

// Request says what to execute.
type Request struct {
	Matrix       *experiment.Matrix // resolved for the runner
	Rounds       int                // 0: as the matrix says
	New          bool               // another sweep of the same hash
	AcceptShared bool               // one core for subject and generator
	Invocation   experiment.Invocation
	Drain        <-chan struct{} // closed: no new run
}

// Ending is how an invocation ended.
type Ending string

// The endings.
const (
	EndedDone           Ending = "done"
	EndedDrained        Ending = "drained"        // by request, after a run
	EndedAborted        Ending = "aborted"        // by request, at once
	EndedInfrastructure Ending = "infrastructure" // too many failures running
)

// Result is what an invocation came to.
type Result struct {
	Sweep   int64 // 0 if it was drained or aborted before the sweep was begun
	Ended   Ending
	Counts  map[experiment.RunState]int // of the runs of this invocation
	Results experiment.Results
}

// maxInfraFailures is how many infrastructure failures in a row end an invocation.
const maxInfraFailures = 5

// suspendAfter is after how many rounds in a row a failing subject's cell is
// suspended.
const suspendAfter = 2

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
	if err := s.begin(ctx); err != nil {
		return Result{}, err
	}
	ending, runErr := s.rounds(ctx)
	// Whatever happened: keep, judge, close the books.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	results, err := s.judge(ctx)
	inv := req.Invocation
	inv.ID, inv.Sweep, inv.Ended, inv.Outcome = s.head.Invocation, s.head.ID, c.Now(), string(ending)
	if runErr != nil {
		inv.Outcome = "failed: " + runErr.Error()
	}
	err = errors.Join(runErr, err, c.Store.EndInvocation(ctx, inv))
	return Result{Sweep: s.head.ID, Ended: ending, Counts: s.counts, Results: results}, err
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

// sweep is the state of one invocation.
type sweep struct {
	*Conductor
	req       Request
	head      experiment.SweepHead
	host      experiment.Host
	placement experiment.Placement
	images    experiment.Images
	plans     map[experiment.CellKey]experiment.CellPlan
	counts    map[experiment.RunState]int
	progress  progress
	infra     int                        // infrastructure failures in a row
	failed    map[experiment.CellKey]int // rounds in a row in which the subject failed
	tried     map[place]int              // attempts of this invocation
}

// place is what exactly one run counts for.
type place struct {
	cell  experiment.CellKey
	round int
}

// prepare looks at the host and gets ready what the services run; nothing of it is
// stored.
func (c *Conductor) prepare(ctx context.Context, req Request) (*sweep, error) {
	m := req.Matrix
	cells := m.Cells()
	s := &sweep{
		Conductor: c, req: req, counts: map[experiment.RunState]int{},
		failed: map[experiment.CellKey]int{}, tried: map[place]int{},
	}
	var err error
	if s.host, err = c.Runner.Check(ctx); err != nil {
		return nil, err
	}
	if s.placement, err = experiment.Place(m.Place, s.host.Cores, req.AcceptShared); err != nil {
		return nil, err
	}
	if s.plans, err = s.plan(cells); err != nil {
		return nil, err
	}
	if err := c.removeLeftovers(ctx); err != nil {
		return nil, err
	}
	c.Events(Event{Kind: EventPreparing})
	if s.images, err = c.Runner.Prepare(ctx, s.everything()); err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	return s, nil
}

// begin gives the sweep its row, and a plan mended after whatever ended the
// invocation before.
func (s *sweep) begin(ctx context.Context) error {
	m, cells := s.req.Matrix, s.req.Matrix.Cells()
	rounds := m.Repeat.Rounds
	if s.req.Rounds > 0 {
		rounds = s.req.Rounds
	}
	var err error
	s.head, err = s.Store.BeginSweep(ctx, experiment.SweepSpec{
		Matrix: m, Hash: m.Hash(), Cells: cells, Rounds: rounds, New: s.req.New,
		Placement: s.placement, Host: s.host, Images: s.images, Invocation: s.req.Invocation,
	})
	if err != nil {
		return fmt.Errorf("begin sweep: %w", err)
	}
	s.Events(Event{
		Kind: EventSweep, Sweep: s.head.ID, Continued: s.head.Continued,
		ImagesDiffer: s.head.Images != nil && !maps.Equal(s.head.Images, s.images),
	})
	if err := s.mend(ctx, cells); err != nil {
		return err
	}
	if s.Pin != nil {
		if err := s.Pin(s.placement.Conductor); err != nil {
			return fmt.Errorf("pin the conductor: %w", err)
		}
	}
	_, err = s.judge(ctx) // so that every cell has its row from the start
	return err
}

// plan resolves all cells and puts every service on its cores.
func (s *sweep) plan(cells []experiment.Cell) (map[experiment.CellKey]experiment.CellPlan, error) {
	plans := make(map[experiment.CellKey]experiment.CellPlan, len(cells))
	for _, cell := range cells {
		p, err := s.req.Matrix.Plan(cell)
		if err != nil {
			return nil, err
		}
		if p.Services, err = startOrder(p.Services, p.Links); err != nil {
			return nil, err
		}
		for i := range p.Services {
			p.Services[i].Cores = s.placement.For(p.Services[i].Role)
		}
		plans[cell.Key] = p
	}
	return plans, nil
}

// everything lists each distinct service of all cells, once by what it runs.
func (s *sweep) everything() []experiment.Service {
	all := []experiment.Service{s.generator(experiment.Load{})}
	if len(s.req.Matrix.Subject.Links) > 0 {
		all = append(all, s.linkProxy(s.req.Matrix.Subject.Links))
	}
	seen := map[string]bool{}
	for _, cell := range s.req.Matrix.Cells() {
		for _, svc := range s.plans[cell.Key].Services {
			if !seen[svc.Source()] {
				seen[svc.Source()] = true
				all = append(all, svc)
			}
		}
	}
	return all
}

// mend brings the plan of the sweep in order: runs that died are interrupted,
// rounds that are split are planned anew.
func (s *sweep) mend(ctx context.Context, cells []experiment.Cell) error {
	runs, err := s.Store.Runs(ctx, s.head.ID)
	if err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	r := mend(runs, cells, s.head.Rounds, s.req.Matrix.Repeat.Seed)
	if err := s.Store.Reschedule(ctx, s.head.ID, r); err != nil {
		return fmt.Errorf("mend the plan: %w", err)
	}
	pending, err := s.Store.Pending(ctx, s.head.ID)
	if err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	s.progress = progress{total: s.head.Rounds * len(cells), done: s.head.Rounds*len(cells) - len(pending), start: s.Now()}
	return nil
}

// rounds executes the pending runs, round by round.
func (s *sweep) rounds(ctx context.Context) (Ending, error) {
	round := 0 // the one under way
	for {
		pending, err := s.Store.Pending(ctx, s.head.ID)
		if err != nil {
			return EndedAborted, fmt.Errorf("read the plan: %w", err)
		}
		if round != 0 && (len(pending) == 0 || pending[0].Round != round) {
			if err := s.endRound(ctx, round); err != nil {
				return EndedAborted, err
			}
		}
		if len(pending) == 0 {
			return EndedDone, nil
		}
		round = pending[0].Round
		for _, run := range pending {
			if run.Round != round {
				break
			}
			if ending, err := s.step(ctx, run); ending != "" || err != nil {
				return ending, err
			}
		}
	}
}

// endRound judges the sweep so far and folds the log into the file.
func (s *sweep) endRound(ctx context.Context, round int) error {
	if _, err := s.judge(ctx); err != nil {
		return err
	}
	if err := s.Store.Checkpoint(ctx); err != nil {
		s.Log.Warn("checkpoint", "err", err)
	}
	s.Events(Event{Kind: EventRound, Sweep: s.head.ID, Round: round, Rounds: s.head.Rounds})
	return nil
}

// step executes one run, unless the invocation is to end first.
func (s *sweep) step(ctx context.Context, run experiment.Run) (Ending, error) {
	if ctx.Err() != nil {
		return EndedAborted, nil
	}
	select {
	case <-s.req.Drain:
		return EndedDrained, nil
	default:
	}
	state, err := s.one(ctx, run)
	switch {
	case err != nil:
		return EndedAborted, err
	case state == experiment.StateInterrupted:
		return EndedAborted, nil
	case s.infra >= maxInfraFailures:
		return EndedInfrastructure, nil
	}
	return "", nil
}

// one executes one run, or skips it if its cell is suspended, and stores it.
func (s *sweep) one(ctx context.Context, run experiment.Run) (experiment.RunState, error) {
	plan := s.plans[run.Cell]
	run.Invocation = s.head.Invocation
	run.Began = s.Now()
	run, err := s.Store.BeginRun(ctx, run)
	if err != nil {
		return "", fmt.Errorf("begin run: %w", err)
	}
	s.Events(s.event(EventRunBegan, run, plan))
	var o experiment.Outcome
	if s.suspended(plan.Cell) {
		run.State, run.Reason = experiment.StateSkipped, "suspended"
		o = experiment.Outcome{Run: run, Plan: plan, Placement: s.placement, Host: s.host, Images: s.images}
	} else {
		o = s.execute(ctx, run, plan)
	}
	o.Run.Ended = s.Now()
	findings := s.judgeRun(&o)
	// The record of a run outlives the wish to stop.
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := s.Store.EndRun(keep, o, findings); err != nil {
		return "", fmt.Errorf("store run %d: %w", run.ID, err)
	}
	if err := s.account(keep, o.Run); err != nil {
		return "", err
	}
	e := s.event(EventRunEnded, o.Run, plan)
	e.Findings = findings
	e.Value, e.HasValue = o.Observed(s.req.Matrix.Judge.Metric)
	s.Events(e)
	return o.Run.State, nil
}

// judgeRun asks the guards about a run that was measured or failed; an invalid
// finding excludes it by rule.
func (s *sweep) judgeRun(o *experiment.Outcome) []experiment.Finding {
	if o.Run.State == experiment.StateInterrupted || o.Run.State == experiment.StateSkipped {
		return nil
	}
	findings := s.Judge.JudgeRun(*o, s.req.Matrix.Judge)
	for i := range findings {
		findings[i].Run, findings[i].Cell = o.Run.ID, o.Run.Cell
		if findings[i].Severity == experiment.SeverityInvalid && o.Run.State == experiment.StateOK {
			o.Run.State, o.Run.Reason = experiment.StateInvalid, findings[i].Code
		}
	}
	return findings
}

// account keeps the books after a run: who is retried, who is suspended.
func (s *sweep) account(ctx context.Context, run experiment.Run) error {
	s.counts[run.State]++
	s.tried[place{run.Cell, run.Round}]++
	s.progress.ran(run.Ended.Sub(run.Began))
	switch run.State {
	case experiment.StateFailedInfra:
		s.infra++
		// One more attempt at the end of the round: pending runs are ordered by
		// round, then by when they were planned.
		if s.tried[place{run.Cell, run.Round}] < 2 {
			s.progress.done--
			again := experiment.Run{Cell: run.Cell, Round: run.Round, Attempt: run.Attempt + 1, State: experiment.StatePending}
			if err := s.Store.Reschedule(ctx, s.head.ID, experiment.Reschedule{Add: []experiment.Run{again}}); err != nil {
				return fmt.Errorf("plan another attempt: %w", err)
			}
		}
	case experiment.StateFailedSubject:
		s.infra = 0
		s.failed[run.Cell]++
	case experiment.StateSkipped:
	default:
		s.infra = 0
		s.failed[run.Cell] = 0
	}
	return nil
}

func (s *sweep) suspended(c experiment.Cell) bool {
	return c.Role != experiment.RoleBaseline && c.Role != experiment.RoleControl && s.failed[c.Key] >= suspendAfter
}

// judge analyses the whole sweep and replaces its results.
func (s *sweep) judge(ctx context.Context) (experiment.Results, error) {
	sw, err := s.Store.LoadSweep(ctx, s.head.ID)
	if err != nil {
		return experiment.Results{}, fmt.Errorf("load sweep: %w", err)
	}
	set := s.req.Matrix.Judge
	r, err := s.Analyst.Analyse(sw, set)
	if err != nil {
		return r, fmt.Errorf("analyse: %w", err)
	}
	r.Findings = s.Judge.JudgeSweep(sw, r, set)
	if err := s.Store.ReplaceResults(ctx, s.head.ID, r); err != nil {
		return r, fmt.Errorf("store results: %w", err)
	}
	return r, nil
}

// removeLeftovers removes what provably dead owners left and names the rest.
func (c *Conductor) removeLeftovers(ctx context.Context) error {
	cleaner, ok := c.Runner.(experiment.Cleaner)
	if !ok {
		return nil
	}
	left, err := cleaner.Leftovers(ctx)
	if err != nil {
		return fmt.Errorf("look for leftovers: %w", err)
	}
	for _, l := range left {
		switch l.Fate {
		case experiment.OwnerDead:
			if err := cleaner.Remove(ctx, l); err != nil {
				c.Log.Warn("leftover stays", "kind", l.Kind, "name", l.Name, "err", err)
				continue
			}
			c.Log.Info("removed a leftover", "kind", l.Kind, "name", l.Name)
		case experiment.OwnerUnknown:
			c.Log.Warn("left alone: its owner is not known here", "kind", l.Kind, "name", l.Name, "owner", l.Owner)
		case experiment.OwnerAlive:
		}
	}
	return nil
}
