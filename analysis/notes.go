package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

func (w *worker) note(code string, cell experiment.CellKey, metric, format string, a ...any) {
	w.out.Notes = append(w.out.Notes, experiment.SweepNote{Code: code, Cell: cell, Metric: metric, Message: fmt.Sprintf(format, a...)})
}

// noteRounds names the rounds that are done but have no counting baseline run.
func (w *worker) noteRounds(f *family) {
	if f.baseline == nil || len(f.baseline.counting) == 0 {
		return // every comparison says so
	}
	for _, round := range f.stage.rounds {
		if !f.baseline.hasRound(round) {
			w.note(NoteWithoutBaseline, f.baseline.cell.Key, "",
				"round %d has no valid run of the baseline and is left out of all comparisons", round)
		}
	}
}

func (w *worker) noteNoisy(f *family, fam Family, m experiment.Metric) {
	for _, key := range fam.Noisy {
		for _, c := range f.cells {
			if c.cell.Key == key {
				advice := "look at the analysis without it"
				if c.cell.Role == experiment.RoleBaseline {
					advice = "it is part of all comparisons, so look at its runs"
				}
				w.note(NoteNoisyCell, key, m.Name,
					"%s varies over %d times as much as the median cell and widens every interval; %s", c.cell.Label(), noisyFactor, advice)
			}
		}
	}
}

// noteSpread holds against the minimum effect how far an interval of the planned rounds
// reaches, when the noise is the residual one of the fit of round and cell. Where it
// reaches farther, an effect of that size shows in fewer than half of such sweeps, and no
// cell can be called equivalent. Where one cell is noisy, that is said instead.
func (w *worker) noteSpread(f *family, fam Family, m experiment.Metric) {
	done := len(f.baseline.counting)
	if done < fewestRounds || fam.Tested == 0 || len(fam.Noisy) > 0 || !(fam.ResidualSD > 0) || m.Scale == experiment.ScaleDifference {
		return
	}
	sd, others := math.Sqrt2*fam.ResidualSD, fam.ResidualDF/(done-1)
	half := func(n int) float64 {
		t := tQuantile(1-(1-w.set.Confidence)/(2*float64(fam.Tested)), float64(n-1))
		if n < ownRounds {
			t = w.dunnett.quantile(w.set.Confidence, fam.Tested, others*(n-1))
		}
		return t * sd / math.Sqrt(float64(n))
	}
	planned, target := max(w.sweep.Rounds, done), math.Log1p(w.set.MinimumEffect)
	if half(planned) <= target {
		return
	}
	need := ""
	if n, err := fewest(func(n int) bool { return half(n) <= target }); err == nil {
		need = fmt.Sprintf("; about %d rounds would do", n)
	}
	w.note(NoteSpread, f.baseline.cell.Key, m.Name,
		"from round to round the ratio of two cells varies by %.2g%% by chance, so an interval of %d rounds reaches %.2g%% to either side, and effects of %.2g%% are looked for%s",
		100*math.Expm1(sd), planned, 100*math.Expm1(half(planned)), 100*w.set.MinimumEffect, need)
}

// noteRuns says which runs of a cell stand apart, where its interval is flagged for it.
// They count like the others.
func (w *worker) noteRuns(c *cellRuns, s Sample, i experiment.Interval) {
	if slices.Contains(i.Flags, experiment.FlagMultimodal) {
		if g, err := WidestGap(s.Values); err == nil {
			x, n := slices.Sorted(slices.Values(s.Values)), g.LowerCount
			w.note(NoteSpread, c.cell.Key, i.Metric, "%s: %s has two groups of values, %d from %.4g to %.4g and %d from %.4g to %.4g: a mean of both describes neither",
				c.cell.Label(), i.Metric, n, x[0], x[n-1], len(x)-n, x[n], x[len(x)-1])
		}
		return
	}
	if !slices.Contains(i.Flags, experiment.FlagOutlier) {
		return
	}
	far, err := Outliers(s.Values, outlierMADs)
	if err != nil {
		return
	}
	var runs []string
	for _, at := range far {
		runs = append(runs, fmt.Sprintf("%.4g in %s", s.Values[at], s.nameOf(at)))
	}
	w.note(NoteSpread, c.cell.Key, i.Metric, "%s: %s is %s, far from the median of %.4g (over %d scaled median absolute deviations)",
		c.cell.Label(), i.Metric, strings.Join(runs, ", "), median(s.Values), outlierMADs)
}

// nameOf names the run of a value: by its round, if it has one.
func (s Sample) nameOf(at int) string {
	if s.paired() {
		return fmt.Sprintf("round %d", s.Rounds[at])
	}
	return fmt.Sprintf("run %d of %d", at+1, len(s.Values))
}

func (w *worker) noteControl(row experiment.Comparison) {
	if row.Low == nil || row.P == nil || *row.P >= controlAlarm {
		return
	}
	w.note(NoteControlDiffers, row.Cell, row.Metric,
		"the control, which is the baseline again, differs from it: %.4g (%.4g to %.4g), p = %.2g; one sweep in twenty shows this by chance",
		*row.Estimate, *row.Low, *row.High, *row.P)
}

func (w *worker) noteNotFinite(c *cellRuns, m experiment.Metric) {
	w.note(NoteNotFinite, c.cell.Key, m.Name, "%s: a run reported a %s that is no finite number; it is not tested", c.cell.Label(), m.Name)
}

// noteLadder says between which rungs a ladder breaks and what moves first; these
// are reported, they decide nothing.
func (w *worker) noteLadder(c Climb) {
	if !c.Known {
		return
	}
	at := func(i int) string {
		if i < 0 {
			return "no rung"
		}
		if c.Rungs[i].N == 0 {
			return c.Rungs[i].Level
		}
		return rate(c.Rungs[i].Offered)
	}
	k := c.Ceiling
	w.note(NoteLadder, c.Cell.Key, experiment.MetricCeiling, "%s: sustained up to %s, broken from %s; %s moves first at %s, the median at %s",
		c.Cell.Label(), at(k.Sustained), at(k.Broken), c.Tail, at(k.TailFirst), at(k.MedianFirst))
	switch k.Status {
	case LadderNonMonotone:
		w.note(NoteNonMonotone, c.Cell.Key, experiment.MetricCeiling,
			"%s: a rung above %s is sustained although that one is not; warm-up, noise or a throttled host, so run the ladder again", c.Cell.Label(), at(k.Broken))
	case LadderClientLimited:
		w.note(NoteClientLimited, c.Cell.Key, experiment.MetricCeiling,
			"%s: at %s the generator is at its own limit, so the ceiling is the generator's", c.Cell.Label(), at(k.Broken))
	case LadderFound, LadderNotReached, LadderBelow:
	}
}
