package conduct

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/step"
)

// collector asks the steps of collect, beside the load and never in its way: what
// cannot be asked is a warning and an absent metric.
type collector struct {
	run     *oneRun
	all     []*collecting
	asking  sync.WaitGroup
	stop    context.CancelFunc // of the questions inside the window
	during  context.Context
	mu      sync.Mutex
	begun   time.Time // when the begin of the window was heard of
	window  time.Time // its begin, by the generator's clock
	answers []collected
}

// collected is what one question gave.
type collected struct {
	of     *collecting
	moment experiment.Moment
	at     time.Duration // since the window began; of questions at its ends, the end itself
	values map[string]float64
	body   []byte
}

// collecting is a step of collect and whose metrics it brings.
type collecting struct {
	experiment.Collect
	owner string      // service under which it is written; empty beside them
	hung  atomic.Bool // it was not answered in time
}

// metric names the metric of a value.
func (c *collecting) metric(name string) (service, metric string) {
	if !c.Image.IsZero() {
		return "", name
	}
	return named(c.Step, c.owner), name
}

func full(service, metric string) string {
	if service == "" {
		return metric
	}
	return service + "." + metric
}

// at reports whether the step is asked at a moment.
func (c *collecting) at(m experiment.Moment) bool {
	return slices.Contains(c.Moments, m) || len(c.Moments) == 0 && m == experiment.MomentEnd
}

func (r *oneRun) newCollector(ctx context.Context) *collector {
	c := &collector{run: r, all: r.collects()}
	c.during, c.stop = context.WithCancel(ctx)
	return c
}

// collects lists what is collected.
func (r *oneRun) collects() []*collecting {
	var all []*collecting
	for _, svc := range r.running {
		for _, c := range svc.Collect {
			all = append(all, &collecting{Collect: c, owner: svc.Name})
		}
	}
	var failed error
	for _, c := range experiment.ResolveCollect(r.secrets.collect(r.plan.Collect), r.addresses("collect", &failed)) {
		all = append(all, &collecting{Collect: c})
	}
	if failed != nil {
		r.Log.Warn("not all can be collected", "run", r.outcome.Run.ID, "err", failed)
	}
	return all
}

// begin asks what is asked at the beginning of the window, and again and again in it.
func (c *collector) begin(ctx context.Context, at time.Time) {
	c.begun, c.window = time.Now(), at
	for _, of := range c.all {
		if of.at(experiment.MomentStart) {
			c.asking.Go(func() { c.ask(ctx, of, experiment.MomentStart, 0) })
		}
		if of.at(experiment.MomentDuring) {
			c.asking.Go(func() { c.repeat(of) })
		}
	}
}

// end asks what is asked at the end of the window, and what it answers is of that end,
// however late it was heard of.
func (c *collector) end(ctx context.Context, at time.Time) {
	c.stop()
	length := at.Sub(c.window)
	for _, of := range c.all {
		if of.at(experiment.MomentEnd) {
			c.asking.Go(func() { c.ask(ctx, of, experiment.MomentEnd, length) })
		}
	}
}

// once asks what is asked at the end, where there is no window.
func (c *collector) once(ctx context.Context) {
	c.end(ctx, c.window)
	c.finish()
}

// repeat asks in turn until the window ends; a slow answer leaves questions out.
func (c *collector) repeat(of *collecting) {
	ticks := time.NewTicker(cmp.Or(of.Every, experiment.DefaultEvery))
	defer ticks.Stop()
	for {
		c.ask(c.during, of, experiment.MomentDuring, time.Since(c.begun))
		select {
		case <-ticks.C:
		case <-c.during.Done():
			return
		}
	}
}

// ask asks once. What was not answered in time is not asked again: where commands
// cannot be ended they go on, and would pile up on the cores of the subject.
func (c *collector) ask(ctx context.Context, of *collecting, moment experiment.Moment, at time.Duration) {
	if of.hung.Load() {
		return
	}
	got := collected{of: of, moment: moment, at: at, values: map[string]float64{}}
	replies, err := c.run.ask(ctx, of.owner, of.Step)
	for _, a := range replies {
		err = cmp.Or(err, a.Err())
	}
	if err != nil {
		if ctx.Err() == nil {
			of.hung.Store(errors.Is(err, context.DeadlineExceeded))
			c.run.Log.Warn("not collected", "run", c.run.outcome.Run.ID, "step", step.Describe(of.Step), "moment", moment, "err", err, "asked_again", !of.hung.Load())
		}
		return
	}
	for _, a := range replies {
		got.body = append(got.body, a.Body...)
		for name, text := range a.Values {
			v, ok := step.Number(text)
			if !ok {
				c.run.Log.Warn("collected, and no number", "run", c.run.outcome.Run.ID, "service", a.service, "name", name, "value", text)
				continue
			}
			got.values[name] += v // of replicas, the sum
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = append(c.answers, got)
}

// finish waits for the answers and makes metrics, series and artifacts of them. It is
// called after begin and end, if they are called at all.
func (c *collector) finish() {
	c.stop()
	c.asking.Wait()
	slices.SortStableFunc(c.answers, func(a, b collected) int { return cmp.Compare(a.at, b.at) })
	o := &c.run.outcome
	byStep := map[*collecting][]collected{}
	type point struct {
		metric string
		at     int64
	}
	given := map[point]int{} // the last question in the window may be asked at its end
	for _, got := range c.answers {
		byStep[got.of] = append(byStep[got.of], got)
		for _, name := range slices.Sorted(maps.Keys(got.values)) {
			service, metric := got.of.metric(name)
			p := experiment.SeriesPoint{Service: service, Metric: metric, AtMS: got.at.Milliseconds(), Value: got.values[name]}
			key := point{full(service, metric), p.AtMS}
			if i, twice := given[key]; twice {
				o.Series[i] = p
				continue
			}
			given[key] = len(o.Series)
			o.Series = append(o.Series, p)
		}
	}
	for _, of := range c.all {
		c.reduce(of, byStep[of])
		c.keep(of, byStep[of])
	}
}

// reduce gives one value for each name: the growth, the mean of the window, or the
// last.
func (c *collector) reduce(of *collecting, answers []collected) {
	names := map[string]bool{}
	for _, got := range answers {
		for name := range got.values {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		value, ok := reduced(of, name, answers)
		if !ok {
			c.run.Log.Warn("its growth is not known", "run", c.run.outcome.Run.ID, "name", name)
			continue
		}
		c.run.observe(full(of.metric(name)), experiment.PhaseMeasure, value, cmp.Or(of.Unit, experiment.UnitCount))
	}
}

func reduced(of *collecting, name string, answers []collected) (float64, bool) {
	at := map[experiment.Moment][]float64{}
	for _, got := range answers {
		if v, ok := got.values[name]; ok {
			at[got.moment] = append(at[got.moment], v)
		}
	}
	first, during, last := at[experiment.MomentStart], at[experiment.MomentDuring], at[experiment.MomentEnd]
	switch {
	case slices.Contains(of.Delta, name):
		if len(first) == 0 || len(last) == 0 {
			return 0, false
		}
		return last[0] - first[0], true
	case len(during) > 0:
		sum := 0.0
		for _, v := range during {
			sum += v
		}
		return sum / float64(len(during)), true
	case len(last) > 0:
		return last[0], true
	default:
		return first[0], true
	}
}

// keep makes an artifact of the answer. A step that keeps is asked once.
func (c *collector) keep(of *collecting, answers []collected) {
	if of.Keep == "" || len(answers) == 0 {
		return
	}
	body := answers[0].body
	service, _ := of.metric("")
	c.run.outcome.Artifacts = append(c.run.outcome.Artifacts, experiment.Artifact{Service: service, Name: of.Keep, Body: body, Full: int64(len(body))})
}
