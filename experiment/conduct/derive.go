package conduct

import (
	"cmp"
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// derive makes the metrics that the matrix makes of others, in order of declaration,
// so that one may be made of an earlier one. What has no value in a run is absent.
func (r *oneRun) derive() {
	o := &r.outcome
	from, to, _ := r.counters.window()
	length := to.Sub(from).Milliseconds()
	// The generator's slices go on through drain, and bear the time at which they begin.
	// All else is asked until the window ends, and then once more: that is its end,
	// however late it was heard of.
	sliced := map[string]bool{}
	for _, p := range o.Result.Series {
		sliced[full(p.Service, p.Metric)] = true
	}
	env := experiment.ExprEnv{
		Value: func(name string) (float64, bool) { return o.Observed(name) }, // of what is observed by then
		Series: func(name string) []experiment.SeriesPoint {
			points := slices.DeleteFunc(slices.Clone(o.Series), func(p experiment.SeriesPoint) bool {
				return full(p.Service, p.Metric) != name || p.AtMS < 0 || sliced[name] && p.AtMS >= length
			})
			slices.SortStableFunc(points, func(a, b experiment.SeriesPoint) int { return cmp.Compare(a.AtMS, b.AtMS) })
			return points
		},
	}
	for _, m := range r.plan.Metrics {
		e, err := experiment.ParseExpr(m.Of)
		var v float64
		if err == nil {
			v, err = e.Eval(env)
		}
		if err != nil {
			r.Log.Warn("a derived metric is absent", "run", o.Run.ID, "metric", m.Name, "of", m.Of, "err", err)
			continue
		}
		r.observe(m.Name, experiment.PhaseMeasure, v, m.Unit)
	}
}
