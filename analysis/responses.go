package analysis

import (
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// Names of the tests for a trend.
const (
	testPage       = "page"
	testJonckheere = "jonckheere"
)

// Levels from which the shape of a response is looked at.
const (
	kneeLevels     = 5
	responseLevels = 6 // for the Universal Scalability Law
)

// responses adds how metrics answer to numeric factors, and those of the baseline to
// numeric conditions. They are few: the primary metric, throughput, the median and the
// 99% quantile of the latency (of the service time where nothing tells that), ceilings, and
// what the matrix itself declares.
func (w *worker) responses(a arranged, ladders []ladder) {
	if ofCopies(w.sweep) {
		return // numbers that tell cells apart, and mean nothing
	}
	metrics := []string{w.set.Metric, "throughput"}
	for _, q := range []string{"p50", "p99"} {
		if _, observed := w.units["latency_"+q]; observed {
			metrics = append(metrics, "latency_"+q)
		} else {
			metrics = append(metrics, "service_time_"+q)
		}
	}
	for _, m := range w.sweep.Declared {
		metrics = append(metrics, m.Name)
	}
	axes := w.axes(a.families)
	for i, name := range metrics {
		if _, observed := w.units[name]; observed && name != experiment.MetricCeiling && !slices.Contains(metrics[:i], name) {
			w.respond(axes, name)
		}
	}
	if len(ladders) > 0 {
		w.respond(w.axes(ladderFamilies(ladders)), experiment.MetricCeiling)
	}
}

// axes gives the numeric factors of the families, then the numeric conditions.
func (w *worker) axes(families []*family) []axis {
	var out []axis
	for _, f := range families {
		out = append(out, f.axes()...)
	}
	return append(out, conditionAxes(families, w.sweep.Across)...)
}

func (w *worker) respond(axes []axis, metric string) {
	o := Options{Metric: w.metric(metric), Confidence: w.set.Confidence, MinimumEffect: w.set.MinimumEffect}
	for _, a := range axes {
		o.paired = a.stage.paired
		if r, ok := w.response(a, o); ok {
			w.out.Responses = append(w.out.Responses, r)
		}
	}
}

// response looks at one axis; false if fewer than 3 levels have values. While rounds are to
// come nothing is said of trend, best and smallest, and of the trend not below 5 rounds.
func (w *worker) response(a axis, o Options) (experiment.Response, bool) {
	d := w.doses(a, o)
	if len(d.levels) < fewestLevels {
		return experiment.Response{}, false
	}
	out := experiment.Response{
		Stage: a.stage.name, Condition: a.condition, Factor: a.factor, Metric: o.Metric.Name,
		Trend: experiment.TrendUntest, State: a.stage.state,
	}
	t, test, n, err := d.trend()
	if err == nil {
		out.Test, out.P = test, number(t.P())
	}
	switch {
	case err != nil:
		out.Reason = reason(err)
	case interim(out.State):
		out.Reason = string(experiment.VerdictPending)
	case n < fewRounds:
		out.Reason = "n < 5"
	case t.P() >= 1-o.Confidence:
		out.Trend = experiment.TrendNone
	case t.RisingP < t.FallingP:
		out.Trend = experiment.TrendRising
	default:
		out.Trend = experiment.TrendFalling
	}
	fit, err := d.fit(out.Trend)
	if err != nil {
		return out, false
	}
	for i, l := range d.levels {
		row := experiment.ResponseLevel{
			Cell: l.cell.cell.Key, Text: l.text, Value: l.value, N: len(d.samples[i].Values),
			Mean: o.back(d.means[i]), Fit: o.back(fit[i]),
		}
		if checkFinite([]float64{row.Mean, row.Fit}) != nil {
			return out, false
		}
		out.Levels = append(out.Levels, row)
	}
	out.Knee = d.knee(o)
	if a.plain && w.scales(o.Metric) {
		out.USL = d.usl(o)
	}
	if a.baseline != nil && !interim(out.State) {
		w.recommend(&out, d, o)
	}
	return out, true
}

// scales reports whether a metric is a rate that more parallel work raises. Where the load
// is open (arrivals can be dropped) the rate is that of the arrivals.
func (w *worker) scales(m experiment.Metric) bool {
	if m.Unit != experiment.UnitPerSecond || m.Better != experiment.HigherIsBetter {
		return false
	}
	_, open := w.units["dropped"]
	return !open || m.Name == experiment.MetricCeiling
}

// usl fits the Universal Scalability Law to the means of 6 different levels or more, none
// below 1. A peak is told if kappa exceeds twice its standard error, the peak lies
// below twice the largest level, and the levels reach past the bend: at the largest one
// throughput by level is at most half of the best. It is not told below the lowest level.
func (d doses) usl(o Options) *experiment.USLFit {
	var n, x []float64
	var best float64
	for i, l := range d.levels {
		n, x = append(n, l.value), append(x, o.back(d.means[i]))
		best = max(best, x[i]/n[i])
	}
	last := len(n) - 1
	if n[0] < 1 || len(slices.Compact(slices.Clone(n))) < responseLevels || d.fewest() < fewestRounds {
		return nil
	}
	u, err := FitUSL(n, x)
	if err != nil {
		return nil
	}
	out := &experiment.USLFit{Lambda: u.Lambda, Sigma: u.Sigma, Kappa: u.Kappa, SE: u.KappaSE}
	switch {
	case x[last]/n[last] > best/2:
		out.Reason = "the levels do not reach past the bend"
	case u.Kappa <= 2*u.KappaSE:
		out.Reason = "coherency cannot be told from none"
	case u.Peak() < n[0]:
		out.Reason = "throughput falls from the lowest level on"
	case u.Peak() >= 2*n[last]:
		out.Reason = "the peak lies beyond twice the largest level"
	default:
		out.Peak = number(u.Peak())
	}
	return out
}

// fewest is the number of values of the level that has fewest.
func (d doses) fewest() int { return int(slices.Min(d.weights)) }

// recommend names the level with the best mean and the smallest one that is equivalent to
// it by the rules of comparisons, the family being all other levels against the best.
func (w *worker) recommend(out *experiment.Response, d doses, o Options) {
	if o.Metric.Better == experiment.NoDirection || d.fewest() < fewestRounds {
		return
	}
	best := 0
	for i, v := range d.means {
		if v != d.means[best] && (v > d.means[best]) == (o.Metric.Better == experiment.HigherIsBetter) {
			best = i
		}
	}
	others := slices.Delete(slices.Clone(d.samples), best, best+1)
	family := w.dunnett.compareFamily(d.samples[best], others, o)
	out.Best, out.Smallest = d.samples[best].Cell, d.samples[best].Cell
	for i, c := range family.Comparisons[:best] { // those of the lower levels
		if c.Verdict == experiment.VerdictEquivalent {
			out.Smallest = others[i].Cell
			return
		}
	}
}
