package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// ImportView is what was understood of files of other load generators, and what became
// of them.
type ImportView struct {
	Files   []ImportedFile
	Sweep   experiment.Sweep // as it is now; the zero value: nothing was stored
	Options Options
}

// ImportedFile is one file.
type ImportedFile struct {
	File         string
	SHA256       string
	Size         int64  // bytes
	Reader       string // that understood it
	Detected     bool   // the reader was not named
	Skip, Window time.Duration
	Result       experiment.LoadResult
	Incomplete   string     // why it is not whole; empty: it is
	Stored       *StoredRun // nil: a dry run
}

// StoredRun is the run that was made of a file.
type StoredRun struct {
	Run    int64
	Cell   string // its label
	Round  int
	State  experiment.RunState
	Reason string
}

// Imports writes what was understood: for people all of it after a dry run, else a line a
// file; everything in csv and json.
func Imports(w io.Writer, v ImportView, f Format) error {
	switch f {
	case Text, Markdown:
		return write(w, v.people(f))
	case CSV:
		return Rows(w, []string{"file", "kind", "name", "value", "unit", "text"}, each(v.rows()), CSV)
	case JSON:
		return writeJSON(w, v.json())
	default:
		return unknownFormat(f)
	}
}

func (v ImportView) people(f Format) string {
	p := printer{markdown: f == Markdown, width: v.Options.width()}
	if v.Sweep.ID != 0 {
		v.stored(&p)
		return p.whole()
	}
	for i, in := range v.Files {
		if i > 0 {
			p.WriteByte('\n')
		}
		in.understood(&p)
	}
	return p.whole()
}

// printer writes lines and tables for people.
type printer struct {
	strings.Builder
	markdown bool
	width    int
}

// whole gives everything, without the empty line behind a table that ends it.
func (p *printer) whole() string { return strings.TrimRight(p.String(), "\n") + "\n" }

func (p *printer) head(line string) {
	if p.markdown {
		p.WriteString("## " + markdown(Plain(line)) + "\n\n")
		return
	}
	p.WriteString(wrap(Plain(line), p.width, "  ") + "\n")
}

func (p *printer) item(line string) {
	if p.markdown {
		p.WriteString("- " + markdown(Plain(line)) + "\n")
		return
	}
	p.WriteString(wrap(Plain(line), p.width, "  ") + "\n")
}

func (p *printer) table(g *grid) {
	if p.markdown {
		p.WriteString(g.markdown() + "\n")
		return
	}
	g.fit(p.width)
	p.WriteString("\n" + g.text() + "\n")
}

// stored says which runs were made, and what to know about them.
func (v ImportView) stored(p *printer) {
	s := v.Sweep
	counting := 0
	for _, r := range s.Runs {
		if r.State == experiment.StateOK {
			counting++
		}
	}
	p.head(fmt.Sprintf("%s: sweep %d, imported, %s in %s and %s", s.Name, s.ID,
		counted(counting, "run"), counted(len(s.Cells), "cell"), counted(s.Rounds, "round")))
	metric := s.Settings.Metric
	values := make([]*float64, len(v.Files))
	var told []float64
	for i, in := range v.Files {
		if x, ok := experiment.Observed(in.Result.Observations, metric); ok {
			values[i], told = &x, append(told, x)
		}
	}
	m, _ := experiment.MetricByName(metric)
	scale := commonScale(told, m.Unit)
	g := &grid{columns: []column{
		{title: "run", right: true},
		{title: "cell"},
		{title: "round", right: true},
		{title: titled(metric, scale), right: true},
		{title: "state"},
		{title: "of", spare: 2},
		{title: "file", label: true},
	}}
	for i, in := range v.Files {
		state := string(in.Stored.State)
		if in.Stored.Reason != "" {
			state += " (" + in.Stored.Reason + ")"
		}
		g.rows = append(g.rows, []string{
			strconv.FormatInt(in.Stored.Run, 10), Plain(in.Stored.Cell), strconv.Itoa(in.Stored.Round), alone(values[i], scale), Plain(state), Plain(in.source()), Plain(in.File),
		})
	}
	p.table(g)
	said := map[string]bool{}
	for _, in := range v.Files {
		for _, n := range in.Result.Notes {
			if n.Severity != experiment.SeverityNote && !said[n.Text] {
				said[n.Text] = true
				p.item(fmt.Sprintf("%s: %s: %s", n.Severity, in.File, n.Text))
			}
		}
	}
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// source names the tool and its format.
func (in ImportedFile) source() string {
	return strings.TrimSpace(in.Result.Tool + " " + in.Result.Format)
}

// understood says everything about one file.
func (in ImportedFile) understood(p *printer) {
	p.head(in.File + ": " + in.source())
	how := "reader " + in.Reader
	if in.Detected {
		how += " (detected)"
	}
	p.item(fmt.Sprintf("%s, %s, SHA-256 %.12s", how, Quantity(float64(in.Size), experiment.UnitBytes), in.SHA256))
	if in.Incomplete != "" {
		p.item(in.Incomplete)
	}
	if line := in.window(); line != "" {
		p.item(line)
	}
	g := &grid{columns: []column{{title: "metric"}, {title: "value", right: true}}}
	for _, o := range in.measured() {
		g.rows = append(g.rows, []string{Plain(o.Metric), Quantity(o.Value, o.Unit)})
	}
	p.table(g)
	if line := in.totals(); line != "" {
		p.item(line)
	}
	for _, line := range in.unknown() {
		p.item("unknown: " + line)
	}
	for _, n := range in.Result.Notes {
		p.item(fmt.Sprintf("%s: %s", n.Severity, n.Text))
	}
}

// window says from when to when it tells.
func (in ImportedFile) window() string {
	if in.Result.Window <= 0 {
		return ""
	}
	line := "window of " + Duration(in.Result.Window)
	if !in.Result.Begin.IsZero() {
		line += " from " + stamp(in.Result.Begin)
	}
	if in.Skip > 0 {
		line += ", without the first " + Duration(in.Skip)
	}
	return line
}

// measured gives the metrics of the window by name.
func (in ImportedFile) measured() []experiment.Observation {
	out := slices.DeleteFunc(slices.Clone(in.Result.Observations), func(o experiment.Observation) bool { return o.Phase != experiment.PhaseMeasure })
	slices.SortStableFunc(out, func(a, b experiment.Observation) int { return strings.Compare(a.Metric, b.Metric) })
	return out
}

// totals counts requests by what became of them; what was not told is left out.
func (in ImportedFile) totals() string {
	var parts []string
	t := in.Result.Total
	if t.OK+t.Failed > 0 {
		parts = append(parts, fmt.Sprintf("requests: %d ok, %d failed", t.OK, t.Failed))
	}
	for _, c := range []struct {
		name   string
		counts map[string]int64
	}{{"statuses", in.Result.Statuses}, {"errors", in.Result.Errors}} {
		var list []string
		for _, k := range slices.Sorted(maps.Keys(c.counts)) {
			list = append(list, fmt.Sprintf("%s %d", k, c.counts[k]))
		}
		if len(list) > 0 {
			parts = append(parts, c.name+": "+strings.Join(list, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// unknown lists the metrics that are unknown for one reason.
func (in ImportedFile) unknown() []string {
	var out []string
	for _, u := range experiment.GroupUnknown(in.Result.Unknown) {
		out = append(out, u.Metric+": "+u.Why)
	}
	return out
}

// rows gives a table in which every fact has a row.
func (v ImportView) rows() [][]any {
	var out [][]any
	for _, in := range v.Files {
		add := func(kind, name string, value any, unit experiment.Unit, text string) {
			out = append(out, []any{in.File, kind, name, value, string(unit), text})
		}
		add("source", "tool", nil, "", in.Result.Tool)
		add("source", "format", nil, "", in.Result.Format)
		add("source", "reader", nil, "", in.Reader)
		add("source", "sha256", nil, "", in.SHA256)
		add("source", "size", in.Size, experiment.UnitBytes, "")
		if in.Incomplete != "" {
			add("source", "incomplete", nil, "", in.Incomplete)
		}
		if in.Result.Window > 0 {
			add("source", "window", in.Result.Window.Seconds(), experiment.UnitSeconds, "")
		}
		if s := in.Stored; s != nil {
			add("run", "sweep", v.Sweep.ID, "", v.Sweep.Name)
			add("run", "run", s.Run, "", string(s.State))
			add("run", "cell", nil, "", s.Cell)
			add("run", "round", int64(s.Round), "", "")
		}
		for _, o := range in.measured() {
			add("metric", o.Metric, o.Value, o.Unit, "")
		}
		for _, k := range slices.Sorted(maps.Keys(in.Result.Statuses)) {
			add("status", k, in.Result.Statuses[k], experiment.UnitCount, "")
		}
		for _, k := range slices.Sorted(maps.Keys(in.Result.Errors)) {
			add("error", k, in.Result.Errors[k], experiment.UnitCount, "")
		}
		for _, u := range in.Result.Unknown {
			add("unknown", u.Metric, nil, "", u.Why)
		}
		for _, n := range in.Result.Notes {
			add("note", string(n.Severity), nil, "", n.Text)
		}
	}
	return out
}
