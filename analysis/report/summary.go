package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// Summary says in a sentence or two, one line for each family, which setting
// changes the primary metric most, and what is known of the others.
func (r Report) Summary() []string {
	r = r.judgedOnly()
	if len(r.Sweep.Cells) == 0 {
		return []string{"No cells."}
	}
	var lines []string
	for _, g := range r.judged() {
		line := r.summary(g)
		if t := r.title(g); t != "" {
			line = t + ": " + line
		}
		lines = append(lines, line)
	}
	return lines
}

func (r Report) summary(g group) string {
	by := map[experiment.Verdict][]row{}
	for _, x := range g.rows {
		c, ok := x.judged()
		if ok && x.cell.Role != experiment.RoleBaseline && x.cell.Role != experiment.RoleControl {
			by[c.Verdict] = append(by[c.Verdict], x)
		}
	}
	if len(by) == 0 {
		return fmt.Sprintf("Nothing to compare yet (%s rounds done).", r.progress(g))
	}
	if len(by[experiment.VerdictPending]) > 0 {
		return fmt.Sprintf("Interim: %s rounds done, no verdicts yet.", r.progress(g))
	}
	if why := r.incomparable(g); why != "" {
		return "Nothing can be compared: " + why + "."
	}
	parts := failures(by[experiment.VerdictFails])
	parts = append(parts, r.effects(g, by, len(parts) > 0)...)
	for _, v := range []struct {
		verdict experiment.Verdict
		lead    string
	}{
		{experiment.VerdictMisses, "Misses: "},
		{experiment.VerdictMeets, "Meets: "},
		{experiment.VerdictEquivalent, "Equivalent: "},
		{experiment.VerdictInconclusive, "Inconclusive: "},
		{experiment.VerdictNotTested, "Not tested: "},
		{experiment.VerdictInvalid, "No valid run: "},
	} {
		if rows := by[v.verdict]; len(rows) > 0 {
			parts = append(parts, v.lead+labels(rows)+".")
		}
	}
	return strings.Join(parts, " ")
}

// failures says which cells fail, and how unless their subject does.
func failures(rows []row) []string {
	var order []string
	by := map[string][]row{}
	for _, x := range rows {
		c, _ := x.judged()
		how := " in every round"
		if c.Reason != "" && c.Reason != "the subject failed in every round" {
			how = ": " + Plain(c.Reason)
		}
		if by[how] == nil {
			order = append(order, how)
		}
		by[how] = append(by[how], x)
	}
	parts := make([]string, len(order))
	for i, how := range order {
		verb := " fails"
		if len(by[how]) > 1 {
			verb = " fail"
		}
		parts[i] = labels(by[how]) + verb + how + "."
	}
	return parts
}

// effects are the sentences on what is shown to change the primary metric, the
// largest change first. That nothing does is said only where something was tested.
func (r Report) effects(g group, by map[experiment.Verdict][]row, others bool) []string {
	effects := slices.Concat(by[experiment.VerdictWorse], by[experiment.VerdictBetter], by[experiment.VerdictHigher], by[experiment.VerdictLower])
	if len(effects) == 0 {
		switch tested := len(by[experiment.VerdictEquivalent]) + len(by[experiment.VerdictInconclusive]); {
		case tested == 0:
			return nil
		case others:
			return []string{"No other setting is shown to change " + g.metric + "."}
		default:
			return []string{"No setting is shown to change " + g.metric + "."}
		}
	}
	slices.SortStableFunc(effects, func(a, b row) int {
		return cmp.Compare(size(b.compared[b.metric]), size(a.compared[a.metric]))
	})
	parts := []string{r.largest(effects[0])}
	if rest := effects[1:]; len(rest) > 0 {
		parts = append(parts, "Also "+names(rest, func(x row) string {
			c, _ := x.judged()
			c.Low, c.High = nil, nil
			return strings.TrimSuffix(fmt.Sprintf("%s %s %s", label(x.cell), c.Verdict, r.effectOf(c)), " "+missing)
		})+".")
	}
	return parts
}

func labels(rows []row) string { return names(rows, func(x row) string { return label(x.cell) }) }

// noSuccess reports whether there was no successful request in any run that counts.
func (x row) noSuccess() bool { return x.allZero(experiment.DefaultMetric) }

func (x row) allZero(metric string) bool {
	i := x.intervals[metric]
	return i.N > 0 && known(i.Min) && *i.Min == 0 && known(i.Max) && *i.Max == 0
}

// largest is the sentence on the largest effect.
func (r Report) largest(x row) string {
	c, _ := x.judged()
	out := label(x.cell) + " is " + string(c.Verdict)
	if c.Material != "" {
		out += " (" + string(c.Material) + ")"
	}
	if !known(c.Estimate) {
		return out + "."
	}
	value, interval, _ := strings.Cut(r.effectOf(c), " [")
	if interval != "" {
		interval = " [" + interval
	}
	if c.Scale == experiment.ScaleDifference {
		value += " against"
	}
	return out + ": " + x.metric + " " + value + " the baseline" + interval + "."
}

// size orders effects: by how far the ratio is from 1, or the difference from 0.
func size(c experiment.Comparison) float64 {
	switch {
	case !known(c.Estimate):
		return 0
	case c.Scale == experiment.ScaleDifference:
		return math.Abs(*c.Estimate)
	case *c.Estimate <= 0:
		return math.Inf(1)
	default:
		return math.Abs(math.Log(*c.Estimate))
	}
}

const maxNames = 4

// names joins the first few and counts the rest.
func names(rows []row, name func(row) string) string {
	var parts []string
	for i, x := range rows {
		if i == maxNames && len(rows) > maxNames+1 {
			return strings.Join(parts, ", ") + fmt.Sprintf(" and %d more", len(rows)-maxNames)
		}
		parts = append(parts, name(x))
	}
	return strings.Join(parts, ", ")
}
