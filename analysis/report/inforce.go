package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// settings are those by which the results were judged; as declared where there are none.
func (r Report) settings() experiment.Settings {
	if r.Results.Settings.Metric != "" {
		return r.Results.Settings
	}
	return r.Sweep.Settings
}

func (r Report) primary() string { return cmp.Or(r.settings().Metric, experiment.DefaultMetric) }

// metric describes a metric as it was compared here: what may be zero is compared by
// differences where it is.
func (r Report) metric(name string) experiment.Metric {
	m, _ := r.Sweep.Metric(name)
	if c := slices.IndexFunc(r.Results.Comparisons, func(c experiment.Comparison) bool { return c.Metric == name && c.Scale != "" }); c >= 0 {
		m.Scale = r.Results.Comparisons[c].Scale
	}
	if i := slices.IndexFunc(r.Results.Intervals, func(i experiment.Interval) bool { return i.Metric == name && i.Unit != "" }); i >= 0 {
		m.Unit = cmp.Or(m.Unit, r.Results.Intervals[i].Unit)
	}
	return m
}

// changedSettings says by what the results were judged that the matrix does not declare.
func (r Report) changedSettings() string {
	is, was := r.settings(), r.Sweep.Settings
	var parts []string
	differs := func(what, is, was string) {
		if is != was {
			parts = append(parts, fmt.Sprintf("%s %s, not %s", what, is, was))
		}
	}
	differs("metric", cmp.Or(is.Metric, experiment.DefaultMetric), cmp.Or(was.Metric, experiment.DefaultMetric))
	differs("confidence", share(is.Confidence), share(was.Confidence))
	differs("minimum effect", share(is.MinimumEffect), share(was.MinimumEffect))
	differs("error rate", share(is.ErrorRate), share(was.ErrorRate))
	if experiment.HashJSON(is.Guards) != experiment.HashJSON(was.Guards) && len(is.Guards)+len(was.Guards) > 0 {
		parts = append(parts, "other guards")
	}
	if experiment.HashJSON(is.Objectives) != experiment.HashJSON(was.Objectives) && len(is.Objectives)+len(was.Objectives) > 0 {
		parts = append(parts, "other objectives")
	}
	if left := slices.DeleteFunc(slices.Clone(is.Without), func(l string) bool { return slices.Contains(was.Without, l) }); len(left) > 0 {
		parts = append(parts, "without "+strings.Join(left, " and "))
	}
	if parts == nil {
		return ""
	}
	return "judged by other settings than those of the matrix: " + strings.Join(parts, "; ")
}

// judgedOnly leaves out the cells that the settings leave out.
func (r Report) judgedOnly() Report {
	labels := r.settings().Without
	if len(labels) == 0 {
		return r
	}
	gone := map[experiment.CellKey]bool{}
	left := func(c experiment.Cell) bool {
		gone[c.Key] = c.Role != experiment.RoleBaseline && slices.Contains(labels, c.Label())
		return gone[c.Key]
	}
	s := &r.Sweep
	s.Cells = slices.DeleteFunc(slices.Clone(s.Cells), left)
	s.Ladders = slices.DeleteFunc(slices.Clone(s.Ladders), func(l experiment.Ladder) bool { return left(l.Cell) })
	s.Runs = slices.DeleteFunc(slices.Clone(s.Runs), func(x experiment.RunRecord) bool { return gone[x.Cell] })
	return r
}
