package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/ceteris/ceteris/experiment"
)

// Versus is what one sweep shows against an older one: cells of equal settings, compared
// without rounds, for the two share none. Whatever changed on the host between the two
// counts as a change of the subject; only pairing inside a sweep takes that out.
type Versus struct {
	Settings experiment.Settings // in force
	Rows     []VersusRow         // the primary metric first, then by name; cells in order of the newer sweep
	OnlyOld  []experiment.Cell   // without a partner in the newer sweep
	OnlyNew  []experiment.Cell
	Differs  []Difference // besides the values
	Untested string       // why no row has a verdict; empty if rows may have one
	Version  string       // of the analysis

	confidence float64 // at which intervals are made that are reported at that of the settings
}

// VersusRow is a metric in a pair of cells. Cell of the comparison is that of the newer
// sweep; N is the smaller number of runs.
type VersusRow struct {
	experiment.Comparison
	Old, New         experiment.Cell
	Unit             experiment.Unit
	OldN, NewN       int      // counting runs
	OldMean, NewMean *float64 // geometric for a metric whose cells have their interval on logs
}

// Reasons why two sweeps have no verdicts.
const reasonHosts = "different hosts"

// CompareSweeps sets a sweep against an older one. The settings say how strictly, and
// which metric is the primary one; the rounds of each are accepted as they are if its own
// settings say so. Cells are paired by all their levels, the control with the control;
// the name of a stage counts where a sweep has several. A family is all pairs for one
// metric: intervals are Bonferroni's, p-values Holm's. No verdict is given across
// different hosts.
func CompareSweeps(old, now experiment.Sweep, set experiment.Settings) (Versus, error) {
	if err := checkSettings(set); err != nil {
		return Versus{}, fmt.Errorf("compare sweeps: %w", err)
	}
	from, err := sideOf(old, set)
	if err != nil {
		return Versus{}, fmt.Errorf("arrange sweep %d: %w", old.ID, err)
	}
	to, err := sideOf(now, set)
	if err != nil {
		return Versus{}, fmt.Errorf("arrange sweep %d: %w", now.ID, err)
	}
	stages := from.stages > 1 || to.stages > 1
	v := Versus{Settings: set, Version: Version}
	var pairs []cellPair
	pairs, v.OnlyOld, v.OnlyNew = pairUp(from.cells, to.cells, stages)
	ladders, oldLadders, newLadders := pairUp(from.ladders, to.ladders, stages)
	v.OnlyOld, v.OnlyNew = append(v.OnlyOld, oldLadders...), append(v.OnlyNew, newLadders...)
	v.Differs = differences(old, now, pairs)
	if old.Host.ID() != now.Host.ID() {
		v.Untested = reasonHosts
	}
	units, zero := maps.Clone(from.units), maps.Clone(from.zero)
	maps.Copy(units, to.units)
	maps.Copy(zero, to.zero)
	w := worker{set: set, sweep: now, units: units, zero: zero}
	v.confidence = max(RuleConfidence(old.Stopping, set.Confidence), RuleConfidence(now.Stopping, set.Confidence))
	for _, name := range metricsOf(units, set.Metric) {
		m, of := w.metric(name), pairs
		if name == experiment.MetricCeiling && len(ladders) > 0 {
			of = ladders
		}
		v.Rows = append(v.Rows, v.compare(of, m)...)
	}
	if len(ladders) > 0 && set.Metric != experiment.MetricCeiling {
		v.Rows = append(v.Rows, v.compare(ladders, w.metric(experiment.MetricCeiling))...)
	}
	return v, nil
}

// side is one of the two sweeps.
type side struct {
	cells   []sideCell
	ladders []sideCell
	units   map[string]experiment.Unit
	zero    map[string]bool
	stages  int
}

// sideCell is a cell with its stage, which says whether rounds are still to come.
type sideCell struct {
	*cellRuns
	stage   *stage
	configs []string // of its counting runs, each once
}

func sideOf(s experiment.Sweep, set experiment.Settings) (side, error) {
	a, err := arrange(s)
	if err != nil {
		return side{}, err
	}
	a.await(s.Stopping, s.Settings.AcceptRounds)
	ladders, err := a.ladders(s, set)
	if err != nil {
		return side{}, err
	}
	w := worker{set: s.Settings, sweep: s, units: a.units, zero: a.zero, dunnett: newDunnett()}
	w.look(a, ladders)
	if s.Settings.AcceptRounds {
		a.accept()
	}
	out := side{units: a.units, zero: a.zero}
	configs := map[experiment.CellKey][]string{}
	for _, r := range s.Runs {
		if c := configs[r.Cell]; r.State == experiment.StateOK && r.ConfigHash != "" && !slices.Contains(c, r.ConfigHash) {
			configs[r.Cell] = append(c, r.ConfigHash)
		}
	}
	names := map[string]bool{}
	for _, f := range a.families {
		names[f.stage.name] = true
		for _, c := range f.cells {
			out.cells = append(out.cells, sideCell{c, f.stage, slices.Sorted(slices.Values(configs[c.cell.Key]))})
		}
	}
	for _, l := range ladders {
		out.ladders = append(out.ladders, sideCell{cellRuns: l.runs(), stage: l.stage})
	}
	out.stages = len(names)
	return out, nil
}

type cellPair struct{ old, now sideCell }

// pairUp finds the cells of equal settings.
func pairUp(old, now []sideCell, stages bool) (pairs []cellPair, onlyOld, onlyNew []experiment.Cell) {
	left := make(map[string]sideCell, len(old))
	for _, c := range old {
		left[c.identity(stages)] = c
	}
	for _, c := range now {
		id := c.identity(stages)
		if o, ok := left[id]; ok {
			pairs = append(pairs, cellPair{o, c})
			delete(left, id)
		} else {
			onlyNew = append(onlyNew, c.cell)
		}
	}
	for _, c := range old {
		if o, ok := left[c.identity(stages)]; ok && o.cellRuns == c.cellRuns {
			onlyOld = append(onlyOld, c.cell)
		}
	}
	return pairs, onlyOld, onlyNew
}

// identity is what makes two cells the same: every level, in whatever order factors are
// declared. The control has the settings of the baseline, and is not merged with it.
func (c sideCell) identity(stages bool) string {
	var levels []string
	for _, s := range c.cell.Settings {
		levels = append(levels, fmt.Sprintf("%q=%q", s.Factor, s.Level))
	}
	slices.Sort(levels)
	if len(levels) == 0 { // a sweep without factors
		levels = []string{c.cell.Label()}
	}
	stage := ""
	if stages {
		stage = c.cell.Stage
	}
	return fmt.Sprintf("%q %t %s", stage, c.cell.Role == experiment.RoleControl, strings.Join(levels, " "))
}

// compare sets all pairs against one another for one metric, by Welch's t.
func (v *Versus) compare(pairs []cellPair, m experiment.Metric) []VersusRow {
	o := Options{Metric: m, Confidence: v.confidence, MinimumEffect: v.Settings.MinimumEffect}
	var rows []VersusRow
	var of []cellPair
	var all, tested []*contrast
	for _, p := range pairs {
		old, now := p.old.sample(m, false, v.Settings.ErrorRate), p.now.sample(m, false, v.Settings.ErrorRate)
		if m.Name != v.Settings.Metric && len(old.Values) == 0 && len(now.Values) == 0 {
			continue // nobody has asked for it
		}
		if p.silenced() {
			now.Unfit = noSuccess
		}
		c := newContrast(old, now, o)
		if c.tested() {
			tested = append(tested, c)
		}
		all, of = append(all, c), append(of, p)
		rows = append(rows, VersusRow{
			Old: p.old.cell, New: p.now.cell, Unit: m.Unit, OldN: len(old.Values), NewN: len(now.Values),
			OldMean: middle(old.Values, m), NewMean: middle(now.Values, m),
		})
	}
	for _, c := range tested {
		c.alone(len(tested))
	}
	adjustAll(tested)
	for i, c := range all {
		rows[i].settle(of[i], v.nominal(c.comparison(o)), v.Settings.Metric, v.Untested)
	}
	return rows
}

// nominal reports what was made at the confidence of a rule of stopping at that of the
// settings.
func (v *Versus) nominal(c experiment.Comparison) experiment.Comparison {
	if c.PAdjusted != nil {
		c.PAdjusted = number(min(1, *c.PAdjusted*(1-v.Settings.Confidence)/(1-v.confidence)))
	}
	c.Confidence = v.Settings.Confidence
	return c
}

// silenced reports whether no request succeeds any more.
func (p cellPair) silenced() bool {
	return p.now.silent && len(p.old.counting) > 0 && !p.old.silent
}

// settle completes a row by what became of the runs. What is not tested keeps its ratio.
func (r *VersusRow) settle(p cellPair, c experiment.Comparison, primary, untested string) {
	c.State, c.N, c.Secondary = p.state(), min(r.OldN, r.NewN), c.Metric != primary
	if p.old.unfit != "" || p.now.unfit != "" {
		c.Estimate = nil
	}
	if c.N >= fewestRounds && c.N < fewRounds {
		c.Flags = withFlag(c.Flags, experiment.FlagFewRounds)
	}
	bare := func(verdict experiment.Verdict, reason string) {
		c.Low, c.High, c.EqLow, c.EqHigh, c.P, c.PAdjusted = nil, nil, nil, nil, nil, nil
		c.Verdict, c.Reason, c.Material, c.Method = verdict, reason, "", ""
	}
	switch {
	case untested != "":
		bare(experiment.VerdictNotTested, untested)
	case len(p.old.counting) == 0:
		bare(experiment.VerdictInvalid, "no valid run in the old sweep")
	case len(p.now.counting) == 0 && len(p.now.failed) > 0:
		bare(experiment.VerdictFails, "the subject failed in every round of the new sweep")
	case p.silenced():
		bare(experiment.VerdictFails, noSuccess+" of the new sweep")
	case len(p.now.counting) == 0:
		bare(experiment.VerdictInvalid, "no valid run in the new sweep")
	}
	if len(p.old.failed) > 0 || len(p.now.failed) > 0 {
		c.Flags = withFlag(c.Flags, experiment.FlagSurvivors)
	}
	if interim(c.State) && untested == "" {
		c.Verdict, c.Material = experiment.VerdictPending, ""
	}
	r.Comparison = c
}

// state is that of whichever sweep is further from its end.
func (p cellPair) state() string {
	for _, c := range []sideCell{p.old, p.now} {
		if interim(c.stage.state) {
			return c.stage.state
		}
	}
	if p.old.stage.state != experiment.ResultsFinal {
		return p.old.stage.state
	}
	return p.now.stage.state
}

// middle is the mean that is shown of a cell; nil where there is none.
func middle(x []float64, m experiment.Metric) *float64 {
	switch {
	case len(x) == 0 || checkFinite(x) != nil:
		return nil
	case m.OnLogs:
		v, err := geometricOnly(x)
		if err != nil {
			return nil
		}
		return number(v)
	default:
		return number(stat.Mean(x, nil))
	}
}

// ProvenWorse reports whether the newer sweep is proven to be worse in a cell, for the
// primary metric, or fails in one in which the older did not. The baseline counts as any
// other cell: it is about the two sweeps.
func (v Versus) ProvenWorse() bool {
	return slices.ContainsFunc(v.Rows, func(r VersusRow) bool {
		return !r.Secondary && (r.Verdict == experiment.VerdictFails || r.Verdict == experiment.VerdictWorse && r.Material == experiment.MaterialProven)
	})
}
