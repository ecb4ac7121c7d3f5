package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// Version of the analysis, stored with its results. It changes when the same runs
// would give other numbers.
const Version = "7"

// Codes of the notes on a sweep.
const (
	NoteNoisyCell       = "noisy-cell"             // a cell's own variance widens every interval
	NoteControlDiffers  = "control-differs"        // the second copy of the baseline differs at 5%
	NoteWithoutBaseline = "round-without-baseline" // the round is left out of all comparisons
	NoteNotFinite       = "not-finite"             // a run reported NaN or an infinity
	NoteOrderDrift      = "order-drift"            // values go with the order of measuring
	NoteSpread          = "spread"                 // the planned rounds cannot show the minimum effect; runs of a cell stand apart
	NoteLadder          = "ladder"                 // between which rungs it breaks, and what moves first
	NoteNonMonotone     = "non-monotone"           // a rung is sustained above one that is not
	NoteClientLimited   = "client-limited"         // where the ladder breaks the generator is at its own limit
)

// controlAlarm is the p-value below which a control that differs is noted.
const controlAlarm = 0.05

// Analyst computes the results of a sweep. It is experiment.Analyst.
type Analyst struct{}

var _ experiment.Analyst = (*Analyst)(nil)

// New makes an Analyst.
func New() *Analyst { return &Analyst{} }

// Analyse gives an interval for every cell and a comparison for every cell but the
// baseline, for every metric that was observed in a measured window and for the
// primary metric in any case: metrics by name after the primary one, cells in
// order of declaration. Each ladder is a cell of its own, whose only metric is the
// ceiling, and every cell is set against every objective. Only runs that are ok
// count, of rounds in which no cell is still to come. No value in the results is NaN
// or infinite.
//
// It fails on settings out of range (ErrBadParameter), on runs of unknown cells
// and when two runs count for one cell and round. Cells that the settings leave out are
// as if they had never been; what CheckWithout refuses is an error.
func (*Analyst) Analyse(s experiment.Sweep, set experiment.Settings) (experiment.Results, error) {
	if err := checkSettings(set); err != nil {
		return experiment.Results{}, fmt.Errorf("analyse sweep %d: %w", s.ID, err)
	}
	s, err := without(s, set.Without)
	if err != nil {
		return experiment.Results{}, fmt.Errorf("analyse sweep %d: %w", s.ID, err)
	}
	a, err := arrange(s)
	if err != nil {
		return experiment.Results{}, fmt.Errorf("analyse sweep %d: %w", s.ID, err)
	}
	a.await(s.Stopping, set.AcceptRounds)
	ladders, err := a.ladders(s, set)
	if err != nil {
		return experiment.Results{}, fmt.Errorf("analyse sweep %d: %w", s.ID, err)
	}
	w := worker{set: set, sweep: s, units: a.units, zero: a.zero, dunnett: newDunnett(), intervals: make(map[cellMetric]int), out: experiment.Results{
		RoundsDone: a.done, Planned: s.Rounds, Settings: set, SettingsHash: experiment.HashJSON(set), Version: Version,
	}}
	w.look(a, ladders)
	if set.AcceptRounds {
		a.accept()
	}
	families := func(metric string) []*family {
		if metric == experiment.MetricCeiling && len(ladders) > 0 {
			return ladderFamilies(ladders)
		}
		return a.families
	}
	for _, name := range metricsOf(a.units, set.Metric) {
		for _, f := range families(name) {
			w.analyse(f, name)
		}
	}
	if len(ladders) > 0 && set.Metric != experiment.MetricCeiling {
		for _, f := range families(experiment.MetricCeiling) {
			w.analyse(f, experiment.MetricCeiling)
		}
	}
	for _, f := range a.families {
		w.objectives(f)
	}
	for _, l := range ladders {
		w.noteLadder(l.climb())
	}
	w.ladders(ladders)
	if err := w.changes(a, ladders); err != nil {
		return experiment.Results{}, fmt.Errorf("analyse sweep %d: %w", s.ID, err)
	}
	w.responses(a, ladders)
	w.noteDrift(families(set.Metric))
	w.nominal()
	return w.out, nil
}

// metricsOf orders metrics by name, after the primary one. The ceiling is that of
// ladders, whatever a run may report under its name.
func metricsOf(units map[string]experiment.Unit, primary string) []string {
	metrics := slices.DeleteFunc(slices.Sorted(maps.Keys(units)), func(m string) bool { return m == primary || m == experiment.MetricCeiling })
	return slices.Insert(metrics, 0, primary)
}

func checkSettings(set experiment.Settings) error {
	switch {
	case set.Metric == "":
		return fmt.Errorf("no primary metric: %w", ErrBadParameter)
	case !(set.Confidence >= 0.5 && set.Confidence <= 0.9999):
		return fmt.Errorf("confidence %v: %w", set.Confidence, ErrBadParameter)
	case !(set.MinimumEffect >= 0) || math.IsInf(set.MinimumEffect, 0):
		return fmt.Errorf("minimum effect %v: %w", set.MinimumEffect, ErrBadParameter)
	case !(set.ErrorRate >= 0) || math.IsInf(set.ErrorRate, 0):
		return fmt.Errorf("error rate %v: %w", set.ErrorRate, ErrBadParameter)
	}
	for name, g := range set.Guards {
		if g.Above != nil && number(*g.Above) == nil {
			return fmt.Errorf("guard %s, above %v: %w", name, *g.Above, ErrBadParameter)
		}
	}
	return nil
}

// worker is one analysis under way.
type worker struct {
	set     experiment.Settings
	sweep   experiment.Sweep
	units   map[string]experiment.Unit
	zero    map[string]bool // metrics of which a counting run has a value that is zero or negative
	dunnett *dunnett
	out     experiment.Results

	intervals map[cellMetric]int // positions in out.Intervals
}

type cellMetric struct {
	cell   experiment.CellKey
	metric string
}

// metric describes a metric, with the unit that was observed if none is declared, and
// with the scale that it has in this sweep.
func (w *worker) metric(name string) experiment.Metric {
	m, _ := w.sweep.Metric(name)
	m.Unit = cmp.Or(m.Unit, w.units[name])
	if m.MayBeZero && w.zero[name] {
		m.Scale, m.OnLogs = experiment.ScaleDifference, false
	}
	return m
}

// analyse adds intervals, comparisons and notes of one family and metric.
func (w *worker) analyse(f *family, name string) {
	m := w.metric(name)
	samples := make(map[experiment.CellKey]Sample, len(f.cells))
	for _, c := range f.cells {
		samples[c.cell.Key] = c.sample(m, f.stage.paired, w.set.ErrorRate)
	}
	first := len(w.out.Intervals)
	for _, c := range f.cells {
		w.intervals[cellMetric{c.cell.Key, name}] = len(w.out.Intervals)
		i := w.interval(f, c, samples[c.cell.Key], m)
		w.out.Intervals = append(w.out.Intervals, i)
		if name == w.set.Metric {
			w.noteRuns(c, samples[c.cell.Key], i)
		}
	}
	if name == w.set.Metric {
		w.noteRounds(f)
	}
	if f.baseline != nil {
		w.compare(f, samples, m, w.out.Intervals[first:])
	}
}

// compare adds the comparisons of one family and flags noisy cells among its
// intervals.
func (w *worker) compare(f *family, samples map[experiment.CellKey]Sample, m experiment.Metric, intervals []experiment.Interval) {
	o := Options{Metric: m, Confidence: w.set.Confidence, MinimumEffect: w.set.MinimumEffect}
	base := samples[f.baseline.cell.Key]
	var others []Sample
	for _, c := range f.cells {
		if s := samples[c.cell.Key]; f.silenced(c) {
			s.Unfit = noSuccess // what it then uses is no effect
			samples[c.cell.Key] = s
		}
		if c.cell.Role != experiment.RoleBaseline && c.cell.Role != experiment.RoleControl {
			others = append(others, samples[c.cell.Key])
		}
	}
	fam := w.dunnett.compareFamily(base, others, o)
	for i := range intervals {
		if slices.Contains(fam.Noisy, intervals[i].Cell) {
			intervals[i].Flags = append(intervals[i].Flags, experiment.FlagNoisy)
		}
	}
	if m.Name == w.set.Metric {
		w.noteNoisy(f, fam, m)
		w.noteSpread(f, fam, m)
	}
	next := 0
	for _, c := range f.cells {
		var row experiment.Comparison
		switch c.cell.Role {
		case experiment.RoleBaseline:
			continue
		case experiment.RoleControl:
			row = Compare(base, samples[c.cell.Key], o)
			if m.Name == w.set.Metric {
				w.noteControl(row)
			}
		default:
			row = fam.Comparisons[next]
			next++
		}
		w.out.Comparisons = append(w.out.Comparisons, w.row(f, c, row))
	}
}

// row completes a comparison by what became of the runs: fails and invalid come
// before the rules of the verdict, pending replaces them all.
func (w *worker) row(f *family, c *cellRuns, row experiment.Comparison) experiment.Comparison {
	row.Secondary = row.Metric != w.set.Metric
	row.State = f.stage.state
	if cmp.Or(f.baseline.unfit, c.unfit) != "" {
		row.Estimate = nil // of the rounds that are left it would say too little or too much
	}
	failed := c.failedWith(f.baseline)
	switch {
	case len(f.baseline.counting) == 0:
		row.Verdict, row.Reason = experiment.VerdictInvalid, cmp.Or(f.baseline.absent, "no valid run")+" of the baseline"
	case len(c.counting) == 0 && f.failsIn(c):
		row.Verdict, row.Reason = experiment.VerdictFails, failedThroughout
	case f.silenced(c):
		row.Verdict, row.Reason = experiment.VerdictFails, noSuccess
	case len(c.counting) == 0:
		row.Verdict, row.Reason = experiment.VerdictInvalid, cmp.Or(c.absent, "no valid run")
	case failed > 0:
		row.Flags = withFlag(row.Flags, experiment.FlagSurvivors)
	}
	if interim(row.State) {
		row.Verdict, row.Material = experiment.VerdictPending, ""
	}
	return row
}

// Why a cell fails.
const (
	failedThroughout = "the subject failed in every round"
	noSuccess        = "no request succeeded in any round"
)

// silenced reports whether no request succeeds in a cell, while those of the baseline do.
func (f *family) silenced(c *cellRuns) bool {
	return c.silent && f.baseline != nil && len(f.baseline.counting) > 0 && !f.baseline.silent
}

// failsIn reports whether the subject failed in a cell in every round of the baseline;
// where that has none, in every round that is done.
func (f *family) failsIn(c *cellRuns) bool {
	if f.baseline != nil && len(f.baseline.counting) > 0 {
		return c.failedWith(f.baseline) == len(f.baseline.counting)
	}
	return len(c.failed) > 0 && len(c.failed) >= len(f.stage.rounds)
}

// failedWith counts the rounds of the baseline in which the subject failed in this
// cell.
func (c *cellRuns) failedWith(baseline *cellRuns) int {
	n := 0
	for round := range c.failed {
		if baseline.hasRound(round) {
			n++
		}
	}
	return n
}
