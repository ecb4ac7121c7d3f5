package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// SweepLine is a sweep in a list.
type SweepLine struct {
	ID         int64
	Name       string
	Hash       string
	Runner     string
	RoundsDone int
	Rounds     int // planned
	Runs       int // that count
	State      string
	Began      time.Time
	ETA        time.Duration // still to go; 0 if unknown or nothing is left
	Cells      int           // of all stages and conditions
	Stages     int           // 0 and 1: there is only one
	Conditions int           // 0 and 1: there is only one
}

// List writes sweeps, in the order given.
func List(w io.Writer, sweeps []SweepLine, f Format, o Options) error {
	if f == CSV || f == JSON {
		return Rows(w, []string{"id", "name", "hash", "runner", "rounds_done", "rounds", "runs", "state", "stopped_by_hand", "began", "eta_seconds", "cells", "stages", "conditions"}, listRows(sweeps), f)
	}
	g := &grid{columns: []column{
		{title: "id", right: true},
		{title: "name", label: true},
		{title: "hash", spare: 2},
		{title: "runner", spare: 3},
		{title: "rounds", right: true},
		{title: "runs", right: true},
		{title: "state"},
		{title: "began", spare: 1},
		{title: "left", right: true},
		{title: "cells", spare: 4},
	}}
	for _, s := range sweeps {
		g.rows = append(g.rows, []string{
			fmt.Sprint(s.ID), short(Plain(s.Name)), Plain(shortHash(s.Hash)), Plain(s.Runner),
			fmt.Sprintf("%d of %d", s.RoundsDone, s.Rounds), fmt.Sprint(s.Runs), Plain(s.stateText()), began(s.Began), left(s.ETA), s.cells(),
		})
	}
	switch {
	case f != Text && f != Markdown:
		return unknownFormat(f)
	case len(sweeps) == 0:
		return write(w, "no sweeps\n")
	case f == Markdown:
		return write(w, g.markdown())
	default:
		g.fit(o.width())
		return write(w, g.text())
	}
}

// halted reports whether the sweep was stopped by hand and waits for more rounds.
func (s SweepLine) halted() bool { return byHand(s.State) && s.RoundsDone < s.Rounds }

func (s SweepLine) stateText() string {
	if s.halted() {
		return stoppedState(s.State)
	}
	return s.State
}

// cells counts them, and says what they are spread over.
func (s SweepLine) cells() string {
	over := []string{fmt.Sprint(s.Cells)}
	if s.Stages > 1 {
		over = append(over, fmt.Sprintf("%d stages", s.Stages))
	}
	if s.Conditions > 1 {
		over = append(over, fmt.Sprintf("%d conditions", s.Conditions))
	}
	return strings.Join(over, ", ")
}

func listRows(sweeps []SweepLine) func(yield func([]any, error) bool) {
	rows := make([][]any, len(sweeps))
	for i, s := range sweeps {
		rows[i] = []any{s.ID, s.Name, s.Hash, s.Runner, s.RoundsDone, s.Rounds, s.Runs, s.State, s.halted(), moment(s.Began), seconds(s.ETA), s.Cells, max(s.Stages, 1), max(s.Conditions, 1)}
	}
	return each(rows)
}

// each gives rows that are at hand.
func each(rows [][]any) func(yield func([]any, error) bool) {
	return func(yield func([]any, error) bool) {
		for row := range slices.Values(rows) {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

func seconds(d time.Duration) any {
	if d <= 0 {
		return nil
	}
	return d.Seconds()
}

// began prints a moment for people, in the zone that it carries.
func began(t time.Time) string {
	if t.IsZero() {
		return missing
	}
	return t.Format("2006-01-02 15:04")
}

func left(d time.Duration) string {
	if d <= 0 {
		return missing
	}
	return Duration(d)
}

// shortHash is enough to name a sweep on a command line.
func shortHash(h string) string { return h[:min(len(h), 12)] }
