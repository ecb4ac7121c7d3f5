package analysis

import "github.com/ceteris/ceteris/experiment"

// objectives judges every cell of a family, the baseline too, by the service levels:
// it meets one if its whole interval lies at or below the limit, and misses it if the
// whole interval lies above.
func (w *worker) objectives(f *family) {
	for _, o := range w.set.Objectives {
		m := w.metric(o.Metric)
		for _, c := range f.cells {
			s := c.sample(m, f.stage.paired, w.set.ErrorRate)
			w.out.Comparisons = append(w.out.Comparisons, w.against(f, c, s, o, m))
		}
	}
}

// intervalOf gives the interval of a metric in a cell, if there is one yet.
func (w *worker) intervalOf(cell experiment.CellKey, metric string) (experiment.Interval, bool) {
	i, ok := w.intervals[cellMetric{cell, metric}]
	if !ok {
		return experiment.Interval{}, false
	}
	return w.out.Intervals[i], true
}

// against sets a cell against the limit of an objective. Estimate and interval are
// those of the cell alone.
func (w *worker) against(f *family, c *cellRuns, s Sample, o experiment.Objective, m experiment.Metric) experiment.Comparison {
	i, ok := w.intervalOf(s.Cell, m.Name)
	if !ok {
		i = w.interval(f, c, s, m) // nothing observed it
	}
	row := experiment.Comparison{
		Cell: i.Cell, Metric: o.Row(), Secondary: true, Scale: experiment.ScaleRatio, Estimate: i.Estimate, Low: i.Low, High: i.High,
		Confidence: i.Confidence, N: i.N, State: i.State, Verdict: experiment.VerdictNotTested,
	}
	for _, flag := range i.Flags {
		if flag == experiment.FlagFewRounds || flag == experiment.FlagSurvivors || flag == experiment.FlagZeroVariance {
			row.Flags = append(row.Flags, flag)
		}
	}
	switch {
	case len(c.counting) == 0 && f.failsIn(c):
		row.Verdict, row.Reason = experiment.VerdictFails, failedThroughout
	case c.silent:
		row.Verdict, row.Reason = experiment.VerdictFails, noSuccess
	case len(c.counting) == 0:
		row.Verdict, row.Reason = experiment.VerdictInvalid, "no valid run"
	case s.Unfit != "":
		row.Reason = s.Unfit
	case len(s.Values) == 0:
		row.Reason = reason(ErrNoData)
	case checkFinite(s.Values) != nil:
		row.Reason = reason(ErrNotFinite)
	case len(s.Values) < fewestRounds:
		row.Reason = reason(ErrTooFew)
	case i.Low == nil:
		row.Reason = reason(ErrNonPositive) // no logarithm, hence no interval
	case *i.High <= o.Limit:
		row.Verdict = experiment.VerdictMeets
	case *i.Low > o.Limit:
		row.Verdict = experiment.VerdictMisses
	default:
		row.Verdict = experiment.VerdictInconclusive
	}
	if interim(row.State) {
		row.Verdict = experiment.VerdictPending
	}
	return row
}
