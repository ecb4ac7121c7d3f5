package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// TrialView is what came of running each cell of a matrix once, briefly.
type TrialView struct {
	Metric   string
	Rows     []TrialRow
	Declared time.Duration // the warm-up of the matrix
	Warmups  []TrialWarmup // of the baseline under each condition; none: no warm-up was looked for
	Blind    bool          // because no baseline gave a valid run
	Options  Options
}

// TrialRow is one run of a trial.
type TrialRow struct {
	Cell      experiment.Cell
	State     experiment.RunState
	Reason    string
	Ready     float64 // seconds that the slowest service took
	Value     float64 // of the primary metric
	HasValue  bool
	Errors    float64 // share
	HasErrors bool
	Findings  []string // warnings and worse
}

// TrialWarmup is how long a baseline took to become steady.
type TrialWarmup struct {
	Condition string
	Window    time.Duration // that was looked at
	Needed    time.Duration
	Steady    bool // false: it did not become steady, or too few slices to tell
}

// Failed names the cells that gave no valid run.
func (v TrialView) Failed() []string {
	var out []string
	for _, r := range v.Rows {
		if r.State != experiment.StateOK {
			out = append(out, r.name())
		}
	}
	return out
}

func (r TrialRow) name() string {
	name := r.Cell.Label()
	if r.Cell.Condition != "" {
		name += " at " + r.Cell.Condition
	}
	if r.Cell.Stage != experiment.MainStage {
		name = r.Cell.Stage + ": " + name
	}
	return Plain(name)
}

// Proposed is the common warm-up: the longest that a baseline needs, in whole steps of
// half a second. ok is false where one of them did not become steady.
func (v TrialView) Proposed() (warmup time.Duration, ok bool) {
	const step = 500 * time.Millisecond
	for _, w := range v.Warmups {
		warmup = max(warmup, w.Needed)
	}
	warmup = (warmup + step - 1) / step * step
	return warmup, !slices.ContainsFunc(v.Warmups, func(w TrialWarmup) bool { return !w.Steady })
}

// Trial writes what a trial has shown.
func Trial(w io.Writer, v TrialView, f Format) error {
	head := []string{"stage", "condition", "cell", "state", "reason", "ready_seconds", "value", "error_rate", "findings"}
	switch f {
	case Text, Markdown:
		return write(w, v.people(f))
	case CSV, JSON:
		return Rows(w, head, each(v.raw()), f)
	default:
		return unknownFormat(f)
	}
}

func (v TrialView) people(f Format) string {
	g := v.grid()
	g.fit(v.Options.width())
	var b strings.Builder
	if f == Markdown {
		b.WriteString(g.markdown() + "\n")
		for _, line := range v.lines() {
			b.WriteString("- " + markdown(Plain(line)) + "\n")
		}
		return b.String()
	}
	b.WriteString("trial, each cell once and briefly; nothing is kept:\n\n" + g.text() + "\n")
	for _, line := range v.lines() {
		b.WriteString(wrap(Plain(line), v.Options.width(), "  ") + "\n")
	}
	return b.String()
}

func (v TrialView) grid() *grid {
	g := &grid{columns: []column{
		{title: "cell", label: true},
		{title: "state"},
		{title: "ready s", right: true, spare: 1},
		{title: v.Metric, right: true},
		{title: "err %", right: true, spare: 2},
	}}
	metric, _ := experiment.MetricByName(v.Metric)
	for _, r := range v.Rows {
		value, errors := "-", "-"
		if r.HasValue {
			value = Quantity(r.Value, metric.Unit)
		}
		if r.HasErrors {
			errors = trimZeros(fixed(100*r.Errors, 1))
		}
		g.rows = append(g.rows, []string{r.name(), string(r.State), fixed(r.Ready, 2), value, errors})
	}
	return g
}

func (v TrialView) raw() [][]any {
	var out [][]any
	for _, r := range v.Rows {
		row := []any{r.Cell.Stage, r.Cell.Condition, r.Cell.Label(), string(r.State), r.Reason, r.Ready, nil, nil, strings.Join(r.Findings, "; ")}
		if r.HasValue {
			row[6] = r.Value
		}
		if r.HasErrors {
			row[7] = r.Errors
		}
		out = append(out, row)
	}
	return out
}

// lines says what the table does not: what went wrong, and the warm-up.
func (v TrialView) lines() []string {
	var out []string
	for _, r := range v.Rows {
		explained := slices.ContainsFunc(r.Findings, func(f string) bool { return strings.HasPrefix(f, r.Reason+": ") })
		if r.Reason != "" && !explained {
			out = append(out, fmt.Sprintf("%s: %s", r.name(), Plain(r.Reason)))
		}
		for _, f := range r.Findings {
			out = append(out, fmt.Sprintf("%s: %s", r.name(), Plain(f)))
		}
	}
	if v.Blind {
		return append(out, "warm-up: not looked for, since the baseline gave no valid run")
	}
	if len(v.Warmups) == 0 {
		return out
	}
	window := v.Warmups[0].Window
	proposed, ok := v.Proposed()
	switch {
	case !ok:
		out = append(out, fmt.Sprintf("warm-up: the baseline was not steady within %s: look at what grows, or run longer", Duration(window)))
	case proposed > v.Declared:
		out = append(out, fmt.Sprintf("warm-up: %s is needed (MSER-5 on %s of the baseline), the matrix has %s: write warmup: %s", Duration(proposed), Duration(window), Duration(v.Declared), proposed))
	default:
		out = append(out, fmt.Sprintf("warm-up: %s would do (MSER-5 on %s of the baseline), the matrix has %s", Duration(proposed), Duration(window), Duration(v.Declared)))
	}
	return out
}
