package analysis

import (
	"cmp"
	"errors"
	"math"

	"github.com/ceteris/ceteris/experiment"
)

// Rules of small samples and of the choice of method.
const (
	fewestRounds = 3  // below: no interval
	fewRounds    = 5  // below: labelled few rounds
	ownRounds    = 10 // from here on each comparison stands on its own variance
)

// contrast is one cell against its baseline on the working scale: logarithms for
// ratios, plain values for differences.
type contrast struct {
	cell       experiment.CellKey
	base, own  []float64 // values compared: of the shared rounds, or all
	x, y       []float64 // the same on the working scale
	effects    []float64 // y - x by round; nil for values without rounds
	estimate   Estimate  // on the working scale, unadjusted
	known      bool      // the estimate has a value
	incomplete bool      // lacks a round of the baseline
	tied       bool      // all values are one number
	reason     string    // why not tested; empty if tested

	method   experiment.Method
	quantile func(p, df float64) float64 // of Student's t
	// half is the half-width of the interval at a confidence, were n rounds done.
	half      func(confidence float64, n int) float64
	pAdjusted float64
}

func newContrast(base, other Sample, o Options) *contrast {
	c := &contrast{cell: other.Cell, base: base.Values, own: other.Values, quantile: tQuantile}
	if base.paired() {
		c.base, c.own = shared(base, other)
		c.incomplete = len(c.own) > 0 && len(c.own) < len(base.Values)
	}
	if err := c.measure(base.Values, o); err != nil {
		if errors.Is(err, ErrNoData) {
			if len(base.Values) > 0 && len(other.Values) > 0 {
				err = ErrNoSharedRound
			}
			c.reason = cmp.Or(base.Unfit, other.Unfit)
		}
		c.reason = cmp.Or(c.reason, reason(err))
		return c
	}
	switch {
	case base.Unfit != "":
		c.reason = base.Unfit
	case other.Unfit != "":
		c.reason = other.Unfit
	case min(len(c.base), len(c.own)) < fewestRounds:
		c.reason = reason(ErrTooFew)
	case c.estimate.ZeroVariance && c.tied:
		c.reason = string(experiment.FlagAllTied)
	case c.estimate.ZeroVariance:
		c.reason = string(experiment.FlagZeroVariance)
	}
	return c
}

// measure checks the values and estimates the effect. A fault anywhere in the
// baseline is every cell's fault.
func (c *contrast) measure(baseline []float64, o Options) error {
	check := checkPositive
	if o.difference() {
		check = checkFinite
	}
	if err := check(baseline, c.base, c.own); err != nil {
		return err
	}
	c.x, c.y = c.base, c.own
	if !o.difference() {
		c.x, c.y = logs(c.base), logs(c.own)
	}
	var err error
	if len(c.base) == len(c.own) && o.paired {
		c.effects = minus(c.y, c.x)
		c.estimate, err = meanOf(c.effects, c.scale(o, c.effects), o.Confidence)
	} else {
		c.estimate, err = independent(c.x, c.y, max(c.scale(o, c.x), c.scale(o, c.y)), o.Confidence)
	}
	if err != nil && !errors.Is(err, ErrTooFew) && !errors.Is(err, ErrZeroVariance) {
		return err
	}
	if math.IsNaN(c.estimate.Value) || math.IsInf(c.estimate.Value, 0) {
		return ErrNotFinite
	}
	c.known = true
	c.tied = allEqual(c.base, c.own)
	return nil
}

func (c *contrast) scale(o Options, x []float64) float64 {
	if o.difference() {
		return largest(c.base, c.own)
	}
	return logScale(x)
}

// independent is welch that still gives the difference when either sample has one
// value only.
func independent(x, y []float64, scale, confidence float64) (Estimate, error) {
	if len(x) < 2 || len(y) < 2 {
		a, _ := meanOf(x, scale, confidence)
		b, _ := meanOf(y, scale, confidence)
		return Estimate{Value: b.Value - a.Value}, ErrTooFew
	}
	return welch(x, y, scale, confidence)
}

func allEqual(samples ...[]float64) bool {
	for _, x := range samples {
		for _, v := range x {
			if v != samples[0][0] {
				return false
			}
		}
	}
	return true
}

func (c *contrast) tested() bool { return c.reason == "" }

// deviation is the standard deviation of the rounds' effects.
func (c *contrast) deviation() float64 { return c.estimate.SE * math.Sqrt(float64(len(c.effects))) }

// comparison puts the contrast into the form of results.
func (c *contrast) comparison(o Options) experiment.Comparison {
	out := experiment.Comparison{
		Cell: c.cell, Metric: o.Metric.Name, Scale: o.Metric.Scale, Confidence: o.Confidence,
		N: len(c.own), Verdict: experiment.VerdictNotTested, Reason: c.reason,
	}
	if c.incomplete {
		out.Flags = append(out.Flags, experiment.FlagIncomplete)
	}
	if !c.known {
		return out
	}
	out.Estimate = number(o.back(c.estimate.Value))
	if out.N >= fewestRounds && out.N < fewRounds {
		out.Flags = append(out.Flags, experiment.FlagFewRounds)
	}
	if c.tested() {
		c.judge(&out, o)
		return out
	}
	switch c.reason {
	case string(experiment.FlagAllTied):
		out.Flags = append(out.Flags, experiment.FlagAllTied)
		out.P, out.PAdjusted = number(1), number(1)
	case string(experiment.FlagZeroVariance):
		out.Flags = append(out.Flags, experiment.FlagZeroVariance)
	}
	return out
}

// judge fills interval, p and verdict of a tested contrast.
func (c *contrast) judge(out *experiment.Comparison, o Options) {
	v := c.estimate.Value
	n := len(c.own)
	e := Effect{Value: o.back(v), EqLow: math.NaN(), EqHigh: math.NaN()}
	h := c.half(o.Confidence, n)
	e.Low, e.High = o.back(v-h), o.back(v+h)
	if eq := 1 - 2*(1-o.Confidence); eq > 0 {
		h := c.half(eq, n)
		e.EqLow, e.EqHigh = o.back(v-h), o.back(v+h)
	}
	if number(e.Low) == nil || number(e.High) == nil {
		out.Reason = reason(ErrNotFinite)
		return
	}
	out.Method = c.method
	out.Low, out.High = number(e.Low), number(e.High)
	out.EqLow, out.EqHigh = number(e.EqLow), number(e.EqHigh)
	out.P, out.PAdjusted = number(c.estimate.P), number(c.pAdjusted)
	out.Verdict, out.Material = Decide(e, o.Metric, o.MinimumEffect)
	if out.Verdict == experiment.VerdictInconclusive && c.effects != nil {
		out.RoundsNeeded = c.roundsNeeded(o)
	}
	if c.contradicted(e, out.Verdict, o) {
		out.Flags = append(out.Flags, experiment.FlagCheckDistribution)
	}
}

// pairsLimit bounds the pairs behind a Hodges-Lehmann estimate.
const pairsLimit = 1 << 20

// contradicted looks at the same values without assuming a distribution: the
// median effect (of medians, without rounds) lies outside the interval, or the
// Hodges-Lehmann estimate points against the verdict.
func (c *contrast) contradicted(e Effect, v experiment.Verdict, o Options) bool {
	var middle, hl float64
	if c.effects != nil {
		middle = o.back(median(c.effects))
		hl = median(walshAverages(c.effects))
	} else {
		a, b := median(c.base), median(c.own)
		middle = b / a
		if o.difference() {
			middle = b - a
		}
		if len(c.x)*len(c.y) <= pairsLimit {
			hl = median(allDifferences(c.x, c.y))
		}
	}
	if middle < e.Low || middle > e.High {
		return true
	}
	switch v {
	case experiment.VerdictBetter, experiment.VerdictWorse, experiment.VerdictHigher, experiment.VerdictLower:
		return hl*c.estimate.Value < 0
	default:
		return false
	}
}

// number is a pointer to a finite value, nil for any other.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
