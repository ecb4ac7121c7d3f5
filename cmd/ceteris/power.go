package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
)

// wantedPower is the chance with which an effect is to be shown.
const wantedPower = 0.8

// assumedCVs are the coefficients of variation of the runs of a cell that are shown
// where nothing was measured.
func assumedCVs() []float64 { return []float64{0.01, 0.02, 0.05, 0.1} }

func (o planOptions) checkPower() error {
	switch {
	case o.pilot != "" && !o.power:
		return &usageError{errors.New("--pilot is for --power")}
	case o.power && o.try:
		return &usageError{errors.New("--power starts nothing, --try does: want one of them")}
	default:
		return nil
	}
}

// power prints what rounds of a matrix can show, with the noise of a pilot: the sweep
// that is named, or the newest of this matrix that has rounds enough. Where there is
// none, under assumed noise.
func (a *app) power(ctx context.Context, m *experiment.Matrix, o planOptions) error {
	metric, _ := experiment.Sweep{Declared: m.Declared()}.Metric(m.Judge.Metric)
	v := report.PowerView{
		Name: m.Name, Metric: metric, Planned: m.Repeat.Rounds, Stopping: m.Repeat.Stopping,
		Confidence: m.Judge.Confidence, Power: wantedPower, Options: a.tables(),
	}
	pilot, err := a.pilotOf(ctx, m, o.pilot, &v)
	if err != nil {
		return err
	}
	known := false
	if pilot != nil {
		if known, err = byPilot(&v, m, *pilot); err != nil {
			return err
		}
		strange := fmt.Sprintf("sweep %d tells nothing about the noise of %s in the cells of this matrix", pilot.ID, m.Judge.Metric)
		switch {
		case !known && o.pilot != "":
			return experiment.WithHint(&usageError{errors.New("--pilot " + o.pilot + ": " + strange)}, "run 3 to 5 rounds of this matrix first")
		case !known:
			v.Notes = append(v.Notes, strange)
		}
	}
	if !known {
		assume(&v, m, metric)
	}
	return report.Power(a.out, v, report.Format(o.format))
}

// pilotOf loads the pilot; nil where there is none. Why the newest sweep is none is a
// note.
func (a *app) pilotOf(ctx context.Context, m *experiment.Matrix, ref string, v *report.PowerView) (*experiment.Sweep, error) {
	if _, err := os.Stat(a.config.DB); ref == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r, err := a.openReader(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	all, err := r.Sweeps(ctx)
	if err != nil {
		return nil, err
	}
	id, err := choosePilot(ctx, r, all, m.Name, ref, v)
	if err != nil || id == 0 {
		return nil, err
	}
	s, err := r.LoadSweep(ctx, id)
	if err != nil {
		return nil, err
	}
	return &s, nil
}

func choosePilot(ctx context.Context, r *db.Reader, all []db.SweepSummary, name, ref string, v *report.PowerView) (int64, error) {
	var id int64
	if ref != "" {
		var err error
		if id, err = r.Resolve(ctx, ref); err != nil {
			return 0, err
		}
	}
	for _, s := range all { // newest first
		switch {
		case ref != "" && s.ID != id, ref == "" && s.Name != name:
			continue
		case s.Complete >= leastRounds:
			v.Pilot = &report.PowerPilot{ID: s.ID, Name: s.Name, Rounds: s.Complete}
			return s.ID, nil
		}
		few := fmt.Sprintf("sweep %d has %d complete rounds: a pilot needs %d", s.ID, s.Complete, leastRounds)
		if ref != "" {
			return 0, &usageError{errors.New("--pilot " + ref + ": " + few)}
		}
		v.Notes = append(v.Notes, few)
	}
	return 0, nil
}

// comparedIn gives the cells of a matrix that are compared with a baseline, and with how
// many others each.
func comparedIn(m *experiment.Matrix) (cells []experiment.Cell, families map[[2]string]int) {
	all := m.Cells()
	if m.Judge.Metric == experiment.MetricCeiling {
		all = nil
		for _, l := range m.Ladders() {
			all = append(all, l.Cell)
		}
	}
	families = map[[2]string]int{}
	for _, c := range all {
		if c.Role != experiment.RoleBaseline && c.Role != experiment.RoleControl {
			cells = append(cells, c)
			families[familyOf(c)]++
		}
	}
	return cells, families
}

func familyOf(c experiment.Cell) [2]string { return [2]string{c.Stage, c.Condition} }

// assume fills the view with noise that nobody has measured.
func assume(v *report.PowerView, m *experiment.Matrix, metric experiment.Metric) {
	v.Metric, v.Pilot, v.Rows = metric, nil, nil
	v.Effect, v.Width = analysis.MinimumEffect(metric, m.Judge, m.Repeat.Stopping)
	_, families := comparedIn(m)
	most := 1
	for _, k := range families {
		most = max(most, k)
	}
	if v.Metric.Scale == experiment.ScaleDifference {
		v.Notes = append(v.Notes, v.Metric.Name+" is compared by differences: no CV stands for its noise, measure a pilot of 3 to 5 rounds")
		return
	}
	for _, cv := range assumedCVs() {
		log := math.Sqrt2 * math.Sqrt(math.Log1p(cv*cv)) // of a ratio of two lognormal runs
		row := report.PowerRow{CV: cv, Cells: most, SD: analysis.OffScale(v.Metric, log)}
		row.Upper = row.SD
		plan(&row, v, analysis.Planning{Comparisons: most, SD: log, Pooled: log, Alpha: alphaOf(m)})
		v.Rows = append(v.Rows, row)
	}
}

// byPilot fills the view with the noise of a pilot, and reports whether there is any.
func byPilot(v *report.PowerView, m *experiment.Matrix, pilot experiment.Sweep) (known bool, err error) {
	metric, spreads, err := analysis.Spreads(pilot, m.Judge)
	if err != nil {
		return false, err
	}
	v.Metric = metric
	v.Effect, v.Width = analysis.MinimumEffect(metric, m.Judge, m.Repeat.Stopping)
	// A stage of a peel is a pilot of the whole matrix: the cell itself, or else the same
	// levels off another baseline.
	type levels struct{ label, condition string }
	byKey, byLevels := map[experiment.CellKey]analysis.Spread{}, map[levels]analysis.Spread{}
	for _, s := range spreads {
		byKey[s.Cell.Key], byLevels[levels{s.Cell.Label(), s.Cell.Condition}] = s, s
	}
	cells, families := comparedIn(m)
	for _, c := range cells {
		row := report.PowerRow{Cell: c, Cells: families[familyOf(c)]}
		s, there := byKey[c.Key]
		if !there {
			s, there = byLevels[levels{c.Label(), c.Condition}]
		}
		switch {
		case !there:
			row.Reason = "the pilot has no such cell"
		case s.Reason != "":
			row.Reason = s.Reason
		default:
			known = true
			row.N, row.SD, row.Upper = s.N, analysis.OffScale(metric, s.SD), analysis.OffScale(metric, s.Upper)
			plan(&row, v, analysis.Planning{Comparisons: row.Cells, SD: s.Upper, Pooled: s.Pooled, Alpha: alphaOf(m)})
		}
		v.Rows = append(v.Rows, row)
	}
	if known && pilot.Runner != m.Runner {
		v.Notes = append(v.Notes, fmt.Sprintf("sweep %d was measured by runner %s, this matrix will be by %s: its noise may be another", pilot.ID, pilot.Runner, m.Runner))
	}
	return known, nil
}

// alphaOf is the error that the intervals of one family may spend at a look.
func alphaOf(m *experiment.Matrix) float64 {
	return 1 - analysis.RuleConfidence(m.Repeat.Stopping, m.Judge.Confidence)
}

// plan fills what follows from the noise; what is out of reach stays 0.
func plan(row *report.PowerRow, v *report.PowerView, p analysis.Planning) {
	if v.Effect > 0 {
		row.Rounds, _ = p.Rounds(analysis.OnScale(v.Metric, v.Effect), v.Power)
	}
	if v.Width > 0 {
		row.ForWide, _ = p.RoundsFor(analysis.OnScale(v.Metric, v.Width))
	}
	if v.Planned >= leastRounds {
		if shows, err := p.Detectable(v.Planned, v.Power); err == nil {
			row.Shows = analysis.OffScale(v.Metric, shows)
		}
	}
}
