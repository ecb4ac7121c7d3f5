//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// String is the median, and what it lies between.
func (s spread) String() string { return s.format("%.2f") }

// exact is String of shares near one.
func (s spread) exact() string { return s.format("%.4f") }

func (s spread) format(one string) string {
	return fmt.Sprintf(one+" ("+one+" to "+one+", n=%d)", s.Median, s.Min, s.Max, s.N)
}

// milliseconds is String of seconds.
func (s spread) milliseconds() string {
	return fmt.Sprintf("%s (%s to %s, n=%d) ms", short(1000*s.Median), short(1000*s.Min), short(1000*s.Max), s.N)
}

func (s spread) scaled(by float64) spread {
	return spread{N: s.N, Median: by * s.Median, Min: by * s.Min, Max: by * s.Max}
}

// milliseconds is a time in seconds.
func milliseconds(seconds float64) string { return short(1000*seconds) + " ms" }

// short is a number in three digits, or all those before the point.
func short(v float64) string {
	if math.Abs(v) >= 100 {
		return whole(v)
	}
	return fmt.Sprintf("%.3g", v)
}

// print writes the outcome.
func (o Outcome) print(w io.Writer, format string) error {
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(o)
	}
	if _, err := fmt.Fprintf(w, "%s\n\n", o.Host); err != nil {
		return err
	}
	for _, t := range o.tables() {
		text := t.Render()
		if format == "md" {
			text = t.RenderMarkdown()
		}
		if _, err := fmt.Fprintf(w, "%s\n\n", text); err != nil {
			return err
		}
	}
	return nil
}

func (o Outcome) tables() []table.Writer {
	var out []table.Writer
	if len(o.Closed) > 0 {
		out = append(out, costTable(fmt.Sprintf("Closed, %d connections", connections), o.Closed))
	}
	if o.Open != nil {
		if len(o.Open.Costs) > 0 {
			out = append(out, costTable("Open", o.Open.Costs))
		}
		out = append(out, paceTable(o.Open.Paces))
	}
	if o.Stall != nil {
		out = append(out, stallTable(*o.Stall))
	}
	return append(out, goalTable(o.Goals))
}

func newTable(title string, header ...any) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = 0 // as it is written
	t.SetTitle(title)
	t.AppendHeader(header)
	return t
}

// costTable shows requests by processor time; rates where there are any.
func costTable(title string, costs []Comparison) table.Writer {
	t := newTable(title, "rate", "peer", ours+" / peer, requests by processor time", "requests by CPU second: "+ours, "peer", "requests a second: "+ours, "peer")
	for _, c := range costs {
		rate := "-"
		if c.Rate > 0 {
			rate = fmt.Sprint(c.Rate)
		}
		t.AppendRow(table.Row{rate, c.Peer, c.Ratio, whole(c.Ours.PerCPU), whole(c.Theirs.PerCPU), whole(c.Ours.Rate), whole(c.Theirs.Rate)})
	}
	return t
}

func whole(v float64) string { return fmt.Sprintf("%.0f", v) }

func paceTable(paces []Pace) table.Writer {
	t := newTable("Open, at the target", "rate", "tool", "achieved / offered", "lateness p99", "share bunched")
	for _, p := range paces {
		share := "-"
		if resolved(p.Rate) {
			share = p.Bunched.String()
		}
		t.AppendRow(table.Row{p.Rate, p.Tool, p.Achieved.exact(), p.Lateness.milliseconds(), share})
	}
	return t
}

func stallTable(s Stalls) table.Writer {
	header := []any{"tool", "requests", "it says"}
	for _, name := range told() {
		header = append(header, name+": true", "said")
	}
	t := newTable(fmt.Sprintf("A stall of %s in %s at %d/s", stallLength, stallWindow, stallRate), header...)
	for _, one := range s.Tools {
		row := table.Row{one.Tool, one.Requests, strings.ReplaceAll(one.Of, "_", " ")}
		for _, name := range told() {
			said := "unknown"
			if v, ok := one.Says[name]; ok {
				said = milliseconds(v)
			}
			row = append(row, milliseconds(one.Truth[name]), said)
		}
		t.AppendRow(row)
	}
	return t
}

func goalTable(goals []Goal) table.Writer {
	t := newTable("Goals", "what", "goal", "measured", "")
	for _, g := range goals {
		verdict := "missed"
		switch {
		case g.Met:
			verdict = "met"
		case g.Measured == notMeasured:
			verdict = "-"
		}
		t.AppendRow(table.Row{g.Name, g.Want, g.Measured, verdict})
	}
	return t
}
