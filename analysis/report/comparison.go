package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// Comparison writes the cells of a sweep against their baselines: one row a cell
// for people, one row a cell and metric in csv, everything in json.
func Comparison(w io.Writer, r Report, f Format) error {
	r = r.judgedOnly()
	r.climbs, r.before = r.climbed(), r.judgedBefore()
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

func write(w io.Writer, s string) error {
	_, err := io.WriteString(w, s)
	return err
}

func (r Report) text() string {
	var b strings.Builder
	width := r.Options.width()
	for _, lines := range [][]string{r.head(), r.said()} {
		for _, line := range lines {
			b.WriteString(wrap(Plain(line), width, "  ") + "\n")
		}
		b.WriteByte('\n')
	}
	b.WriteString(partsText(r.parts(r.Options.Color), width))
	b.WriteString(remarksText(r.remarks(), width))
	return b.String()
}

func (r Report) markdown() string {
	var b strings.Builder
	for i, line := range append(r.head(), r.said()...) {
		if i == 0 {
			b.WriteString("## ")
		}
		b.WriteString(markdown(line) + "\n\n")
	}
	b.WriteString(partsMarkdown(r.parts(false)))
	b.WriteString(remarksMarkdown(r.remarks()))
	return b.String()
}

// parts are the tables: of the families, of what changes their effects, of numeric
// factors, and of ladders.
func (r Report) parts(color bool) []part {
	var all []part
	for _, g := range r.judged() {
		all = append(all, part{title: r.title(g), table: r.grid(g, color)})
	}
	all = append(all, r.changeParts(color)...)
	all = append(all, r.responseParts()...)
	for _, c := range r.climbs {
		all = append(all, part{r.climbTitle(c), r.climbGrid(c), []string{r.ceiling(c)}})
	}
	return all
}

// said is what came out.
func (r Report) said() []string { return append(r.Summary(), r.hidden()...) }

// head says what was asked, what was run, and how to take it.
func (r Report) head() []string {
	s := r.Sweep
	title := s.Name
	if s.Question != "" {
		title += ": " + s.Question
	}
	run := fmt.Sprintf("sweep %d (%s, serial %d), runner %s, %d cells x %s rounds, seed %d", s.ID, shortHash(s.Hash), s.Serial, s.Runner, len(s.Cells), r.plannedText(), s.Seed)
	if s.Runner == experiment.RunnerImported {
		run = fmt.Sprintf("sweep %d (%s), imported, %s, %s", s.ID, shortHash(s.Hash), counted(len(s.Cells), "cell"), counted(r.planned(), "round"))
	}
	return append([]string{strings.TrimPrefix(title, ": "), run}, r.labels()...)
}

// grid is the table of one family.
func (r Report) grid(g group, color bool) *grid {
	metric := r.metric(g.metric)
	scale := r.columnScale(metric.Name)
	t := &grid{columns: []column{
		{title: "cell", label: true},
		{title: "n", right: true},
		{title: titled(metric.Name, scale)},
		{title: effectTitle(metric)},
		{title: "verdict"},
	}}
	var secondaries []secondary
	if !g.ladders {
		secondaries = r.secondaries()
	}
	scales := make([]unitScale, len(secondaries))
	for i, m := range secondaries {
		scales[i] = r.columnScale(m.metric)
		t.columns = append(t.columns, column{title: titled(m.metric, scales[i]), right: true, spare: m.spare})
	}
	for _, x := range g.rows {
		interval := x.intervals[metric.Name]
		own := withInterval(interval.Estimate, interval.Low, interval.High, scale)
		if g.ladders && interval.Estimate == nil {
			own = cmp.Or(r.above(x.cell.Key, scale), own)
		}
		cells := []string{label(x.cell), fmt.Sprint(x.n), own, r.effect(x), r.verdict(x, color)}
		for i, m := range secondaries {
			s := alone(x.intervals[m.metric].Estimate, scales[i])
			if x.fewer(m.metric) {
				s += fewerMark
			}
			cells = append(cells, s)
		}
		t.rows = append(t.rows, cells)
	}
	return t
}

// columnScale gives one unit for a metric over the whole sweep.
func (r Report) columnScale(metric string) unitScale {
	var values []float64
	m, _ := r.Sweep.Metric(metric)
	unit := m.Unit
	for _, i := range r.Results.Intervals {
		if i.Metric == metric && known(i.Estimate) {
			values = append(values, *i.Estimate)
			if unit == "" {
				unit = i.Unit
			}
		}
	}
	return commonScale(values, unit)
}

// titled names a column: the metric in few letters, with its unit.
func titled(metric string, s unitScale) string {
	if service, ok := strings.CutSuffix(metric, ".cpu"); ok {
		return Plain(service) + " cpu"
	}
	parts := experiment.SplitMetricName(metric)
	parts.Base = strings.TrimPrefix(parts.Base, "latency_")
	if parts.Base == "error_rate" {
		parts.Base = "err"
	}
	name := parts.String()
	if s.unit == "" {
		return Plain(name)
	}
	return Plain(name + " " + s.unit)
}

func effectTitle(m experiment.Metric) string {
	if m.Scale == experiment.ScaleDifference {
		return "against baseline"
	}
	return "ratio to baseline"
}

// effect is the cell against its baseline, as given, whatever the verdict.
func (r Report) effect(x row) string {
	c, ok := x.judged()
	if !ok {
		return missing
	}
	return r.effectOf(c)
}

func (r Report) effectOf(c experiment.Comparison) string {
	m := r.metric(c.Metric)
	if c.Scale == experiment.ScaleDifference {
		return difference(c.Estimate, c.Low, c.High, m.Unit)
	}
	return ratio(c.Estimate, c.Low, c.High)
}

func (r Report) verdict(x row, color bool) string {
	if x.cell.Role == experiment.RoleBaseline {
		return missing
	}
	c, ok := x.judged()
	if !ok || c.Verdict == "" {
		return missing
	}
	s := Plain(verdictText(c))
	if color {
		s = paint(s, c.Verdict)
	}
	if l := letters(x.flags()); l != "" {
		s += " (" + l + ")"
	}
	return s
}

// paint colours by what it means for the user.
func paint(s string, v experiment.Verdict) string {
	code := ""
	switch v {
	case experiment.VerdictBetter, experiment.VerdictMeets:
		code = "32"
	case experiment.VerdictWorse, experiment.VerdictFails, experiment.VerdictMisses, experiment.VerdictInvalid:
		code = "31"
	case experiment.VerdictHigher, experiment.VerdictLower:
		code = "36"
	case experiment.VerdictInconclusive, experiment.VerdictNotTested, experiment.VerdictPending:
		code = "33"
	case experiment.VerdictEquivalent:
	}
	if code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
