package report

import (
	"fmt"
	"slices"
	"strings"
)

// Format is how a table is written.
type Format string

// The formats.
const (
	Text     Format = "text"
	Markdown Format = "md"
	CSV      Format = "csv"
	JSON     Format = "json"
)

// Formats lists them, the default first.
func Formats() []Format { return []Format{Text, Markdown, CSV, JSON} }

// ParseFormat reads the name of a format.
func ParseFormat(s string) (Format, error) {
	if f := Format(s); slices.Contains(Formats(), f) {
		return f, nil
	}
	names := make([]string, 0, len(Formats()))
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	return "", fmt.Errorf("%q is no format (%s)", s, strings.Join(names, ", "))
}

// Options are about text only.
type Options struct {
	Color bool // verdicts in colour
	Width int  // of the terminal in columns; 0 means 120
}

const defaultWidth = 120

func (o Options) width() int {
	if o.Width <= 0 {
		return defaultWidth
	}
	return o.Width
}

func unknownFormat(f Format) error {
	_, err := ParseFormat(string(f))
	return err
}
