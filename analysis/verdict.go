package analysis

import (
	"math"

	"github.com/ceteris/ceteris/experiment"
)

// Effect is an estimated ratio or difference, cell against baseline, with its
// interval and the narrower one of the equivalence test. NaN stands for none.
type Effect struct {
	Value         float64
	Low, High     float64
	EqLow, EqHigh float64
}

// minimumShare is the smallest difference of shares (error rate, drops) that
// matters: 0.1 percentage point.
const minimumShare = 0.001

// band is the range of effects too small to matter around none.
type band struct {
	none      float64
	low, high float64
	defined   bool // there is a minimum effect on this scale
}

func bandOf(m experiment.Metric, minimumEffect float64) band {
	switch {
	case m.Scale != experiment.ScaleDifference:
		return band{none: 1, low: 1 / (1 + minimumEffect), high: 1 + minimumEffect, defined: true}
	case m.Unit == experiment.UnitRatio:
		return band{low: -minimumShare, high: minimumShare, defined: true}
	default:
		return band{}
	}
}

// Decide gives the verdict on an effect. In this order: without an interval
// not-tested; equivalent if the equivalence interval lies strictly inside the band
// (two one-sided tests, Schuirmann 1987), even when "no effect" is excluded; better
// or worse (higher or lower for a metric without a direction) if the interval
// excludes no effect, with how much of it is material; else inconclusive.
func Decide(e Effect, m experiment.Metric, minimumEffect float64) (experiment.Verdict, experiment.Material) {
	if math.IsNaN(e.Low) || math.IsNaN(e.High) {
		return experiment.VerdictNotTested, ""
	}
	b := bandOf(m, minimumEffect)
	switch {
	case b.defined && e.EqLow > b.low && e.EqHigh < b.high:
		return experiment.VerdictEquivalent, ""
	case e.Low > b.none:
		return direction(m, true), b.material(e)
	case e.High < b.none:
		return direction(m, false), b.material(e)
	default:
		return experiment.VerdictInconclusive, ""
	}
}

func direction(m experiment.Metric, up bool) experiment.Verdict {
	switch {
	case m.Better == experiment.NoDirection && up:
		return experiment.VerdictHigher
	case m.Better == experiment.NoDirection:
		return experiment.VerdictLower
	case (m.Better == experiment.HigherIsBetter) == up:
		return experiment.VerdictBetter
	default:
		return experiment.VerdictWorse
	}
}

// material says how much of an effect lies at or beyond the band's edge.
func (b band) material(e Effect) experiment.Material {
	switch {
	case !b.defined:
		return ""
	case e.Low >= b.high || e.High <= b.low:
		return experiment.MaterialProven
	case e.Value >= b.high || e.Value <= b.low:
		return experiment.MaterialLikely
	default:
		return experiment.MaterialUnproven
	}
}
