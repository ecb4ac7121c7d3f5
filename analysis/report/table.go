package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// grid is a table for people.
type grid struct {
	columns    []column
	rows       [][]string
	namesFirst bool // for want of width, names are shortened before a column is left out
}

type column struct {
	title string
	right bool // aligned right
	spare int  // left out for want of width, highest first; 0 = never
	label bool // names that may be shortened, once nothing is left to leave out
}

const gap = "  "

// shortest is to what names are shortened for want of width. Numbers never are.
const shortest = 12

// fit leaves out columns until the table is no wider than width, and names them. If
// that is not enough it shortens names.
func (g *grid) fit(width int) (left []string) {
	if g.namesFirst {
		g.shorten(g.width() - width)
	}
	for g.width() > width {
		worst := -1
		for i, c := range g.columns {
			if c.spare > 0 && (worst < 0 || c.spare > g.columns[worst].spare) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		left = append(left, g.columns[worst].title)
		g.columns = append(g.columns[:worst:worst], g.columns[worst+1:]...)
		for r, row := range g.rows {
			g.rows[r] = append(row[:worst:worst], row[worst+1:]...)
		}
	}
	g.shorten(g.width() - width)
	return left
}

// shorten takes letters out of the middle of names, the last ones being what tells
// them apart.
func (g *grid) shorten(excess int) {
	for i, c := range g.columns {
		if !c.label || excess <= 0 {
			continue
		}
		widest := 0
		for _, row := range g.rows {
			widest = max(widest, len([]rune(row[i])))
		}
		for _, row := range g.rows {
			row[i] = middle(row[i], max(widest-excess, shortest))
		}
	}
}

// middle cuts text in its middle to at most n characters.
func middle(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	head := (n - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}

func (g *grid) width() int {
	total := len(gap) * max(len(g.columns)-1, 0)
	for i, c := range g.columns {
		w := text.StringWidthWithoutEscSequences(c.title)
		for _, row := range g.rows {
			w = max(w, text.StringWidthWithoutEscSequences(row[i]))
		}
		total += w
	}
	return total
}

// text renders without borders. Cells must be free of control characters, apart
// from our own colours.
func (g *grid) text() string {
	t := g.writer(func(s string) string { return s })
	style := table.StyleDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", gap
	style.Box.MiddleHorizontal = "-"
	style.Box.UnfinishedRow = ""
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format = table.FormatOptions{}
	t.SetStyle(style)
	lines := strings.Split(t.Render(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// markdown renders a GitHub table; all cells are escaped.
func (g *grid) markdown() string {
	if len(g.columns) == 0 {
		return ""
	}
	return g.writer(markdown).RenderMarkdown() + "\n"
}

func (g *grid) writer(escape func(string) string) table.Writer {
	t := table.NewWriter()
	header := make(table.Row, len(g.columns))
	configs := make([]table.ColumnConfig, len(g.columns))
	for i, c := range g.columns {
		header[i] = escape(c.title)
		align := text.AlignLeft
		if c.right {
			align = text.AlignRight
		}
		configs[i] = table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align}
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(configs)
	for _, r := range g.rows {
		row := make(table.Row, len(r))
		for i, s := range r {
			row[i] = escape(s)
		}
		t.AppendRow(row)
	}
	return t
}

// wrap breaks a line at spaces, so that no part is longer than width, and
// indents all parts but the first.
func wrap(line string, width int, indent string) string {
	var out, current strings.Builder
	length := 0
	for word := range strings.FieldsSeq(line) {
		w := text.StringWidthWithoutEscSequences(word)
		if length > 0 && length+1+w > width {
			out.WriteString(current.String() + "\n")
			current.Reset()
			current.WriteString(indent)
			length = len(indent)
		} else if length > 0 {
			current.WriteByte(' ')
			length++
		}
		current.WriteString(word)
		length += w
	}
	return out.String() + current.String()
}
