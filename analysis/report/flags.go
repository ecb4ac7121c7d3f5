package report

import (
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// flagLegend gives each flag a letter for the table and says what it means.
func flagLegend() []struct {
	flag   experiment.Flag
	letter string
	help   string
} {
	return []struct {
		flag   experiment.Flag
		letter string
		help   string
	}{
		{experiment.FlagFewRounds, "F", "few rounds (3 or 4)"},
		{experiment.FlagIncomplete, "I", "a round is missing, compared on the others"},
		{experiment.FlagSurvivors, "S", "some runs failed: the others are a selected sample"},
		{experiment.FlagZeroVariance, "Z", "the rounds do not differ at all: a capped or quantised metric?"},
		{experiment.FlagAllTied, "T", "all values are one number"},
		{experiment.FlagMultimodal, "M", "the runs fall into groups"},
		{experiment.FlagOutlier, "O", "a run lies far from the others"},
		{experiment.FlagCheckDistribution, "D", "median and mean disagree: look at the values"},
		{experiment.FlagNoisy, "N", "much noisier than the other cells"},
		{experiment.FlagReversal, "R", "the effects point in opposite directions"},
	}
}

// flags gives those of the metric by which the cell is judged, in order of the legend.
func (x row) flags() []experiment.Flag {
	set := slices.Concat(x.intervals[x.metric].Flags, x.compared[x.metric].Flags)
	var out []experiment.Flag
	for _, l := range flagLegend() {
		if slices.Contains(set, l.flag) {
			out = append(out, l.flag)
		}
	}
	return out
}

// fewerMark stands behind a value of fewer runs than the row's n says.
const fewerMark = "*"

// fewer reports whether a value that is shown rests on fewer runs than n.
func (x row) fewer(metric string) bool {
	i := x.intervals[metric]
	return known(i.Estimate) && i.N < x.n
}

func letters(flags []experiment.Flag) string {
	var b strings.Builder
	for _, l := range flagLegend() {
		if slices.Contains(flags, l.flag) {
			b.WriteString(l.letter)
		}
	}
	return b.String()
}

// legend explains the flags that are in use.
func (r Report) legend() []string {
	used := map[experiment.Flag]bool{}
	for _, g := range r.judged() {
		for _, x := range g.rows {
			for _, f := range x.flags() {
				used[f] = true
			}
		}
	}
	for _, kind := range changeKinds() {
		for _, c := range r.changes(kind) {
			for _, f := range c.Flags {
				used[f] = true
			}
		}
	}
	var parts []string
	for _, l := range flagLegend() {
		if used[l.flag] {
			parts = append(parts, l.letter+" = "+l.help)
		}
	}
	for _, m := range r.secondaries() {
		if slices.ContainsFunc(r.judged(), func(g group) bool {
			return !g.ladders && slices.ContainsFunc(g.rows, func(x row) bool { return x.fewer(m.metric) })
		}) {
			parts = append(parts, fewerMark+" = of fewer runs than n")
			break
		}
	}
	if parts == nil {
		return nil
	}
	return []string{strings.Join(parts, "; ")}
}
