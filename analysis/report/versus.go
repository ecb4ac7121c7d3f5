package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/experiment"
)

// VersusReport is two sweeps set against each other, ready to be rendered.
type VersusReport struct {
	Old, New experiment.Sweep
	Versus   analysis.Versus
	Options  Options
}

// Versus writes one sweep against an older one: for people the primary metric and what
// else has changed for certain, one row a pair of cells and metric in csv, everything in
// json.
func Versus(w io.Writer, r VersusReport, f Format) error {
	switch f {
	case Text:
		return write(w, r.text())
	case Markdown:
		return write(w, r.markdown())
	case CSV:
		return r.csv(w)
	case JSON:
		return writeJSON(w, r.json())
	default:
		return unknownFormat(f)
	}
}

func (r VersusReport) text() string {
	var b strings.Builder
	width := r.Options.width()
	for _, line := range r.head() {
		b.WriteString(wrap(Plain(line), width, "  ") + "\n")
	}
	b.WriteByte('\n')
	b.WriteString(partsText(r.parts(r.Options.Color), width))
	b.WriteString(remarksText(r.remarks(), width))
	return b.String()
}

func (r VersusReport) markdown() string {
	var b strings.Builder
	for i, line := range r.head() {
		if i == 0 {
			b.WriteString("## ")
		}
		b.WriteString(markdown(line) + "\n\n")
	}
	b.WriteString(partsMarkdown(r.parts(false)))
	b.WriteString(remarksMarkdown(r.remarks()))
	return b.String()
}

func (r VersusReport) head() []string {
	return []string{fmt.Sprintf("%s (new) against %s (old)", sweepTitle(r.New), sweepTitle(r.Old)), r.summary()}
}

func sweepTitle(s experiment.Sweep) string {
	return fmt.Sprintf("sweep %d (%s, %s)", s.ID, s.Name, shortHash(s.Hash))
}

func (r VersusReport) primaryRows() []analysis.VersusRow {
	return slices.DeleteFunc(slices.Clone(r.Versus.Rows), func(x analysis.VersusRow) bool { return x.Secondary })
}

// summary names the cells by their verdict, the worst first.
func (r VersusReport) summary() string {
	if len(r.Versus.Rows) == 0 {
		return "No cell of one has the settings of a cell of the other: nothing can be compared."
	}
	if r.Versus.Untested != "" {
		return "Not tested: " + r.Versus.Untested + ". The ratios tell the hosts apart as well as the sweeps."
	}
	var order []string
	cells := map[string][]string{}
	for _, v := range []experiment.Verdict{
		experiment.VerdictPending, experiment.VerdictFails, experiment.VerdictWorse, experiment.VerdictBetter, experiment.VerdictHigher, experiment.VerdictLower,
		experiment.VerdictEquivalent, experiment.VerdictInconclusive, experiment.VerdictNotTested, experiment.VerdictInvalid,
	} {
		for _, x := range r.primaryRows() {
			if x.Verdict != v {
				continue
			}
			what := verdictText(x.Comparison)
			if cells[what] == nil {
				order = append(order, what)
			}
			cells[what] = append(cells[what], r.label(x.New))
		}
	}
	parts := make([]string, len(order))
	for i, what := range order {
		parts[i] = strings.ToUpper(what[:1]) + what[1:] + ": " + some(cells[what]) + "."
	}
	return strings.Join(parts, " ")
}

// some names the first few and counts the rest.
func some(all []string) string {
	if len(all) > maxNames+1 {
		return strings.Join(all[:maxNames], ", ") + fmt.Sprintf(" and %d more", len(all)-maxNames)
	}
	return strings.Join(all, ", ")
}

func (r VersusReport) label(c experiment.Cell) string {
	return labelIn(c, titleOf(c.Stage, c.Condition, manyStages(r.New.Cells)))
}

func verdictText(c experiment.Comparison) string {
	switch {
	case c.Verdict == experiment.VerdictPending:
		return fmt.Sprintf("pending (%s)", strings.TrimPrefix(Plain(c.State), experiment.ResultsInterim))
	case c.Material != "":
		return string(c.Verdict) + ", " + string(c.Material)
	default:
		return string(c.Verdict)
	}
}

func (r VersusReport) parts(color bool) []part {
	var out []part
	if rows := r.primaryRows(); len(rows) > 0 {
		out = append(out, part{table: r.cells(rows, color)})
	}
	if rows := r.changed(); len(rows) > 0 {
		out = append(out, part{title: "of the other metrics, what has changed by the minimum effect or more", table: r.others(rows, color)})
	}
	t := &grid{columns: []column{{title: "differs"}, {title: "old", label: true}, {title: "new", label: true}}}
	for _, d := range r.Versus.Differs {
		t.rows = append(t.rows, []string{short(Plain(d.What)), brief(d.Old), brief(d.New)})
	}
	return append(out, part{table: t})
}

// brief shortens identities: their first digits tell them apart.
func brief(s string) string {
	const digits = 12
	prefix, hex, found := strings.Cut(s, ":")
	if !found {
		prefix, hex = "", s
	} else {
		prefix += ":"
	}
	if len(hex) > 2*digits && strings.Trim(hex, "0123456789abcdef") == "" {
		return Plain(prefix + hex[:digits])
	}
	return short(Plain(s))
}

// cells is the table of the primary metric.
func (r VersusReport) cells(rows []analysis.VersusRow, color bool) *grid {
	var values []float64
	for _, x := range rows {
		for _, v := range []*float64{x.OldMean, x.NewMean} {
			if known(v) {
				values = append(values, *v)
			}
		}
	}
	scale := commonScale(values, rows[0].Unit)
	title := titled(rows[0].Metric, scale)
	effect := "new by old"
	if rows[0].Scale == experiment.ScaleDifference {
		effect = "new less old"
	}
	t := &grid{columns: []column{
		{title: "cell", label: true},
		{title: "n old", right: true},
		{title: "n new", right: true},
		{title: title + ", old", right: true, spare: 2},
		{title: title + ", new", right: true, spare: 1},
		{title: effect},
		{title: "verdict"},
	}}
	for _, x := range rows {
		t.rows = append(t.rows, []string{
			r.label(x.New), fmt.Sprint(x.OldN), fmt.Sprint(x.NewN), alone(x.OldMean, scale), alone(x.NewMean, scale), effectOf(x), verdictCell(x.Comparison, color),
		})
	}
	return t
}

func effectOf(x analysis.VersusRow) string {
	if x.Scale == experiment.ScaleDifference {
		return difference(x.Estimate, x.Low, x.High, x.Unit)
	}
	return ratio(x.Estimate, x.Low, x.High)
}

func verdictCell(c experiment.Comparison, color bool) string {
	s := Plain(verdictText(c))
	if color {
		s = paint(s, c.Verdict)
	}
	if l := letters(c.Flags); l != "" {
		s += " (" + l + ")"
	}
	return s
}

// maxChanged is how many changes of other metrics are shown.
const maxChanged = 12

// changed gives the other metrics that have changed by more than the minimum effect, as
// far as that is proven or likely, in the cells of which something is judged.
func (r VersusReport) changed() []analysis.VersusRow {
	return slices.DeleteFunc(slices.Clone(r.Versus.Rows), func(x analysis.VersusRow) bool {
		return !x.Secondary || x.Material != experiment.MaterialProven && x.Material != experiment.MaterialLikely
	})
}

func (r VersusReport) others(rows []analysis.VersusRow, color bool) *grid {
	t := &grid{columns: []column{{title: "metric", label: true}, {title: "cell", label: true}, {title: "new against old"}, {title: "verdict"}}}
	for _, x := range rows[:min(len(rows), maxChanged)] {
		t.rows = append(t.rows, []string{short(Plain(x.Metric)), r.label(x.New), effectOf(x), verdictCell(x.Comparison, color)})
	}
	return t
}

func (r VersusReport) remarks() []remark {
	set := r.Versus.Settings
	tested := 0
	for _, row := range r.primaryRows() {
		if row.Low != nil {
			tested++
		}
	}
	method := fmt.Sprintf("welch (unpaired), %s simultaneous intervals and Holm p-values over %s, minimum effect %s; control and baseline count as any other cell",
		share(set.Confidence), counted(tested, "pair"), share(set.MinimumEffect))
	var other []string
	if n := len(r.changed()); n > maxChanged {
		other = []string{fmt.Sprintf("%d more changes of other metrics: see --format csv", n-maxChanged)}
	}
	return filled(
		remark{title: "method", lines: []string{method}},
		remark{title: "beware", lines: []string{"the two share no rounds: whatever changed on the host between them counts as a change of the subject"}},
		remark{title: "also", lines: other},
		remark{title: "flags", lines: r.legend()},
		remark{title: "not tested", lines: r.reasons()},
		remark{title: "only in the old sweep", lines: r.only(r.Versus.OnlyOld)},
		remark{title: "only in the new sweep", lines: r.only(r.Versus.OnlyNew)},
	)
}

func (r VersusReport) only(cells []experiment.Cell) []string {
	if len(cells) == 0 {
		return nil
	}
	names := make([]string, len(cells))
	for i, c := range cells {
		names[i] = labelIn(c, titleOf(c.Stage, c.Condition, manyStages(cells)))
	}
	return []string{strings.Join(names, ", ")}
}

func (r VersusReport) legend() []string {
	var parts []string
	for _, l := range flagLegend() {
		if slices.ContainsFunc(r.primaryRows(), func(x analysis.VersusRow) bool { return slices.Contains(x.Flags, l.flag) }) {
			parts = append(parts, l.letter+" = "+l.help)
		}
	}
	if parts == nil {
		return nil
	}
	return []string{strings.Join(parts, "; ")}
}

// reasons gives why cells are not tested, each reason with its cells.
func (r VersusReport) reasons() []string {
	if r.Versus.Untested != "" {
		return nil // said at once for all
	}
	var order []string
	cells := map[string][]string{}
	for _, x := range r.primaryRows() {
		if x.Reason == "" {
			continue
		}
		key := string(x.Verdict) + ", " + inWords(x.Reason)
		if cells[key] == nil {
			order = append(order, key)
		}
		cells[key] = append(cells[key], r.label(x.New))
	}
	lines := make([]string, len(order))
	for i, key := range order {
		lines[i] = some(cells[key]) + ": " + key
	}
	return lines
}
