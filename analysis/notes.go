package analysis

import (
	"fmt"

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
				w.note(NoteNoisyCell, key, m.Name,
					"%s varies over %d times as much as the median cell and widens every interval; look at the analysis without it", c.cell.Label(), noisyFactor)
			}
		}
	}
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
