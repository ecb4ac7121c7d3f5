package conduct

import (
	"context"
	"fmt"
	"maps"

	"github.com/ceteris/ceteris/experiment"
)

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
	missing   int                        // places whose attempts are used up
	replanned bool                       // the plan has changed since it was read
	reached   map[string]int             // the last round of each stage in which a cell is settled
	interim   interim                    // the last analysis
	unclosed  []experiment.Env           // of runs that are over
	disk      diskGuard
	secrets   secrets
	unkept    map[string]string // why there is no snapshot of a service, as it was said last

	unkeepable map[string]string // why snapshots cannot be written, by key
	why        string            // it ended, where the ending alone does not say
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
		failed: map[experiment.CellKey]int{}, tried: map[place]int{}, reached: map[string]int{}, unkept: map[string]string{}, unkeepable: map[string]string{}, secrets: req.Secrets,
	}
	if req.Rounds > 0 && m.Repeat.Until != experiment.StopFixed {
		return nil, fmt.Errorf("%d rounds: the matrix measures until it is %s, and has no fixed number", req.Rounds, m.Repeat.Until)
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
	if err := c.removeLeftovers(ctx, true); err != nil {
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
		Matrix: m, Hash: m.Hash(), Cells: cells, Ladders: m.Ladders(), Rounds: rounds, New: s.req.New, PeelParent: s.req.PeelParent,
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
	if s.Pin != nil && s.host.Local {
		if err := s.Pin(s.placement.Conductor); err != nil {
			return fmt.Errorf("pin the conductor: %w", err)
		}
	}
	r, err := s.judge(ctx) // so that every cell has its row from the start
	if err != nil {
		return err
	}
	return s.resumed(ctx, r.Stop.MetIn)
}

// plan resolves all cells and puts every service on its cores.
func (s *sweep) plan(cells []experiment.Cell) (map[experiment.CellKey]experiment.CellPlan, error) {
	plans := make(map[experiment.CellKey]experiment.CellPlan, len(cells))
	for _, cell := range cells {
		p, err := s.req.Matrix.Plan(cell)
		if err != nil {
			return nil, err
		}
		if err := Lacking(p, s.secrets); err != nil {
			return nil, err
		}
		if p.Services, err = startOrder(p.Services, p.Links); err != nil {
			return nil, err
		}
		for i := range p.Services {
			p.Services[i].Cores = s.placement.For(p.Services[i].Role)
		}
		if x := p.Load.External; x != nil {
			if x.Service.Cores = s.placement.Load; x.Reader != "" && s.Readers[x.Reader] == nil {
				return nil, fmt.Errorf("the output of %s cannot be read here", x.Reader)
			}
		}
		plans[cell.Key] = p
	}
	return plans, nil
}

// tools lists what is ceteris' own in the runs.
func (s *sweep) tools() []experiment.Service {
	var all []experiment.Service
	for _, p := range s.plans {
		if !p.Load.None && p.Load.External == nil {
			all = append(all, s.generator(experiment.Load{}))
			break
		}
	}
	if len(s.req.Matrix.Subject.Links) > 0 {
		all = append(all, s.linkProxy(s.req.Matrix.Subject.Links))
	}
	return all
}

// everything lists each distinct service of all cells, once by what it runs.
func (s *sweep) everything() []experiment.Service {
	all := s.tools()
	seen := map[string]bool{}
	for _, cell := range s.req.Matrix.Cells() {
		plan := s.plans[cell.Key]
		for _, svc := range append(plan.Launched(), StepImages(plan)...) {
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
	s.reach(runs)
	r := mend(runs, cells, s.planned(), s.req.Matrix.Repeat.Seed)
	r.Salvaged = s.salvage(ctx, r.Interrupted)
	if err := s.Store.Reschedule(ctx, s.head.ID, r); err != nil {
		return fmt.Errorf("mend the plan: %w", err)
	}
	for _, run := range runs { // of those, too, that were stored just before a kill
		s.forget(run.ID)
	}
	pending, err := s.Store.Pending(ctx, s.head.ID)
	if err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	s.progress = progress{total: s.planned() * len(cells), done: s.planned()*len(cells) - len(pending)}
	return nil
}

// removeLeftovers removes what provably dead owners left. It names the rest, if
// that is wanted.
func (c *Conductor) removeLeftovers(ctx context.Context, name bool) error {
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
			if name {
				c.Log.Warn("left alone: its owner is not known here", "kind", l.Kind, "name", l.Name, "owner", l.Owner)
			}
		case experiment.OwnerAlive:
		}
	}
	return nil
}
