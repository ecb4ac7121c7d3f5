package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// csvColumns of the comparison: what identifies the row, the cell alone, and the
// cell against its baseline (compared_*), or against the limit of an objective, whose
// metric is slo:METRIC. The state is as in the database, and says too if a sweep that
// lacks rounds was stopped by hand.
func csvColumns() []string {
	return []string{
		"sweep", "stage", "condition", "role", "factor", "level", "metric", "unit", "primary",
		"n", "estimate", "low", "high", "confidence", "method", "median", "min", "max", "cv", "state",
		"scale", "compared", "compared_low", "compared_high", "compared_confidence", "eq_low", "eq_high", "p", "p_adjusted",
		"rounds", "compared_method", "verdict", "reason", "material", "rounds_needed", "flags", "limit",
	}
}

// csv writes one row a cell and metric, in the order of the text table, metrics
// by name, the primary one first.
func (r Report) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvColumns()); err != nil {
		return err
	}
	for _, g := range r.groups() {
		for _, x := range g.rows {
			for _, m := range r.metrics(x) {
				if err := out.Write(r.csvRow(x, m)); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

// metrics of a row, the primary one first.
func (r Report) metrics(x row) []string {
	var all []string
	for m := range x.intervals {
		all = append(all, m)
	}
	for m := range x.compared {
		if _, ok := x.intervals[m]; !ok {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		switch r.primary() {
		case a:
			return -1
		case b:
			return 1
		default:
			return strings.Compare(a, b)
		}
	})
	return all
}

func (r Report) csvRow(x row, metric string) []string {
	i, alone := x.intervals[metric]
	c, compared := x.compared[metric]
	unit := string(i.Unit)
	if m, ok := r.Sweep.Metric(metric); ok && unit == "" {
		unit = string(m.Unit)
	}
	fields := []string{
		strconv.FormatInt(r.Sweep.ID, 10), x.cell.Stage, x.cell.Condition, string(x.cell.Role), x.cell.Factor, x.cell.Level,
		metric, unit, strconv.FormatBool(metric == r.primary()),
	}
	if alone {
		fields = append(fields, strconv.Itoa(i.N), raw(i.Estimate), raw(i.Low), raw(i.High), raw(&i.Confidence), string(i.Method),
			raw(i.Median), raw(i.Min), raw(i.Max), raw(i.CV))
	} else {
		fields = append(fields, make([]string, 10)...)
	}
	state := cmp.Or(i.State, c.State)
	if strings.HasPrefix(state, experiment.ResultsInterim) && r.halted() {
		state += ", " + stoppedState(r.Sweep.Ended)
	}
	fields = append(fields, state)
	if compared {
		fields = append(fields, string(c.Scale), raw(c.Estimate), raw(c.Low), raw(c.High), raw(&c.Confidence), raw(c.EqLow), raw(c.EqHigh),
			raw(c.P), raw(c.PAdjusted), strconv.Itoa(c.N), string(c.Method), string(c.Verdict), c.Reason, string(c.Material), strconv.Itoa(c.RoundsNeeded))
	} else {
		fields = append(fields, make([]string, 15)...)
	}
	return append(fields, strings.Join(flagNames(i.Flags, c.Flags), ";"), raw(r.limit(metric)))
}

// limit is that of an objective; nil for other rows.
func (r Report) limit(metric string) *float64 {
	for _, o := range r.settings().Objectives {
		if o.Row() == metric {
			return clean(&o.Limit)
		}
	}
	return nil
}

// flagNames merges flags, each once.
func flagNames(sets ...[]experiment.Flag) []string {
	names := []string{}
	for _, f := range slices.Concat(sets...) {
		if !slices.Contains(names, string(f)) {
			names = append(names, string(f))
		}
	}
	return names
}

// raw prints a number in full; what is missing or not finite is empty.
func raw(v *float64) string {
	if !known(v) {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}
