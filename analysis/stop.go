package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// fewestLooks is over how many looks the error is spread at least, so that a sweep
// whose bound on the rounds is moved meanwhile has not spent more at its first looks.
const fewestLooks = 4

// RuleConfidence is the level at which all intervals of a sweep with a rule are made,
// to be reported as those at the nominal confidence.
func RuleConfidence(rule experiment.Stopping, confidence float64) float64 {
	switch rule.Until {
	case experiment.StopPrecise:
		return PreciseConfidence(confidence)
	case experiment.StopDecided:
		return LookConfidence(confidence, max(fewestLooks, rule.Looks()))
	default:
		return confidence
	}
}

// Look is what a rule finds in one family.
type Look struct {
	Family    Family  // at RuleConfidence
	HalfWidth float64 // the widest, a fraction (of differences: as they are); NaN if nothing is tested
	Open      int     // comparisons because of which the rule is not met
	Met       bool
}

// LookAt looks at the family by a rule that is not fixed, over the rounds that are
// given; whether it is time to look says rule.Due. The confidence in o is the nominal
// one. Every comparison that is tested must be narrow enough, or decided. One that is
// not tested does not count, unless it only lacks rounds; but something must be, where
// there are cells at all. Without any variance an interval is as narrow as can be.
func LookAt(rule experiment.Stopping, base Sample, others []Sample, o Options) Look {
	return newDunnett().lookAt(rule, base, others, o)
}

func (d *dunnett) lookAt(rule experiment.Stopping, base Sample, others []Sample, o Options) Look {
	o.Confidence = RuleConfidence(rule, o.Confidence)
	l := Look{Family: d.compareFamily(base, others, o), HalfWidth: math.NaN()}
	target := o.halfWidth(rule.Within)
	known := 0
	for _, row := range l.Family.Comparisons {
		half, open := 0.0, false
		switch {
		case row.Low != nil:
			half = o.halfOf(row)
			open = !(half <= target)
			if rule.Until == experiment.StopDecided {
				open = row.Verdict == experiment.VerdictInconclusive
			}
		case row.Reason == reason(ErrTooFew), row.Reason == reason(ErrNoSharedRound):
			l.Open++
			continue
		case row.Reason != string(experiment.FlagZeroVariance) && row.Reason != string(experiment.FlagAllTied):
			continue // more rounds would not change it
		}
		known++
		if open {
			l.Open++
		}
		if !(half <= l.HalfWidth) {
			l.HalfWidth = half
		}
	}
	l.Met = l.Open == 0 && len(base.Values) > 0 && (known > 0 || len(others) == 0)
	return l
}

// halfWidth gives the half-width that is narrow enough: for ratios a fraction, the
// minimum effect if none is given; for differences of shares as it is. Other differences
// have none: NaN.
func (o Options) halfWidth(within float64) float64 {
	switch {
	case !bandOf(o.Metric, o.MinimumEffect).defined:
		return math.NaN()
	case within > 0:
		return within
	case o.difference():
		return minimumShare
	default:
		return o.MinimumEffect
	}
}

// halfOf is the half-width of an interval, in the unit of halfWidth.
func (o Options) halfOf(row experiment.Comparison) float64 {
	if o.difference() {
		return (*row.High - *row.Low) / 2
	}
	return math.Expm1(math.Log(*row.High / *row.Low) / 2)
}

// await makes the states of stages with a rule say that more rounds may come, and, as
// long as those that there are have not been accepted, leaves out what came after the
// last look: to see it is to look.
func (a arranged) await(rule experiment.Stopping, accepted bool) {
	if rule.Until == experiment.StopFixed {
		return
	}
	for _, st := range stagesIn(a.families) {
		n := len(st.rounds)
		switch {
		case n >= rule.AtMost && st.paired:
			st.state = experiment.ResultsFinal
		case interim(st.state):
			st.state = fmt.Sprintf(experiment.ResultsInterim+"%d of at most %d", n, rule.AtMost)
		}
		if look := rule.LastLook(n); look > 0 && look < n && !accepted {
			st.cut(look)
		}
	}
}

// cut leaves out all rounds after the first n.
func (st *stage) cut(n int) {
	last := st.rounds[n-1]
	st.rounds = st.rounds[:n]
	for _, c := range st.cells {
		c.counting = slices.DeleteFunc(c.counting, func(r countingRun) bool { return r.round > last })
		for round := range c.failed {
			if round > last {
				delete(c.failed, round)
			}
		}
		c.silent = len(c.counting) > 0 && !slices.ContainsFunc(c.counting, countingRun.succeeds)
	}
}

// look judges every stage by the sweep's rule, before anything else is judged: where it
// is met the results are final, and all of them are made at its confidence.
func (w *worker) look(a arranged, ladders []ladder) {
	rule := w.sweep.Stopping
	if rule.Until == experiment.StopFixed || len(a.families) == 0 {
		return
	}
	families := a.families
	if w.set.Metric == experiment.MetricCeiling && len(ladders) > 0 {
		families = ladderFamilies(ladders)
	}
	m := w.metric(w.set.Metric)
	o := Options{Metric: m, Confidence: w.set.Confidence, MinimumEffect: w.set.MinimumEffect}
	w.set.Confidence = RuleConfidence(rule, o.Confidence)
	stop := experiment.StopReport{Until: rule.Until, Met: true, At: math.MaxInt, Confidence: w.set.Confidence}
	if rule.Until == experiment.StopPrecise {
		if target := number(o.halfWidth(rule.Within)); target != nil {
			stop.Target = *target
		}
	}
	widest := math.NaN()
	for _, st := range stagesIn(families) {
		n := len(st.rounds)
		stop.At = min(stop.At, rule.LastLook(n))
		met := st.paired && rule.Due(n)
		for _, f := range families {
			if f.stage != st || f.baseline == nil || !rule.Due(n) {
				continue
			}
			l := w.dunnett.lookAt(rule, f.baseline.sample(m, st.paired, w.set.ErrorRate), f.others(m, w.set.ErrorRate), o)
			met = met && l.Met
			stop.Open += l.Open
			if !(l.HalfWidth <= widest) && !math.IsNaN(l.HalfWidth) {
				widest = l.HalfWidth
			}
		}
		stop.Met = stop.Met && met
		if met {
			stop.MetIn = append(stop.MetIn, st.name)
			st.state = experiment.ResultsFinal
		}
	}
	stop.HalfWidth = number(widest)
	if !slices.ContainsFunc(families, func(f *family) bool { return interim(f.stage.state) }) {
		w.out.Planned = w.out.RoundsDone
	}
	w.out.Stop = stop
}

func stagesIn(families []*family) []*stage {
	var out []*stage
	for _, f := range families {
		if !slices.Contains(out, f.stage) {
			out = append(out, f.stage)
		}
	}
	return out
}

// others gives the samples that are compared with the baseline, without those of cells
// that fail, or have no counting run: they are decided.
func (f *family) others(m experiment.Metric, errorRate float64) []Sample {
	var out []Sample
	for _, c := range f.cells {
		if c.cell.Role != experiment.RoleBaseline && c.cell.Role != experiment.RoleControl && len(c.counting) > 0 && !f.silenced(c) {
			out = append(out, c.sample(m, f.stage.paired, errorRate))
		}
	}
	return out
}

// nominal reports what was made at the confidence of a rule at that of the settings.
func (w *worker) nominal() {
	confidence := w.out.Settings.Confidence
	spent := (1 - confidence) / (1 - w.set.Confidence)
	adjust := func(p *float64) *float64 {
		if p == nil {
			return nil
		}
		return number(min(1, *p*spent))
	}
	for i := range w.out.Intervals {
		w.out.Intervals[i].Confidence = confidence
	}
	for i := range w.out.Comparisons {
		c := &w.out.Comparisons[i]
		c.Confidence, c.PAdjusted = confidence, adjust(c.PAdjusted)
	}
	for i := range w.out.Changes {
		c := &w.out.Changes[i]
		c.Confidence, c.PAdjusted = confidence, adjust(c.PAdjusted)
	}
	for i := range w.out.Responses {
		r := &w.out.Responses[i]
		r.P = adjust(r.P)
	}
}
