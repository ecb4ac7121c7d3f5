package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// maxRows is the most rows of a table beside those of the families.
const maxRows = 12

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
		cell, ok := r.Sweep.Cell(c.Cell)
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
		cell, _ := r.Sweep.Cell(c.From)
		return cell
	}
	for s := r.Sweep.Before; s != nil; s = s.Before {
		if s.ID == c.FromSweep {
			cell, _ := s.Cell(c.From)
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
func (c change) beside() []experiment.Setting {
	return slices.DeleteFunc(slices.Clone(c.cell.Off), func(s experiment.Setting) bool { return s.Factor == c.Factor })
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
		return "alone", Plain(settings(c.beside()))
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
