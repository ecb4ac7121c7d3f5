package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// responses gives those of ceilings where there are ladders, then those of the primary
// metric.
func (r Report) responses() []experiment.Response {
	var ceilings, others []experiment.Response
	for _, x := range r.Results.Responses {
		switch {
		case len(x.Levels) == 0:
		case x.Metric == experiment.MetricCeiling && len(r.Sweep.Ladders) > 0:
			ceilings = append(ceilings, x)
		case x.Metric == r.primary():
			others = append(others, x)
		}
	}
	return append(ceilings, others...)
}

// responseParts is the table of what the metric is at the levels of numeric factors,
// as far as there is room, with a sentence for each factor.
func (r Report) responseParts() []part {
	all := r.responses()
	if len(all) == 0 {
		return nil
	}
	own := r.columnScale(all[0].Metric)
	g := &grid{columns: []column{
		{title: "factor", label: true},
		{title: "level", right: true},
		{title: "n", right: true},
		{title: r.meanOf(all[0].Metric) + " " + titled(all[0].Metric, own), right: true},
		{title: "isotonic fit", right: true},
	}}
	s := part{title: "levels of numeric factors", table: g}
	for i, x := range all {
		if x.Metric == all[0].Metric && (i == 0 || len(g.rows)+len(x.Levels) <= maxRows) {
			name := r.axis(x)
			for _, l := range x.Levels {
				mean, fit := missing, missing
				if l.N > 0 {
					mean, fit = value(l.Mean, own), value(l.Fit, own)
				}
				g.rows = append(g.rows, []string{name, short(Plain(l.Text)), fmt.Sprint(l.N), mean, fit})
				name = ""
			}
		}
		if i < 2*maxSentences {
			s.lines = append(s.lines, r.responseLine(x))
		}
	}
	if more := len(all) - 2*maxSentences; more > 0 {
		s.lines = append(s.lines, r.moreIn(more, "responses"))
	}
	return []part{s}
}

// meanOf says which mean stands for a level: on the scale on which levels are compared.
func (r Report) meanOf(metric string) string {
	if r.metric(metric).Scale == experiment.ScaleDifference {
		return "mean"
	}
	return "geometric mean"
}

// axis names the factor and where it was varied.
func (r Report) axis(x experiment.Response) string {
	return strings.TrimSuffix(short(Plain(x.Factor))+" ("+Plain(titleOf(x.Stage, x.Condition, manyStages(r.Sweep.Cells)))+")", " ()")
}

func (r Report) responseLine(x experiment.Response) string {
	parts := []string{x.Metric + " over " + r.axis(x) + ": " + trendText(x)}
	if x.Knee != nil && finite(x.Knee.At) {
		parts = append(parts, "it bends at "+number(x.Knee.At))
	}
	if x.USL != nil && known(x.USL.Peak) {
		parts = append(parts, "its peak by the Universal Scalability Law is at "+number(*x.USL.Peak))
	}
	switch best, smallest := levelOf(x, x.Best), levelOf(x, x.Smallest); {
	case best == "" || smallest == "":
	case x.Best == x.Levels[0].Cell:
		parts = append(parts, "the best level is the lowest, "+best)
	case x.Best == x.Smallest:
		parts = append(parts, "the best level is "+best+", and no lower one is shown to be equivalent to it")
	default:
		parts = append(parts, "smallest level equivalent to the best, "+best+": "+smallest)
	}
	return strings.Join(parts, "; ")
}

// levelOf is the level of a cell; empty if it is none of the response.
func levelOf(x experiment.Response, k experiment.CellKey) string {
	i := slices.IndexFunc(x.Levels, func(l experiment.ResponseLevel) bool { return l.Cell == k })
	if k == "" || i < 0 {
		return ""
	}
	return x.Levels[i].Text
}

func trendText(x experiment.Response) string {
	var test string
	switch x.Test {
	case "page":
		test = "Page's test"
	case "jonckheere":
		test = "Jonckheere's test"
	}
	if test != "" && known(x.P) {
		test = " (" + test + ", " + probability(*x.P) + ")"
	}
	switch x.Trend {
	case experiment.TrendRising, experiment.TrendFalling:
		return string(x.Trend) + test
	case experiment.TrendNone:
		return "no trend shown" + test
	case experiment.TrendUntest:
	}
	if x.Reason == string(experiment.VerdictPending) {
		return "trend pending (" + strings.TrimPrefix(x.State, experiment.ResultsInterim) + ")"
	}
	return strings.TrimSuffix("trend not tested ("+inWords(x.Reason)+")", " ()")
}

// probability prints a p-value.
func probability(p float64) string {
	if p < 1e-4 {
		return "p < 0.0001"
	}
	return "p = " + number(p)
}
