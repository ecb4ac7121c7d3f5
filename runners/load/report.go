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

// report writes phases and slices while the load is driven, and the result after
// it. A phase is told with the moment at which it begins by plan, however late the
// reporter wakes: what belongs to it is counted by that moment. Slices are reduced as they close, a little at a time, because this work
// shares the core with the sending.
func (r *run) report(ctx context.Context, out *Encoder, over <-chan struct{}) error {
	phases := r.phases()
	var (
		points []experiment.SeriesPoint
		width  = r.load.SliceWidth()
		told   = r.clock.now()
		tick   = told + width
		timer  = time.NewTimer(0)
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
			return r.finish(out, phases, points)
		case <-timer.C:
		}
		now := r.clock.now()
		for len(phases) > 0 && phases[0].begin <= now {
			if err := out.Phase(phases[0].phase, r.clock.time(phases[0].begin)); err != nil {
				return err
			}
			phases = phases[1:]
		}
		if now >= tick {
			points = append(points, r.closedPoints(now, false)...)
			tick = now + width
		}
		if now >= told+lineEvery {
			if err := tell(out, points); err != nil {
				return err
			}
			points, told = points[:0], now
		}
		next := tick
		if len(phases) > 0 {
			next = min(next, phases[0].begin)
		}
		timer.Reset(next - r.clock.now())
	}
}

// finish writes what is left after the last request: it may be over before drain
// was told.
func (r *run) finish(out *Encoder, phases []phaseBegin, points []experiment.SeriesPoint) error {
	end := r.clock.now()
	for _, p := range phases {
		if err := out.Phase(p.phase, r.clock.time(p.begin)); err != nil {
			return err
		}
	}
	points = append(points, r.closedPoints(end, true)...)
	if err := tell(out, points); err != nil {
		return err
	}
	if err := out.Phase(experiment.PhaseDone, time.Now()); err != nil {
		return err
	}
	result, err := r.rec.summary()
	if err != nil {
		return err
	}
	if err := out.Result(result); err != nil {
		return err
	}
	return out.End()
}

// tell writes points, metric by metric, which makes the line short.
func tell(out *Encoder, points []experiment.SeriesPoint) error {
	slices.SortStableFunc(points, func(a, b experiment.SeriesPoint) int { return strings.Compare(a.Metric, b.Metric) })
	return out.Slices(time.Now(), points)
}

func (r *run) closedPoints(now time.Duration, final bool) []experiment.SeriesPoint {
	var points []experiment.SeriesPoint
	done := r.rec.closeSlices(now, final)
	for _, c := range done {
		points = append(points, r.rec.timeline.points(c)...)
	}
	r.rec.recycle(done)
	return points
}

// phaseBegin is the moment at which a phase begins.
type phaseBegin struct {
	phase experiment.Phase
	begin time.Duration
}

// phases gives the phases up to drain; those without length are left out.
func (r *run) phases() []phaseBegin {
	var out []phaseBegin
	for _, e := range Timeline(r.clock.window.Add(-r.load.Ramp-r.load.Warmup), r.load) {
		if e.Phase != experiment.PhaseDone {
			out = append(out, phaseBegin{e.Phase, e.At.Sub(r.clock.window)})
		}
	}
	return out
}
