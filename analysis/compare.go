package analysis

import (
	"math"
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// Options say what is compared and how strictly.
type Options struct {
	Metric        experiment.Metric
	Confidence    float64 // of the intervals, above 0 and below 1; equivalence is tested at 1-2*(1-Confidence)
	MinimumEffect float64 // delta, a fraction

	paired bool // the baseline has rounds
}

func (o Options) difference() bool { return o.Metric.Scale == experiment.ScaleDifference }

// back takes a value from the working scale to the scale of results.
func (o Options) back(v float64) float64 {
	if o.difference() {
		return v
	}
	return math.Exp(v)
}

// Family is the comparisons of all cells with one baseline, for one metric.
type Family struct {
	Comparisons []experiment.Comparison // in order of the cells given
	Tested      int                     // comparisons over which error is controlled
	Noisy       []experiment.CellKey    // whose own variance stands far above the others'
	ResidualDF  int                     // of the additive fit; 0 without
	ResidualSD  float64
}

// Compare sets one cell against the baseline by its own paired t, or by Welch's t
// without rounds. It is not adjusted for other comparisons.
func Compare(base, other Sample, o Options) experiment.Comparison {
	o.paired = base.paired()
	c := newContrast(base, other, o)
	c.alone(1)
	c.pAdjusted = c.estimate.P
	return c.comparison(o)
}

// CompareFamily sets all cells against the baseline so that the intervals hold
// together. The control does not belong here: use Compare.
func CompareFamily(base Sample, others []Sample, o Options) Family {
	return newDunnett().compareFamily(base, others, o)
}

func (d *dunnett) compareFamily(base Sample, others []Sample, o Options) Family {
	o.paired = base.paired()
	var all, tested, complete []*contrast
	for _, s := range others {
		c := newContrast(base, s, o)
		c.quantile = d.student
		all = append(all, c)
		if !c.tested() {
			continue
		}
		tested = append(tested, c)
		if !c.incomplete {
			complete = append(complete, c)
		}
	}
	f := Family{Tested: len(tested)}
	var fit additiveFit
	if o.paired && !o.difference() && len(complete) > 0 {
		fit = f.fit(base.Cell, complete)
	}
	for _, c := range tested {
		c.alone(len(tested))
	}
	if o.paired && !o.difference() && len(base.Rounds) < ownRounds {
		for _, c := range tested {
			c.pAdjusted = min(1, c.estimate.P*float64(len(tested)))
		}
		for _, c := range complete {
			d.pool(c, fit, len(tested))
		}
	} else {
		adjustAll(tested)
	}
	for _, c := range all {
		f.Comparisons = append(f.Comparisons, c.comparison(o))
	}
	return f
}

// fit makes the additive fit of baseline and complete cells, on logs.
func (f *Family) fit(base experiment.CellKey, complete []*contrast) additiveFit {
	cells := [][]float64{complete[0].x} // all of them share all rounds of the baseline
	keys := []experiment.CellKey{base}
	for _, c := range complete {
		cells, keys = append(cells, c.y), append(keys, c.cell)
	}
	fit := fitAdditive(cells)
	f.ResidualDF, f.ResidualSD = fit.df, math.Sqrt(fit.mse)
	for _, i := range fit.noisy() {
		f.Noisy = append(f.Noisy, keys[i])
	}
	return fit
}

// alone gives the contrast an interval on its own variance, Bonferroni-adjusted
// for k comparisons.
func (c *contrast) alone(k int) {
	level := func(confidence float64) float64 { return 1 - (1-confidence)/(2*float64(k)) }
	if c.effects == nil {
		c.method = experiment.MethodWelch
		c.half = func(confidence float64, _ int) float64 {
			return c.quantile(level(confidence), c.estimate.DF) * c.estimate.SE
		}
		return
	}
	c.method = experiment.MethodOwn
	c.half = func(confidence float64, n int) float64 {
		return c.quantile(level(confidence), float64(n-1)) * c.deviation() / math.Sqrt(float64(n))
	}
}

// pool gives the contrast the wider of Dunnett's interval with the residual
// variance of the fit and its own unadjusted t interval, and the larger of the two
// p-values. The first borrows strength, since 2 degrees of freedom from 3 rounds
// are next to nothing; the second keeps a noisy cell from riding on quiet ones.
func (d *dunnett) pool(c *contrast, fit additiveFit, k int) {
	cells := len(fit.rss)
	c.method = experiment.MethodPooledOwn
	c.half = func(confidence float64, n int) float64 {
		pooled := d.quantile(confidence, k, (cells-1)*(n-1)) * math.Sqrt(2*fit.mse/float64(n))
		own := c.quantile(twoSided(confidence), float64(n-1)) * c.deviation() / math.Sqrt(float64(n))
		return max(pooled, own)
	}
	t := c.estimate.Value / math.Sqrt(2*fit.mse/float64(len(c.own)))
	c.pAdjusted = c.estimate.P
	// The integral is worth its time only where it can be the larger: k times the
	// single p-value bounds it from above.
	if float64(k)*tTwoSided(t, float64(fit.df)) > c.estimate.P {
		c.pAdjusted = max(c.pAdjusted, d.tail(t, k, fit.df))
	}
}

// adjustAll gives the contrasts Holm's p-values.
func adjustAll(tested []*contrast) {
	p := make([]float64, len(tested))
	for i, c := range tested {
		p[i] = min(1, c.estimate.P)
	}
	adjusted, err := Holm(p)
	if err != nil {
		panic("analysis: holm: " + err.Error()) // a broken invariant: tested contrasts have a p from 0 to 1
	}
	for i, c := range tested {
		c.pAdjusted = adjusted[i]
	}
}

// withFlag adds a flag once.
func withFlag(flags []experiment.Flag, f experiment.Flag) []experiment.Flag {
	if slices.Contains(flags, f) {
		return flags
	}
	return append(flags, f)
}
