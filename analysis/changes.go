package analysis

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/ceteris/ceteris/experiment"
)

// effect is a cell against what it is set against, in one family.
type effect struct {
	family     *family
	base, cell *cellRuns
}

// changing is an effect in two places.
type changing struct {
	earlier, later effect
	factor, level  string
}

// unfit reports whether the values of a cell are selected.
func (c changing) unfit() bool {
	return slices.ContainsFunc([]*cellRuns{c.earlier.base, c.earlier.cell, c.later.base, c.later.cell}, func(r *cellRuns) bool { return r.unfit != "" })
}

// changeGroup is the changes of one kind between the same two places: their intervals
// hold together.
type changeGroup struct {
	kind  experiment.ChangeKind
	sweep int64 // of the earlier places, if it is another; else 0
	all   []changing
}

// changes adds how effects differ between the places of a sweep, and from those in the
// sweep before it in a peel: of every metric that is compared. Under the rungs of a
// ladder effects differ by what the ladder is for; there the ceiling alone is compared
// between conditions.
func (w *worker) changes(a arranged, ladders []ladder) error {
	var before arranged
	var laddersBefore []ladder
	if s := w.sweep.Before; s != nil {
		var err error
		if before, err = arrange(*s); err == nil {
			before.await(s.Stopping, true)
			before.accept() // another sweep came after it
			laddersBefore, err = before.ladders(*s, w.set)
		}
		if err != nil {
			return fmt.Errorf("sweep %d before it: %w", s.ID, err)
		}
	}
	cells := w.changeGroups(a.families, before.families, len(ladders) == 0)
	var climbs []changeGroup
	if len(ladders) > 0 {
		climbs = w.changeGroups(ladderFamilies(ladders), ladderFamilies(laddersBefore), true)
	}
	for _, name := range metricsOf(a.units, w.set.Metric) {
		if name == experiment.MetricCeiling && len(ladders) > 0 {
			w.compareChanges(climbs, name)
		} else {
			w.compareChanges(cells, name)
		}
	}
	if w.set.Metric != experiment.MetricCeiling {
		w.compareChanges(climbs, experiment.MetricCeiling)
	}
	return nil
}

// changeGroups finds which effects can be set against one another.
func (w *worker) changeGroups(families, before []*family, conditions bool) []changeGroup {
	var out []changeGroup
	add := func(kind experiment.ChangeKind, sweep int64, all []changing) {
		if len(all) > 0 {
			out = append(out, changeGroup{kind, sweep, all})
		}
	}
	stages := stagesIn(families)
	for _, f := range families {
		add(experiment.ChangeInteraction, 0, f.interactions())
	}
	for _, f := range families {
		first := families[slices.IndexFunc(families, func(o *family) bool { return o.stage == f.stage })]
		if conditions && first != f {
			add(experiment.ChangeCondition, 0, f.since(first))
		}
	}
	for _, f := range families {
		i := slices.Index(stages, f.stage)
		if i > 0 {
			add(experiment.ChangeStage, 0, f.since(familyAt(families, stages[i-1], f.condition())))
		} else if len(before) > 0 {
			last := before[len(before)-1].stage
			add(experiment.ChangeStage, w.sweep.Before.ID, f.since(familyAt(before, last, f.condition())))
		}
	}
	return out
}

func (f *family) condition() string { return f.cells[0].cell.Condition }

// familyAt finds the family of a stage under a condition; nil if there is none.
func familyAt(all []*family, st *stage, condition string) *family {
	i := slices.IndexFunc(all, func(f *family) bool { return f.stage == st && f.condition() == condition })
	if i < 0 {
		return nil
	}
	return all[i]
}

// off finds the cell with the same settings off the baseline; nil if there is none.
func (f *family) off(settings ...experiment.Setting) *cellRuns {
	for _, c := range f.cells {
		if len(settings) > 0 && slices.Equal(c.cell.Off, settings) {
			return c
		}
	}
	return nil
}

// interactions are the corners with two factors off the baseline of which each was off
// it alone, too.
func (f *family) interactions() []changing {
	var out []changing
	for _, c := range f.cells {
		if len(c.cell.Off) != 2 || f.baseline == nil {
			continue
		}
		a, b := f.off(c.cell.Off[0]), f.off(c.cell.Off[1])
		if a != nil && b != nil {
			out = append(out, changing{
				earlier: effect{f, f.baseline, a}, later: effect{f, b, c},
				factor: c.cell.Off[0].Factor, level: c.cell.Off[0].Level,
			})
		}
	}
	return out
}

// since sets the effects of a family against the same ones elsewhere: from the same levels
// to the same levels. Of a factor whose baseline has moved none is left.
func (f *family) since(earlier *family) []changing {
	if f.baseline == nil || earlier == nil || earlier.baseline == nil {
		return nil
	}
	var out []changing
	for _, c := range f.cells {
		if was := earlier.off(c.cell.Off...); was != nil && f.leavesAs(earlier, c.cell.Off) {
			out = append(out, changing{
				earlier: effect{earlier, earlier.baseline, was}, later: effect{f, f.baseline, c},
				factor: c.cell.Factor, level: c.cell.Level,
			})
		}
	}
	return out
}

// leavesAs reports whether both baselines have the same level of each of the factors that
// are off it.
func (f *family) leavesAs(o *family, off []experiment.Setting) bool {
	return !slices.ContainsFunc(off, func(s experiment.Setting) bool {
		is, _ := f.baseline.cell.Lookup(s.Factor)
		was, _ := o.baseline.cell.Lookup(s.Factor)
		return is != was
	})
}

// compareChanges adds the changes of one metric.
func (w *worker) compareChanges(groups []changeGroup, name string) {
	m := w.metric(name)
	m.Better = experiment.NoDirection // an effect that grows is neither good nor bad
	o := Options{Metric: m, Confidence: w.set.Confidence, MinimumEffect: w.set.MinimumEffect}
	for _, g := range groups {
		contrasts := make([]*contrast, len(g.all))
		var tested []*contrast
		for i, c := range g.all {
			contrasts[i] = w.contrastOf(g.kind, c, o)
			if g.sweep != 0 && contrasts[i].tested() && w.sweep.Before.Host.ID() != w.sweep.Host.ID() {
				contrasts[i].reason = reasonHosts
			}
			if contrasts[i].tested() {
				tested = append(tested, contrasts[i])
			}
		}
		for _, c := range tested {
			c.alone(len(tested))
		}
		adjustAll(tested)
		for i, c := range g.all {
			w.out.Changes = append(w.out.Changes, w.change(g, c, contrasts[i], len(tested), o))
		}
	}
}

// contrastOf sets the effects in the later place against those in the earlier one. It is
// incomplete if a round lacks that either baseline has: in the same way whichever place
// comes first.
func (w *worker) contrastOf(kind experiment.ChangeKind, of changing, o Options) *contrast {
	earlier, rounds := w.effects(of.earlier, o.Metric)
	later, laterRounds := w.effects(of.later, o.Metric)
	lacking := len(earlier.Values) < rounds || len(later.Values) < laterRounds
	if kind == experiment.ChangeStage {
		earlier.Rounds, later.Rounds = nil, nil // stages share no rounds
	}
	o.paired = earlier.paired()
	c := newContrast(earlier, later, o)
	c.quantile = w.dunnett.student
	c.incomplete = c.known && (lacking || o.paired && len(c.own) < max(rounds, laterRounds))
	return c
}

// effects are those of a cell by round, as ratios or differences, where both sides have
// a value; and the number of rounds in which the baseline has one.
func (w *worker) effects(e effect, m experiment.Metric) (Sample, int) {
	base, own := w.fitSample(e.family, e.base, m), w.fitSample(e.family, e.cell, m)
	out := Sample{Cell: e.cell.cell.Key, Unfit: cmp.Or(base.Unfit, own.Unfit)}
	difference := m.Scale == experiment.ScaleDifference
	check := checkPositive
	if difference {
		check = checkFinite
	}
	x, y := shared(base, own)
	out.Rounds = sharedRounds(base, own)
	if !base.paired() {
		out.Unfit = cmp.Or(out.Unfit, "no rounds")
	}
	if err := check(base.Values, own.Values); err != nil {
		out.Unfit = cmp.Or(out.Unfit, reason(err))
		return Sample{Cell: out.Cell, Rounds: []int{}, Unfit: out.Unfit}, len(base.Values)
	}
	for i := range x {
		if difference {
			out.Values = append(out.Values, y[i]-x[i])
		} else {
			out.Values = append(out.Values, y[i]/x[i])
		}
	}
	return out, len(base.Values)
}

// fitSample is the sample of a cell, with why it may not be tested if its runs failed.
func (w *worker) fitSample(f *family, c *cellRuns, m experiment.Metric) Sample {
	s := c.sample(m, f.stage.paired, w.set.ErrorRate)
	switch {
	case f.silenced(c):
		s.Unfit = noSuccess
	case len(c.counting) == 0 && f.failsIn(c):
		s.Unfit = failedThroughout
	case len(c.counting) == 0:
		s.Unfit = cmp.Or(s.Unfit, c.absent, "no valid run")
	}
	return s
}

// change puts a contrast of effects, one of so many that are tested, into the form of
// results.
func (w *worker) change(g changeGroup, of changing, c *contrast, tested int, o Options) experiment.Change {
	row := c.comparison(o)
	out := experiment.Change{
		Kind: g.kind, Metric: o.Metric.Name, Secondary: o.Metric.Name != w.set.Metric,
		Cell: of.later.cell.cell.Key, From: of.earlier.cell.cell.Key, FromSweep: g.sweep, Factor: of.factor, Level: of.level,
		Scale: row.Scale, Estimate: row.Estimate, Low: row.Low, High: row.High, EqLow: row.EqLow, EqHigh: row.EqHigh,
		Confidence: row.Confidence, P: row.P, PAdjusted: row.PAdjusted, N: min(len(c.base), len(c.own)), Method: row.Method,
		Verdict: row.Verdict, Reason: row.Reason, Material: row.Material, Flags: row.Flags, State: of.later.family.stage.state,
	}
	if of.unfit() {
		out.Estimate = nil // of the rounds that are left it would say too little or too much
	} else if c.known {
		out.Before, out.After = number(o.back(stat.Mean(c.x, nil))), number(o.back(stat.Mean(c.y, nil)))
	}
	if c.known && out.N >= fewestRounds && out.N < fewRounds {
		out.Flags = withFlag(out.Flags, experiment.FlagFewRounds)
	}
	if c.reverses(tested, o) {
		out.Flags = append(out.Flags, experiment.FlagReversal)
	}
	for _, e := range []effect{of.earlier, of.later} {
		if e.cell.failedWith(e.base) > 0 {
			out.Flags = withFlag(out.Flags, experiment.FlagSurvivors)
		}
		if state := e.family.stage.state; interim(state) || out.State == experiment.ResultsFinal {
			out.State = state
		}
	}
	if interim(out.State) {
		out.Verdict, out.Material = experiment.VerdictPending, ""
	}
	return out
}

// reverses reports whether the two effects point in opposite directions, each with an
// interval of its own that excludes none. Those of k changes hold together (Bonferroni): of
// many effects that end somewhere some seem to be turned round by chance.
func (c *contrast) reverses(k int, o Options) bool {
	if !c.tested() || !c.known {
		return false
	}
	confidence := 1 - (1-o.Confidence)/float64(k)
	x, errX := meanOf(c.x, c.scale(o, c.x), confidence)
	y, errY := meanOf(c.y, c.scale(o, c.y), confidence)
	if errX != nil || errY != nil {
		return false
	}
	return x.High < 0 && y.Low > 0 || x.Low > 0 && y.High < 0
}
