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

// maxRows is the most rows of a table beside those of the families; maxSentences the
// most sentences of one kind.
const (
	maxRows      = 12
	maxSentences = 3
)

func changeKinds() []experiment.ChangeKind {
	return []experiment.ChangeKind{experiment.ChangeStage, experiment.ChangeInteraction, experiment.ChangeCondition}
}

// change is an effect in two places, with the cells in which it was seen. The earlier one
// is known by its key alone where its sweep was not loaded.
type change struct {
	experiment.Change
	cell, from experiment.Cell
}

// changes gives those of one kind for the primary metric, the largest that is proven
// first. Those of which nothing is known are left out.
func (r Report) changes(kind experiment.ChangeKind) []change {
	var all []change
	for _, c := range r.Results.Changes {
		if c.Kind != kind || c.Metric != r.primary() || !known(c.Before) && !known(c.After) {
			continue
		}
		cell, ok := r.cellByKey(c.Cell)
		if !ok {
			continue
		}
		all = append(all, change{c, cell, r.earlier(c)})
	}
	slices.SortStableFunc(all, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.size(), a.size()))
	})
	return all
}

// earlier is the cell in the earlier place, which may lie in a sweep before.
func (r Report) earlier(c experiment.Change) experiment.Cell {
	if c.FromSweep == 0 {
		cell, _ := r.cellByKey(c.From)
		return cell
	}
	for s := r.Sweep.Before; s != nil; s = s.Before {
		if s.ID == c.FromSweep {
			cell, _ := Report{Sweep: *s}.cellByKey(c.From)
			return cell
		}
	}
	return experiment.Cell{}
}

// rank sorts by how much is shown.
func (c change) rank() int {
	switch c.Material {
	case experiment.MaterialProven:
		return 0
	case experiment.MaterialLikely:
		return 1
	case experiment.MaterialUnproven:
	}
	order := []experiment.Verdict{
		experiment.VerdictHigher, experiment.VerdictLower, experiment.VerdictInconclusive, experiment.VerdictEquivalent,
		experiment.VerdictPending, experiment.VerdictNotTested,
	}
	return 2 + max(slices.Index(order, c.Verdict), 1)
}

// shown reports whether the change is there and matters.
func (c change) shown() bool {
	return (c.Verdict == experiment.VerdictHigher || c.Verdict == experiment.VerdictLower) && c.rank() < 2
}

func (c change) size() float64 {
	return size(experiment.Comparison{Scale: c.Scale, Estimate: c.Estimate})
}

// scaled prints an effect in the scale of the change.
func (r Report) scaled(c change, v, low, high *float64) string {
	return r.effectOf(experiment.Comparison{Metric: c.Metric, Scale: c.Scale, Estimate: v, Low: low, High: high})
}

// beside is what else is off the baseline in a corner.
func (c change) beside() string {
	var parts []string
	for _, s := range c.cell.Off {
		if s.Factor != c.Factor {
			parts = append(parts, s.Factor+"="+s.Level)
		}
	}
	return Plain(strings.Join(parts, ","))
}

// what names the effect; of a corner, that of the factor which is asked for.
func (c change) what() string {
	if c.Kind == experiment.ChangeInteraction {
		return short(Plain(c.Factor + "=" + c.Level))
	}
	return label(c.cell)
}

// places names where the effect was seen, the earlier one first.
func (c change) places() (from, to string) {
	switch c.Kind {
	case experiment.ChangeInteraction:
		return "alone", c.beside()
	case experiment.ChangeCondition:
		return Plain(c.from.Condition), Plain(c.cell.Condition)
	case experiment.ChangeStage:
		from = c.from.Stage
		if c.FromSweep != 0 {
			from = strings.TrimPrefix(fmt.Sprintf("%s (sweep %d)", from, c.FromSweep), " ")
		}
		return Plain(from), Plain(c.cell.Stage)
	default:
		return missing, missing
	}
}

// named adds to the effect where else there are others of its name.
func (r Report) named(c change) string {
	var title string
	switch c.Kind {
	case experiment.ChangeCondition:
		title = titleOf(c.cell.Stage, "", manyStages(r.Sweep.Cells))
	case experiment.ChangeStage:
		title = c.cell.Condition
	default:
		title = titleOf(c.cell.Stage, c.cell.Condition, manyStages(r.Sweep.Cells))
	}
	return strings.TrimSuffix(c.what()+" ("+Plain(title)+")", " ()")
}

// changeParts are the tables of how effects change, one a kind.
func (r Report) changeParts(color bool) []part {
	var all []part
	for _, k := range []struct {
		kind        experiment.ChangeKind
		title, view string
	}{
		{experiment.ChangeStage, "effects by stage", "masking"},
		{experiment.ChangeInteraction, "effects beside another setting (interactions)", "interactions"},
		{experiment.ChangeCondition, "effects by condition", "interactions"},
	} {
		if rows := r.changes(k.kind); len(rows) > 0 {
			s := part{title: k.title, table: r.changeGrid(rows[:min(len(rows), maxRows)], color)}
			if more := len(rows) - maxRows; more > 0 {
				s.lines = []string{r.moreIn(more, k.view)}
			}
			s.lines = append(s.lines, r.untested(rows)...)
			all = append(all, s)
		}
	}
	return all
}

// changeMethod says how the intervals of changes were made.
func (r Report) changeMethod() []string {
	var methods []string
	confidence := ""
	for _, kind := range changeKinds() {
		for _, c := range r.changes(kind) {
			if c.Method == "" || !known(c.Low) {
				continue
			}
			confidence = share(c.Confidence)
			how := "round by round (paired t)"
			if c.Method == experiment.MethodWelch {
				how = "between stages, which share no rounds, unpaired (Welch t)"
			}
			if !slices.Contains(methods, how) {
				methods = append(methods, how)
			}
		}
	}
	if methods == nil {
		return nil
	}
	return []string{strings.Join(methods, "; ") + "; " + confidence + " over the changes between the same two places (Bonferroni)"}
}

// untested gives the reasons why changes have no verdict, each with its effects.
func (r Report) untested(rows []change) []string {
	var order []string
	by := map[string][]string{}
	for _, c := range rows {
		if c.Verdict != experiment.VerdictNotTested || c.Reason == "" {
			continue
		}
		if by[c.Reason] == nil {
			order = append(order, c.Reason)
		}
		by[c.Reason] = append(by[c.Reason], r.named(c))
	}
	lines := make([]string, len(order))
	for i, reason := range order {
		lines[i] = "not tested: " + some(by[reason]) + ": " + inWords(reason)
	}
	return lines
}

// moreIn says where the rows are that a table leaves out.
func (r Report) moreIn(n int, view string) string {
	return fmt.Sprintf("and %d more: ceteris sql 'SELECT * FROM %s WHERE sweep = %d'", n, view, r.Sweep.ID)
}

// changeGrid has the places as the titles of its columns where all rows share them and
// they are short enough.
func (r Report) changeGrid(rows []change, color bool) *grid {
	const longest = 16
	from, to := rows[0].places()
	same := max(len([]rune(from)), len([]rune(to))) <= longest && !slices.ContainsFunc(rows, func(c change) bool { f, t := c.places(); return f != from || t != to })
	g := &grid{namesFirst: true, columns: []column{{title: "effect of", label: true}}}
	if rows[0].Kind == experiment.ChangeInteraction {
		g.columns = append(g.columns, column{title: "beside", label: true}, column{title: "alone", spare: 2}, column{title: "beside it", spare: 1})
	} else if same {
		g.columns = append(g.columns, column{title: from, spare: 2}, column{title: to, spare: 1})
	} else {
		g.columns = append(g.columns, column{title: "from", label: true}, column{title: "to", label: true}, column{title: "before", spare: 2}, column{title: "after", spare: 1})
	}
	g.columns = append(g.columns, column{title: "change"}, column{title: "verdict"})
	for _, c := range rows {
		line := []string{r.named(c)}
		f, t := c.places()
		switch {
		case c.Kind == experiment.ChangeInteraction:
			line = append(line, short(t))
		case !same:
			line = append(line, short(f), short(t))
		}
		g.rows = append(g.rows, append(line, r.scaled(c, c.Before, nil, nil), r.scaled(c, c.After, nil, nil),
			r.scaled(c, c.Estimate, c.Low, c.High), c.verdict(color)))
	}
	return g
}

func (c change) verdict(color bool) string {
	s := verdictText(experiment.Comparison{Verdict: c.Verdict, Material: c.Material, State: c.State})
	if color {
		s = paint(s, c.Verdict)
	}
	if l := letters(c.Flags); l != "" {
		s += " (" + l + ")"
	}
	return cmp.Or(s, missing)
}

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
	results, err := analysis.New().Analyse(alone, r.settings())
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
	for _, s := range c.cell.Off {
		if s.Factor != c.Factor {
			parts = append(parts, s.Factor)
		}
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
