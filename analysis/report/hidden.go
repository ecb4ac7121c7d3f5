package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/experiment"
)

// maxSentences is the most sentences of one kind.
const maxSentences = 3

// hidden are the sentences on what one stage hid and the next shows, and on effects
// whose direction depends on something else.
func (r Report) hidden() []string {
	var masked, reversed []string
	for _, kind := range changeKinds() {
		for _, c := range r.changes(kind) {
			switch {
			case slices.Contains(c.Flags, experiment.FlagReversal):
				reversed = append(reversed, r.reversal(c))
			case kind == experiment.ChangeStage && c.shown():
				if s := r.masked(c); s != "" {
					masked = append(masked, s)
				}
			}
		}
	}
	return append(firstOf(masked, "what was masked"), firstOf(reversed, "reversals")...)
}

// firstOf keeps the first sentences and counts the others.
func firstOf(all []string, of string) []string {
	if len(all) <= maxSentences {
		return all
	}
	return append(all[:maxSentences:maxSentences], fmt.Sprintf("More %s: %d, in the tables below.", of, len(all)-maxSentences))
}

// masked says what an earlier stage hid of an effect; empty if it hid nothing.
func (r Report) masked(c change) string {
	after, ok := r.compared(c.Cell, c.Metric)
	if !ok || !isEffect(after.Verdict) {
		return ""
	}
	before, judged := r.comparedFrom(c)
	was, found := r.scaled(c, c.Before, nil, nil), "part of it was masked"
	switch {
	case judged && before.Verdict == experiment.VerdictEquivalent:
		was, found = "equivalent", "it was masked"
	case judged && before.Verdict == experiment.VerdictInconclusive:
		was, found = "no difference shown", "it was masked"
	case judged && isEffect(before.Verdict):
		was = r.effectOf(before)
	case !judged && r.within(c):
		found = "it was masked"
	}
	if found != "it was masked" && (opposed(c) || sizeOf(c.Scale, c.Before) >= sizeOf(c.Scale, c.After)) {
		return ""
	}
	from, to := c.places()
	return fmt.Sprintf("%s: %s at stage %s, %s at stage %s: the change is %s: %s.",
		r.named(c), was, from, r.effectOf(after), to, r.scaled(c, c.Estimate, c.Low, c.High), found)
}

// comparedFrom finds the comparison in the earlier place, if it has a verdict.
func (r Report) comparedFrom(c change) (experiment.Comparison, bool) {
	if c.FromSweep != 0 {
		r.Results.Comparisons = r.before
	}
	before, ok := r.compared(c.From, c.Metric)
	return before, ok && (isEffect(before.Verdict) || before.Verdict == experiment.VerdictEquivalent || before.Verdict == experiment.VerdictInconclusive)
}

// judgedBefore judges the sweep before, of a peel, by the settings of this one: what it
// did not show was masked. Nil where no effect is shown to be another now.
func (r Report) judgedBefore() []experiment.Comparison {
	s := r.Sweep.Before
	if s == nil || !slices.ContainsFunc(r.changes(experiment.ChangeStage), func(c change) bool { return c.FromSweep == s.ID && c.shown() }) {
		return nil
	}
	alone := *s
	alone.Before = nil
	set := r.settings()
	set.Without = slices.DeleteFunc(slices.Clone(set.Without), func(label string) bool { // the baseline has moved since
		return !slices.ContainsFunc(s.Cells, func(c experiment.Cell) bool { return c.Label() == label })
	})
	results, err := analysis.New().Analyse(alone, set)
	if err != nil { // then nothing is known of it but the effects
		return nil
	}
	return results.Comparisons
}

// within reports whether the earlier effect is below what matters.
func (r Report) within(c change) bool {
	return c.Scale != experiment.ScaleDifference && known(c.Before) && sizeOf(c.Scale, c.Before) <= math.Log1p(r.settings().MinimumEffect)
}

func sizeOf(scale experiment.Scale, v *float64) float64 {
	return size(experiment.Comparison{Scale: scale, Estimate: v})
}

// opposed reports whether the two effects point in opposite directions.
func opposed(c change) bool {
	if !known(c.Before) || !known(c.After) {
		return false
	}
	none := 1.0
	if c.Scale == experiment.ScaleDifference {
		none = 0
	}
	return (*c.Before-none)*(*c.After-none) < 0
}

func isEffect(v experiment.Verdict) bool {
	switch v {
	case experiment.VerdictBetter, experiment.VerdictWorse, experiment.VerdictHigher, experiment.VerdictLower:
		return true
	default:
		return false
	}
}

// compared finds a comparison.
func (r Report) compared(cell experiment.CellKey, metric string) (experiment.Comparison, bool) {
	i := slices.IndexFunc(r.Results.Comparisons, func(c experiment.Comparison) bool { return c.Cell == cell && c.Metric == metric })
	if i < 0 {
		return experiment.Comparison{}, false
	}
	return r.Results.Comparisons[i], true
}

// reversal spells out that the direction of an effect depends on something else.
func (r Report) reversal(c change) string {
	from, to := c.places()
	on := "the stage"
	switch c.Kind {
	case experiment.ChangeInteraction:
		to, on = "beside "+to, Plain(otherFactors(c))
	case experiment.ChangeCondition:
		from, to, on = "under "+from, "under "+to, cmp.Or(Plain(r.moved(c)), "the condition")
	default:
		from, to = "at stage "+from, "at stage "+to
	}
	return fmt.Sprintf("The sign of %s depends on %s: %s %s, %s %s: the change is %s.", r.named(c), on,
		r.scaled(c, c.Before, nil, nil), from, r.scaled(c, c.After, nil, nil), to, r.scaled(c, c.Estimate, c.Low, c.High))
}

// otherFactors are those of a corner beside the one whose effect it is.
func otherFactors(c change) string {
	var parts []string
	for _, s := range c.beside() {
		parts = append(parts, s.Factor)
	}
	return strings.Join(parts, " and ")
}

// moved names the conditions by which two places differ.
func (r Report) moved(c change) string {
	var parts []string
	for _, name := range r.Sweep.Across {
		was, _ := c.from.Lookup(name)
		if is, _ := c.cell.Lookup(name); is != was {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, " and ")
}
