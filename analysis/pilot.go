package analysis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ceteris/ceteris/experiment"
)

// pilotConfidence is that of the upper limits with which rounds are planned: the
// estimates themselves are too small half of the time.
const pilotConfidence = 0.8

// Spread is how much a comparison varies from round to round, on the scale on which it
// is made: logarithms for ratios.
type Spread struct {
	Cell   experiment.Cell
	N      int     // rounds behind it
	SD     float64 // of the rounds' effects
	Upper  float64 // upper 80% limit of SD
	Pooled float64 // upper 80% limit of what the cells of the family have in common; 0: they are not pooled
	Reason string  // why there is none
}

// Spreads gives the primary metric of a sweep, which is a pilot of others, with the scale
// on which it is compared there, and the spread of every comparison of it, in order of
// declaration. It fails where Analyse does.
func Spreads(s experiment.Sweep, set experiment.Settings) (m experiment.Metric, all []Spread, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("spreads of sweep %d: %w", s.ID, err)
		}
	}()
	if err := checkSettings(set); err != nil {
		return m, nil, err
	}
	a, err := arrange(s)
	if err != nil {
		return m, nil, err
	}
	ladders, err := a.ladders(s, set)
	if err != nil {
		return m, nil, err
	}
	families := a.families
	if set.Metric == experiment.MetricCeiling && len(ladders) > 0 {
		families = ladderFamilies(ladders)
	}
	w := worker{set: set, sweep: s, units: a.units, zero: a.zero}
	m = w.metric(set.Metric)
	o := Options{Metric: m, Confidence: set.Confidence, MinimumEffect: set.MinimumEffect}
	for _, f := range families {
		if f.baseline != nil {
			all = append(all, f.spreads(o, set.ErrorRate)...)
		}
	}
	return m, all, nil
}

func (f *family) spreads(o Options, errorRate float64) []Spread {
	o.paired = f.stage.paired
	base := f.baseline.sample(o.Metric, f.stage.paired, errorRate)
	var out []Spread
	var complete []*contrast
	for _, c := range f.cells {
		if c.cell.Role == experiment.RoleBaseline || c.cell.Role == experiment.RoleControl {
			continue
		}
		k := newContrast(base, c.sample(o.Metric, f.stage.paired, errorRate), o)
		one := Spread{Cell: c.cell, N: len(k.own), Reason: k.reason}
		switch {
		case !k.tested():
		case k.effects == nil:
			one.Reason = "the runs have no rounds"
		default:
			one.SD = k.deviation()
			one.Upper, _ = UpperSD(one.SD, one.N-1, pilotConfidence) // at least 3 rounds, finite
			if !k.incomplete {
				complete = append(complete, k)
			}
		}
		out = append(out, one)
	}
	if o.difference() || len(complete) == 0 {
		return out
	}
	var fam Family
	fam.fit(base.Cell, complete)
	pooled, _ := UpperSD(math.Sqrt2*fam.ResidualSD, fam.ResidualDF, pilotConfidence)
	for i := range out {
		out[i].Pooled = pooled
	}
	return out
}

// Planning is what one comparison of a family is planned with. Standard deviations,
// effects and half-widths are on the scale of Spread.
type Planning struct {
	Comparisons int     // of the family, at least 1
	SD          float64 // of the rounds' effects, above 0
	Pooled      float64 // of those of all cells; 0: each stands on its own at any number of rounds
	Alpha       float64 // of the family
}

// pooling reports whether so many rounds are judged by the pooled variance, too.
func (p Planning) pooling(n int) bool { return p.Pooled > 0 && n < ownRounds }

func (p Planning) own() float64 { return p.Alpha / float64(p.Comparisons) }

// distances are the critical distances of the mean from none, in standard errors of the
// comparison, over a grid of equally likely estimates of both variances.
func (p Planning) distances(n int) []float64 {
	const points = 24
	df := float64(n - 1)
	pooledDF := df * float64(p.Comparisons)
	single := tQuantile(1-p.Alpha/2, df)
	joint := newDunnett().quantile(1-p.Alpha, p.Comparisons, int(pooledDF)) * p.Pooled / p.SD
	var own, pooled [points]float64
	for i := range points {
		chance := (float64(i) + 0.5) / points
		own[i], pooled[i] = single*spreadAt(df, chance), joint*spreadAt(pooledDF, chance)
	}
	out := make([]float64, 0, points*points)
	for _, a := range own {
		for _, b := range pooled {
			out = append(out, max(a, b))
		}
	}
	return out
}

// chanceOf is the chance that a mean, mu standard errors from none, lies further from it
// than a distance does.
func chanceOf(mu float64, distances []float64) float64 {
	sum := 0.0
	for _, d := range distances {
		sum += math.Erfc((d-mu)/math.Sqrt2)/2 + math.Erfc((d+mu)/math.Sqrt2)/2
	}
	return sum / float64(len(distances))
}

// Power is the chance that n rounds, at least 3, show an effect in the way in which they
// are judged. Below 10 rounds the two variance estimates behind an interval are taken for
// independent, and the answer is an approximation.
func (p Planning) Power(effect float64, n int) float64 {
	if !p.pooling(n) {
		return powerAt(effect/p.SD, float64(n), p.own())
	}
	return chanceOf(effect/p.SD*math.Sqrt(float64(n)), p.distances(n))
}

// Rounds is the smallest number, at least 3, that shows an effect above 0 with a chance
// of power. ErrOutOfReach.
func (p Planning) Rounds(effect, power float64) (int, error) {
	for n := fewestRounds; p.pooling(n); n++ {
		if p.Power(effect, n) >= power {
			return n, nil
		}
	}
	return p.alone(RoundsForPower(p.SD, effect, power, p.own()))
}

// RoundsFor is the smallest number, at least 3, whose interval reaches at most halfWidth
// to either side, if the standard deviations are known. ErrOutOfReach.
func (p Planning) RoundsFor(halfWidth float64) (int, error) {
	d := newDunnett()
	for n := fewestRounds; p.pooling(n); n++ {
		joint := d.quantile(1-p.Alpha, p.Comparisons, (n-1)*p.Comparisons) * p.Pooled
		if max(joint, tQuantile(1-p.Alpha/2, float64(n-1))*p.SD) <= halfWidth*math.Sqrt(float64(n)) {
			return n, nil
		}
	}
	return p.alone(RoundsForHalfWidth(p.SD, halfWidth, 1-p.own()))
}

// alone is a number of rounds from the first on at which the comparison stands on its
// own; 0 beside an error.
func (p Planning) alone(n int, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	return max(n, p.first()), nil
}

// first is the fewest rounds at which the comparison stands on its own.
func (p Planning) first() int {
	if p.Pooled > 0 {
		return ownRounds
	}
	return fewestRounds
}

// Detectable is the effect that n rounds, at least 3, show with a chance of power.
func (p Planning) Detectable(n int, power float64) (float64, error) {
	if !p.pooling(n) {
		return DetectableEffect(p.SD, n, power, p.own())
	}
	distances := p.distances(n)
	short := func(mu float64) float64 { return power - chanceOf(mu, distances) }
	hi := 1.0
	for short(hi) > 0 {
		hi *= 2
	}
	return p.SD / math.Sqrt(float64(n)) * root(0, hi, short), nil
}

// MinimumEffect gives the smallest effect on a metric that matters, and the half-width
// that is precise by a rule (or as that effect): fractions, or differences of shares. 0:
// there is none on its scale.
func MinimumEffect(m experiment.Metric, set experiment.Settings, rule experiment.Stopping) (effect, width float64) {
	o := Options{Metric: m, MinimumEffect: set.MinimumEffect}
	if !bandOf(m, set.MinimumEffect).defined {
		return 0, 0
	}
	return o.halfWidth(0), o.halfWidth(rule.Within)
}

// OnScale takes an effect on a metric, a fraction or a difference, to the scale of Spread.
func OnScale(m experiment.Metric, effect float64) float64 {
	if m.Scale == experiment.ScaleDifference {
		return effect
	}
	return math.Log1p(effect)
}

// OffScale is the way back.
func OffScale(m experiment.Metric, effect float64) float64 {
	if m.Scale == experiment.ScaleDifference {
		return effect
	}
	return math.Expm1(effect)
}

// spreadAt is a quantile of an estimated standard deviation by the true one.
func spreadAt(df, chance float64) float64 {
	return math.Sqrt(distuv.ChiSquared{K: df}.Quantile(chance) / df)
}
