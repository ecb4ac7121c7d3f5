package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
)

// closing is what a call of run has come to: at most ten lines for whoever comes
// back in the morning.
type closing struct {
	turns    []*turn
	took     time.Duration
	database string // its path, absolute
	next     string // the command to go on with; empty if nothing is left
}

// turn is one matrix of a call of run, or one stage of its peel, and what became of it.
type turn struct {
	file, name string
	matrix     *experiment.Matrix // that is measured; of a peel, that of the stage
	peel       peeled
	begun      bool
	sweep      int64 // 0: none was begun
	runs       tally // of this call
	rounds     int   // of the sweep, complete
	planned    int   // rounds
	lacking    []string
	suspended  []string
	why        string // it ended before it was done, or is no success; empty if all is well
}

// done reports whether every planned round is complete. A sweep whose results could not
// be read is not.
func (t *turn) done() bool { return t.sweep != 0 && t.planned > 0 && t.rounds >= t.planned }

// read takes from a stored sweep what is said about it.
func (t *turn) read(s experiment.Sweep, r experiment.Results, ended conduct.Ending) {
	t.rounds, t.planned = r.RoundsDone, cmp.Or(r.Planned, s.Rounds)
	t.lacking, t.suspended = gaps(s, ended == conduct.EndedDone || ended == conduct.EndedUntil)
}

// maxTurns is how many matrices have a line of their own.
const maxTurns = 6

// lines gives the text, ten lines at most.
func (c closing) lines() []string {
	var out []string
	if len(c.turns) > 1 {
		out = append(out, c.head())
	}
	var runs tally
	for _, t := range c.turns {
		runs.merge(t.runs)
	}
	out = append(out, "runs of this call: "+runs.String())
	if len(c.turns) == 1 {
		out[0] += ", in " + report.Duration(c.took)
	}
	if len(c.turns) <= maxTurns {
		for _, t := range c.turns {
			out = append(out, t.String())
		}
	} else {
		out = append(out, c.grouped()...)
	}
	out = append(out, fmt.Sprintf("database %s, log %s", c.database, logOf(c.database)))
	if c.next != "" {
		out = append(out, "to go on: "+c.next)
	}
	return out
}

// The outcomes of a turn, the best first.
const (
	outcomeDone    = "done"
	outcomeGaps    = "done with gaps"
	outcomePartly  = "partly done"
	outcomeNoRun   = "without a run"
	outcomeUnbegun = "not begun"
)

// outcome says in a word what became of the turn.
func (t *turn) outcome() string {
	switch {
	case !t.begun:
		return outcomeUnbegun
	case t.sweep == 0:
		return outcomeNoRun
	case !t.done():
		return outcomePartly
	case t.why != "" || len(t.lacking) > 0:
		return outcomeGaps
	default:
		return outcomeDone
	}
}

// head counts the turns by what became of them.
func (c closing) head() string {
	var parts []string
	for _, outcome := range []string{outcomeDone, outcomeGaps, outcomePartly, outcomeNoRun, outcomeUnbegun} {
		if n := len(c.with(outcome)); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	of := "matrices"
	if slices.ContainsFunc(c.turns, func(t *turn) bool { return t.peel.stage > 0 }) {
		of = "stages"
	}
	return fmt.Sprintf("%d %s in %s: %s", len(c.turns), of, report.Duration(c.took), strings.Join(parts, ", "))
}

// with gives the turns with one of some outcomes, in their order.
func (c closing) with(outcomes ...string) []*turn {
	var out []*turn
	for _, t := range c.turns {
		if slices.Contains(outcomes, t.outcome()) {
			out = append(out, t)
		}
	}
	return out
}

// grouped gives six lines at most for many matrices: of those that want attention,
// the first three have their own.
func (c closing) grouped() []string {
	var out []string
	if done := c.with(outcomeDone); len(done) > 0 {
		out = append(out, "done: "+some(each(done, (*turn).title), 8))
	}
	odd := c.with(outcomeGaps, outcomePartly, outcomeNoRun)
	own := min(len(odd), 3)
	out = append(out, each(odd[:own], (*turn).String)...)
	if rest := odd[own:]; len(rest) > 0 {
		out = append(out, "nor are done without gaps: "+some(each(rest, (*turn).title), 8))
	}
	if unbegun := c.with(outcomeUnbegun); len(unbegun) > 0 {
		out = append(out, "not begun, "+unbegun[0].why+": "+some(each(unbegun, (*turn).title), 8))
	}
	return out
}

func each[T any](all []T, text func(T) string) []string {
	out := make([]string, len(all))
	for i, x := range all {
		out[i] = text(x)
	}
	return out
}

func (t *turn) title() string {
	if t.sweep == 0 {
		return t.name
	}
	return fmt.Sprintf("%s (sweep %d)", t.name, t.sweep)
}

// String gives the turn's line.
func (t *turn) String() string {
	var parts []string
	switch {
	case !t.begun:
		parts = append(parts, "not begun")
	case t.sweep == 0:
		parts = append(parts, "no run was begun")
	default:
		parts = append(parts, fmt.Sprintf("%d of %d rounds", t.rounds, t.planned))
	}
	if t.why != "" {
		parts = append(parts, t.why)
	}
	if len(t.lacking) > 0 {
		parts = append(parts, "lacking: "+some(t.lacking, 3))
	}
	if len(t.suspended) > 0 {
		parts = append(parts, "suspended: "+some(t.suspended, 3))
	}
	return t.title() + ": " + strings.Join(parts, "; ")
}

// some names the first of many.
func some(all []string, most int) string {
	if len(all) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}
