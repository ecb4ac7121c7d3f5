package report

import (
	"slices"
	"strings"
)

// part is a table with its title, which may be empty, and what is said below it.
type part struct {
	title string
	table *grid
	lines []string
}

// partsText fits the tables into the width, and names the columns that are left out.
func partsText(all []part, width int) string {
	var b strings.Builder
	var left []string
	for _, p := range all {
		if title := Plain(p.title); title != "" {
			b.WriteString(wrap(title+":", width, "  ") + "\n")
		}
		for _, column := range p.table.fit(width) {
			if !slices.Contains(left, column) {
				left = append(left, column)
			}
		}
		b.WriteString(p.table.text())
		for _, line := range p.lines {
			b.WriteString(wrap(Plain(line), width, "  ") + "\n")
		}
		b.WriteByte('\n')
	}
	if len(left) > 0 {
		b.WriteString(wrap("left out, too wide: "+strings.Join(left, ", "), width, "  ") + "\n")
	}
	return b.String()
}

func partsMarkdown(all []part) string {
	var b strings.Builder
	for _, p := range all {
		if p.title != "" {
			b.WriteString("### " + markdown(p.title) + "\n\n")
		}
		b.WriteString(p.table.markdown() + "\n")
		for _, line := range p.lines {
			b.WriteString(markdown(line) + "\n\n")
		}
	}
	return b.String()
}
