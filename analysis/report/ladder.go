package report

import (
	"fmt"
	"slices"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/experiment"
)

// climbed gives the ladders with what was judged of them, and the means of their rungs.
// Those that cannot be arranged have no results either, and are not shown.
func (r Report) climbed() []analysis.Climb {
	set := r.settings()
	set.Without = nil // they are gone already, see judgedOnly
	climbs, _ := analysis.Climbs(r.Sweep, set)
	for i := range climbs {
		c := &climbs[i]
		if k := slices.IndexFunc(r.Results.Ladders, func(l experiment.LadderResult) bool { return l.Cell == c.Cell.Key }); k >= 0 {
			judgedClimb(c, r.Results.Ladders[k])
		}
	}
	return climbs
}

// judgedClimb puts what is stored of a ladder in the place of what its runs would now
// come to.
func judgedClimb(c *analysis.Climb, l experiment.LadderResult) {
	at := func(k experiment.CellKey) int {
		return slices.IndexFunc(c.Rungs, func(x analysis.ClimbedRung) bool { return k != "" && x.Cell.Key == k })
	}
	c.Known, c.Tail = l.Status != "", l.Tail
	c.Ceiling.Status = analysis.LadderStatus(l.Status)
	c.Ceiling.Sustained, c.Ceiling.Broken = at(l.Sustained), at(l.Broken)
	c.Ceiling.TailFirst, c.Ceiling.MedianFirst = at(l.TailFirst), at(l.MedianFirst)
	for _, rung := range l.Rungs {
		if i := at(rung.Cell); i >= 0 {
			c.Rungs[i].N, c.Rungs[i].Broken = rung.N, rung.Broken
		}
	}
}

func (r Report) climbTitle(c analysis.Climb) string { return "ladder of " + r.fullLabel(c.Cell) }

// climbGrid is the table of the rungs of a ladder.
func (r Report) climbGrid(c analysis.Climb) *grid {
	scaleOf := func(unit experiment.Unit, of func(analysis.ClimbedRung) float64) unitScale {
		var values []float64
		for _, rung := range c.Rungs {
			values = append(values, of(rung))
		}
		return commonScale(values, unit)
	}
	tail, _ := r.Sweep.Metric(c.Tail)
	rates := scaleOf(experiment.UnitPerSecond, func(x analysis.ClimbedRung) float64 { return x.Offered })
	medians := scaleOf(experiment.UnitSeconds, func(x analysis.ClimbedRung) float64 { return x.Median })
	tails := scaleOf(tail.Unit, func(x analysis.ClimbedRung) float64 { return x.Tail })
	shares := unitScale{factor: 1e-2, unit: "%"}
	g := &grid{columns: []column{
		{title: "rung", right: true},
		{title: "n", right: true},
		{title: titled("offered", rates), right: true},
		{title: titled("achieved", rates), right: true},
		{title: titled("dropped", shares), right: true},
		{title: titled("error_rate", shares), right: true},
		{title: titled("latency_p50", medians), right: true, spare: 1},
		{title: titled(c.Tail, tails), right: true, spare: 2},
		{title: "sustained"},
	}}
	for _, x := range c.Rungs {
		line := []string{short(Plain(x.Level)), fmt.Sprint(x.N)}
		if x.N == 0 {
			line = append(line, missing, missing, missing, missing, missing, missing)
		} else {
			line = append(line, value(x.Offered, rates), value(x.Achieved, rates), value(x.Dropped, shares), value(x.Errors, shares),
				positive(x.Median, medians), positive(x.Tail, tails))
		}
		g.rows = append(g.rows, append(line, sustained(x)))
	}
	return g
}

// above is the rate that a ladder sustains at its top; empty if it breaks.
func (r Report) above(k experiment.CellKey, s unitScale) string {
	for _, l := range r.Results.Ladders {
		if l.Cell == k && known(l.Above) {
			return "above " + value(*l.Above, s)
		}
	}
	for _, c := range r.climbs {
		if top := len(c.Rungs) - 1; c.Cell.Key == k && c.Known && c.Ceiling.Status == analysis.LadderNotReached {
			return "above " + value(c.Rungs[top].Offered, s)
		}
	}
	return ""
}

func value(v float64, s unitScale) string { return alone(&v, s) }

// positive is a value of which 0 says that it is not known.
func positive(v float64, s unitScale) string {
	if v <= 0 {
		return missing
	}
	return value(v, s)
}

func sustained(x analysis.ClimbedRung) string {
	switch {
	case x.Broken != "":
		return "no: " + brokenBy(x.Broken)
	case x.N > 0:
		return "yes"
	default:
		return missing
	}
}

func brokenBy(code string) string {
	words := map[string]string{
		"failed": "fails", "generator": "generator", "dropped": "drops", "errors": "errors", "achieved": "falls short", "objective": "objective",
	}[code]
	if words == "" {
		return code
	}
	return words
}

// ceiling is the sentence on what a ladder shows.
func (r Report) ceiling(c analysis.Climb) string {
	if !c.Known {
		return "no rung has run yet"
	}
	at := func(i int) string {
		if i < 0 {
			return missing
		}
		if c.Rungs[i].N == 0 {
			return Plain(c.Rungs[i].Level)
		}
		return Quantity(c.Rungs[i].Offered, experiment.UnitPerSecond)
	}
	k := c.Ceiling
	var line string
	switch k.Status {
	case analysis.LadderNotReached:
		line = "the ceiling is above " + at(k.Sustained)
	case analysis.LadderBelow:
		line = "broken at the first rung, " + at(k.Broken)
	case analysis.LadderClientLimited:
		line = "the ceiling is the generator's: it is at its limit at " + at(k.Broken)
	case analysis.LadderNonMonotone:
		line = "non-monotone: a rung above " + at(k.Broken) + " is sustained although that one is not; run the ladder again"
	case analysis.LadderFound:
		line = "sustained up to " + at(k.Sustained) + ", broken from " + at(k.Broken)
	}
	for _, i := range r.Results.Intervals {
		if i.Cell == c.Cell.Key && i.Metric == experiment.MetricCeiling && known(i.Estimate) {
			scale := commonScale([]float64{*i.Estimate}, experiment.UnitPerSecond)
			line = "ceiling " + withInterval(i.Estimate, i.Low, i.High, scale) + " " + scale.unit + "; " + line
		}
	}
	if k.TailFirst >= 0 {
		line += fmt.Sprintf("; %s moves first at %s", Plain(c.Tail), at(k.TailFirst))
	}
	if k.MedianFirst >= 0 {
		line += "; the median at " + at(k.MedianFirst)
	}
	return line
}
