package conduct

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// load drives the load, samples at the phase events, and gathers what was
// measured. A service that ends meanwhile ends the run.
func (r *oneRun) load(ctx context.Context) error {
	l := r.plan.Load
	var err error
	if l.Targets, err = r.targets(l.Service, l.Port); err != nil {
		return err
	}
	generator, err := withData(r.generator(r.secrets.load(l)), l.Data)
	if err != nil {
		return err
	}
	return r.underLoad(ctx, generator, func(ctx context.Context, proc experiment.Proc, mark marker) error {
		window := newEdges(l)
		result, err := r.read(ctx, proc, func(e experiment.LoadEvent) {
			if e.Phase != "" {
				begins, ends := window.of(e)
				mark(e, begins, ends)
			}
		})
		r.keep(result)
		if err := r.verify(ctx, err); err != nil {
			return err
		}
		r.counters.observe(r.observe)
		if err := proc.Stop(ctx); err != nil {
			return fmt.Errorf("stop the generator: %w", err)
		}
		return nil
	})
}

// marker is told when a phase of the load begins, and whether the window begins or ends
// with it.
type marker func(e experiment.LoadEvent, begins, ends bool)

// underLoad starts a generator, has drive follow it to its end, and watches the run
// meanwhile.
func (r *oneRun) underLoad(ctx context.Context, generator experiment.Service, drive func(ctx context.Context, proc experiment.Proc, mark marker) error) error {
	// Under load, whatever ends the subject ends the load too.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	probes, err := r.startProbes(ctx)
	if err != nil {
		return err
	}
	defer probes.abandon(ctx)
	collect := r.newCollector(ctx)
	defer collect.finish()
	proc, err := r.start(ctx, generator)
	if err != nil {
		return &failure{experiment.StateFailedInfra, err.Error()}
	}
	stop := r.watch.onEnd(cancel)
	defer stop()

	mark := func(e experiment.LoadEvent, begins, ends bool) { r.phase(ctx, probes, collect, e, begins, ends) }
	if err := drive(ctx, proc, mark); err != nil {
		return err
	}
	r.measureLogs(ctx)
	return r.endProbes(ctx, probes)
}

// phase has everything read that is read when a phase begins.
func (r *oneRun) phase(ctx context.Context, probes *probeSet, collect *collector, e experiment.LoadEvent, begins, ends bool) {
	r.counters.mark(ctx, e)
	probes.mark(e.Phase, begins, ends)
	// Last, so that the work of answering is not counted in the window that has ended.
	if begins {
		collect.begin(ctx, e.At)
	}
	if ends {
		collect.end(ctx, e.At)
	}
}

// read follows the generator's output to its end.
func (r *oneRun) read(ctx context.Context, proc experiment.Proc, on func(experiment.LoadEvent)) (experiment.LoadResult, error) {
	out, err := proc.Logs(ctx, true)
	if err != nil {
		return experiment.LoadResult{}, fmt.Errorf("follow the generator: %w", err)
	}
	out = journal(r.Journal).follow(r.outcome.Run.ID, out, r.Log)
	defer out.Close()
	return r.Reader.Read(ctx, out, on)
}

func (r *oneRun) keep(result experiment.LoadResult) {
	r.outcome.Result = result
	r.outcome.Observations = append(r.outcome.Observations, result.Observations...)
	r.outcome.Series = append(r.outcome.Series, result.Series...)
}

// verify says what ended the load. A service that ended by itself is the subject's
// own failure and explains an incomplete result; a generator that failed, or one
// that can no longer be followed, is ours.
func (r *oneRun) verify(ctx context.Context, readErr error) error {
	// Asked first: what ends the load is noted before it does.
	over := ctx.Err()
	if err := r.endedUnderLoad(); err != nil {
		return err
	}
	switch {
	case readErr == nil:
		return nil
	case over != nil:
		return over
	case !errors.Is(readErr, experiment.ErrIncomplete):
		// What broke the reading may be what ends the services, or takes them out of sight.
		r.watch.endOf(ctx, experiment.GeneratorName, settle)
		return cmp.Or(r.endedUnderLoad(), readErr)
	}
	if exit, ended := r.watch.endOf(ctx, experiment.GeneratorName, settle); ended && exit.Code != 0 {
		return fmt.Errorf("the generator ended with %d: %w%s", exit.Code, readErr, r.lastWords(ctx, experiment.GeneratorName))
	}
	r.Log.Error("the generator's result is incomplete", "run", r.outcome.Run.ID, "err", readErr)
	return &failure{experiment.StateInvalid, "result-incomplete"}
}

// endedUnderLoad notes which services have ended by themselves, and says what that, or
// their being out of sight, makes of the run.
func (r *oneRun) endedUnderLoad() error {
	exits := r.watch.exits()
	delete(exits, experiment.GeneratorName)
	r.outcome.Exits = exits
	return cmp.Or(firstFailure(exits, "under load"), r.outOfSight())
}

// outOfSight says why services can no longer be watched, if so.
func (r *oneRun) outOfSight() error {
	if err := r.watch.lost(); err != nil {
		return fmt.Errorf("services are out of sight: %w", err)
	}
	return nil
}

// firstFailure says which of the services that ended by themselves explains the rest;
// the link proxy is ours. Nil if none did.
func firstFailure(exits map[string]experiment.Exit, when string) error {
	if exit, ended := exits[experiment.LinkProxyName]; ended {
		return &failure{experiment.StateFailedInfra, fmt.Sprintf("the link proxy ended with %d", exit.Code)}
	}
	switch first := firstEnd(exits); {
	case first == "":
		return nil
	case exits[first].OOMKilled:
		return &failure{experiment.StateFailedSubject, "oom: " + first}
	default:
		return &failure{experiment.StateFailedSubject, fmt.Sprintf("restarted: %s ended with %d %s", first, exits[first].Code, when)}
	}
}

// firstEnd picks the service that ended out of memory, or else the first that ended.
func firstEnd(exits map[string]experiment.Exit) string {
	first := ""
	for name, exit := range exits {
		best := exits[first]
		switch {
		case first == "", exit.OOMKilled && !best.OOMKilled:
			first = name
		case exit.OOMKilled == best.OOMKilled && (exit.At.Before(best.At) || exit.At.Equal(best.At) && name < first):
			first = name
		}
	}
	return first
}

// probeSet is the probes at work.
type probeSet struct {
	samplings []experiment.Sampling
	report    func(error)
}

func (r *oneRun) startProbes(ctx context.Context) (*probeSet, error) {
	set := &probeSet{report: func(err error) { r.Log.Warn("a probe did not see all", "run", r.outcome.Run.ID, "err", err) }}
	for _, p := range r.Probes {
		s, err := p.Start(ctx, experiment.ProbeTarget{Runner: r.Runner.Name(), Host: r.host, Procs: r.procs, Pages: r.pages()})
		if err != nil {
			set.abandon(ctx)
			return nil, fmt.Errorf("start a probe: %w", err)
		}
		set.samplings = append(set.samplings, s)
	}
	return set, nil
}

// mark tells the probes of a phase. For them there is one window, whatever the phases of
// the load.
func (p *probeSet) mark(phase experiment.Phase, begins, ends bool) {
	switch {
	case ends:
		phase = experiment.PhaseDrain
	case phase == experiment.PhaseDrain, phase == experiment.PhaseMeasure && !begins:
		return
	}
	for _, s := range p.samplings {
		if err := s.Mark(phase); err != nil {
			p.report(err)
		}
	}
}

// abandon stops probes whose values nobody wants any more.
func (p *probeSet) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	for _, s := range p.samplings {
		_, _, _ = s.Stop(ctx) // the run failed before; its reason is reported
	}
	p.samplings = nil
}

// endProbes gathers what the probes saw, and what remains of the host's work when
// everything known is taken off.
func (r *oneRun) endProbes(ctx context.Context, p *probeSet) error {
	for _, s := range p.samplings {
		observed, series, err := s.Stop(ctx)
		if err != nil {
			p.report(err)
		}
		r.outcome.Observations = append(r.outcome.Observations, observed...)
		r.outcome.Series = append(r.outcome.Series, series...)
	}
	p.samplings = nil
	busy, ok := r.outcome.Observed(experiment.HostName + ".busy")
	if !ok || !r.host.Local {
		return nil
	}
	for _, name := range append(r.names(), experiment.EngineName, experiment.ConductorName) {
		if used, ok := r.outcome.Observed(name + ".cpu"); ok {
			busy -= used
		}
	}
	r.observe(experiment.HostName+".other", experiment.PhaseMeasure, max(busy, 0), experiment.UnitCores)
	return nil
}

// names gives the services of the run, sorted.
func (r *oneRun) names() []string { return slices.Sorted(maps.Keys(r.procs)) }
