package load

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// lineEvery is how often slices are told.
const lineEvery = time.Second

// reporter tells of a load under way.
type reporter struct {
	*run
	out    *Encoder
	phases int       // told
	rates  []float64 // of successes, by slice of a warm-up that lasts until it is steady
	steady bool      // it was, before its time was up
	points []experiment.SeriesPoint
}

// report writes phases and slices while the load is driven, and the result after
// it. A phase is told with the moment at which it begins, however late the reporter
// wakes: what belongs to it is counted by that moment. Slices are reduced as they
// close, a little at a time, because this work shares the core with the sending.
func (r *run) report(ctx context.Context, out *Encoder, over <-chan struct{}) error {
	var (
		p     = &reporter{run: r, out: out}
		width = r.load.SliceWidth()
		told  = r.clock.now()
		tick  = told + width
		timer = time.NewTimer(0)
	)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrInterrupted, context.Cause(ctx))
		case <-over:
			if ctx.Err() != nil {
				continue
			}
			return p.finish()
		case <-r.changed:
		case <-timer.C:
		}
		now := r.clock.now()
		next, err := p.tellPhases(now)
		if err != nil {
			return err
		}
		if now >= tick {
			p.take(now, false)
			tick = now + width
		}
		if now >= told+lineEvery {
			if err := p.tell(); err != nil {
				return err
			}
			told = now
		}
		timer.Reset(min(next, tick) - r.clock.now())
	}
}

// tellPhases writes the phases that have begun, and gives the begin of the next one.
func (p *reporter) tellPhases(now time.Duration) (next time.Duration, err error) {
	window, end := p.rec.span()
	all := begins(p.load, window, end)
	for ; p.phases < len(all) && all[p.phases].at <= now; p.phases++ {
		b := all[p.phases]
		if err := p.out.Phase(b.phase, b.part, p.clock.time(b.at)); err != nil {
			return 0, err
		}
		if b.phase == experiment.PhaseMeasure && b.part == "" && window > 0 {
			if err := p.out.Shift(window); err != nil {
				return 0, err
			}
		}
	}
	if p.phases == len(all) {
		return never, nil
	}
	return all[p.phases].at, nil
}

// take reduces the slices that are over.
func (p *reporter) take(now time.Duration, final bool) {
	warming := p.load.Steady > 0 && !p.steady && !final
	done := p.rec.closeSlices(now, final)
	for _, c := range done {
		p.points = append(p.points, c.points(p.rec.drops)...)
		if warming && c.begin >= -p.load.Warmup {
			p.rates = append(p.rates, float64(c.done-c.failed)/(c.end-c.begin).Seconds())
		}
	}
	p.rec.recycle(done)
	if warming {
		p.settle(now)
	}
}

// settle ends a warm-up that has become steady.
func (p *reporter) settle(now time.Duration) {
	latest := latestWindow(p.load)
	if now < 0 || now >= latest || !Steady(p.rates) {
		return
	}
	begin, end := p.rec.beginWindow(p.clock.now())
	p.steady = true
	if begin < latest {
		p.endAt(end)
	}
}

// finish writes what is left after the last request: it may be over before drain
// was told.
func (p *reporter) finish() error {
	if _, err := p.tellPhases(never); err != nil {
		return err
	}
	p.take(p.clock.now(), true)
	if err := p.tell(); err != nil {
		return err
	}
	if err := p.out.Phase(experiment.PhaseDone, "", time.Now()); err != nil {
		return err
	}
	result, err := p.rec.summary()
	if err != nil {
		return err
	}
	result.Observations = append(result.Observations, p.notes()...)
	if err := p.out.Result(result); err != nil {
		return err
	}
	return p.out.End()
}

// notes are observations on the load itself: how long a warm-up lasted whose length
// was left open, and whether it became steady; of fixed work, how much was not done.
func (p *reporter) notes() []experiment.Observation {
	var out []experiment.Observation
	if p.load.Steady > 0 {
		begin, _ := p.rec.span()
		steady := 0.0
		if p.steady {
			steady = 1
		}
		out = append(out,
			experiment.Observation{Metric: "warmup_seconds", Phase: experiment.PhaseWarmup, Value: (p.load.Warmup + begin).Seconds(), Unit: experiment.UnitSeconds},
			experiment.Observation{Metric: "warmup_steady", Phase: experiment.PhaseWarmup, Value: steady, Unit: experiment.UnitCount})
	}
	if p.load.Work > 0 {
		out = append(out, experiment.Observation{Metric: "work_missing", Phase: experiment.PhaseDrain, Value: float64(p.rec.missing()), Unit: experiment.UnitCount})
	}
	return out
}

// tell writes points, metric by metric, which makes the line short.
func (p *reporter) tell() error {
	slices.SortStableFunc(p.points, func(a, b experiment.SeriesPoint) int { return strings.Compare(a.Metric, b.Metric) })
	err := p.out.Slices(time.Now(), p.points)
	p.points = p.points[:0]
	return err
}
