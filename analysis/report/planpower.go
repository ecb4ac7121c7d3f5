package report

import (
	"fmt"
	"io"

	"github.com/ceteris/ceteris/experiment"
)

// PowerView is what rounds of a matrix can show.
type PowerView struct {
	Name       string
	Metric     experiment.Metric // the primary one, with its scale in the pilot
	Planned    int               // rounds; with a rule, at most
	Stopping   experiment.Stopping
	Confidence float64 // of the intervals as they are reported
	Power      float64
	Effect     float64 // the minimum effect, a fraction or a difference; 0: there is none on this scale
	Width      float64 // half-width that is wanted, likewise
	Pilot      *PowerPilot
	Rows       []PowerRow
	Notes      []string
	Options    Options
}

// PowerPilot is the sweep of which the noise is taken.
type PowerPilot struct {
	ID     int64
	Name   string
	Rounds int
}

// PowerRow is what can be shown of one cell, or, without a pilot, under an assumed noise.
type PowerRow struct {
	Cell    experiment.Cell
	CV      float64 // assumed, of the runs of a cell; 0: of a pilot
	Cells   int     // compared with the same baseline
	N       int     // rounds of the pilot
	SD      float64 // of the rounds' effects
	Upper   float64 // its upper limit, with which everything is planned
	Rounds  int     // that show the minimum effect with the power; 0: more than can be planned
	Shows   float64 // the effect that the planned rounds show with the power; 0: none
	ForWide int     // rounds whose intervals are as narrow as wanted; 0: more than can be planned
	Reason  string  // why nothing is known
}

// Power writes what rounds can show; in csv and json with fractions.
func Power(w io.Writer, v PowerView, f Format) error {
	switch f {
	case Text:
		g := v.grid()
		g.fit(v.Options.width())
		return write(w, wrap(Plain(v.head()), v.Options.width(), "  ")+"\n\n"+g.text()+"\n"+remarksText(v.remarks(), v.Options.width()))
	case Markdown:
		return write(w, "## "+markdown(Plain(v.head()))+"\n\n"+v.grid().markdown()+"\n"+remarksMarkdown(v.remarks()))
	case CSV:
		return Rows(w, []string{"stage", "condition", "cell", "assumed_cv", "cells", "pilot_rounds", "sd", "sd_upper", "rounds_for_power", "planned_rounds", "detectable_effect", "rounds_for_half_width", "reason"},
			each(v.raw()), CSV)
	case JSON:
		return writeJSON(w, v.json())
	default:
		return unknownFormat(f)
	}
}

func (v PowerView) head() string {
	if v.Pilot == nil {
		return fmt.Sprintf("%s: what rounds could show of %s, under assumed noise", v.Name, v.Metric.Name)
	}
	return fmt.Sprintf("%s: what rounds can show of %s, with the noise of sweep %d (%d rounds)", v.Name, v.Metric.Name, v.Pilot.ID, v.Pilot.Rounds)
}

// grid has a line for each cell.
func (v PowerView) grid() *grid {
	g := &grid{columns: []column{
		{title: "cell", label: true},
		{title: "sd", right: true, spare: 1},
		{title: "upper", right: true, spare: 2},
		{title: "rounds for " + v.quantity(v.Effect), right: true},
		{title: fmt.Sprintf("%d rounds show", v.Planned), right: true},
		{title: "rounds for +/-" + v.quantity(v.Width), right: true},
	}}
	if v.Pilot == nil {
		g.columns[0].title, g.columns[1].title, g.columns[2].spare = "CV of the runs", "sd of a ratio", 0
		g.columns = append(g.columns[:2], g.columns[3:]...)
	}
	for _, r := range v.Rows {
		line := []string{v.name(r), v.quantity(r.SD), v.quantity(r.Upper), v.rounds(r, r.Rounds, v.Effect), v.quantity(r.Shows), v.rounds(r, r.ForWide, v.Width)}
		if v.Pilot == nil {
			line = append(line[:2], line[3:]...)
		}
		g.rows = append(g.rows, line)
	}
	return g
}

func (v PowerView) name(r PowerRow) string {
	if v.Pilot == nil {
		return share(r.CV)
	}
	return labelIn(r.Cell, titleOf(r.Cell.Stage, r.Cell.Condition, r.Cell.Stage != experiment.MainStage))
}

// quantity prints an effect or width; 0 is none.
func (v PowerView) quantity(x float64) string {
	switch {
	case x == 0:
		return missing
	case v.Metric.Scale == experiment.ScaleDifference:
		return Quantity(x, v.Metric.Unit)
	default:
		return share(x)
	}
}

func (v PowerView) rounds(r PowerRow, n int, target float64) string {
	switch {
	case r.Reason != "" || target == 0:
		return missing
	case n == 0 || n > experiment.MaxRounds:
		return fmt.Sprintf("over %d", experiment.MaxRounds)
	default:
		return fmt.Sprint(n)
	}
}

func (v PowerView) remarks() []remark {
	level := fmt.Sprintf("%s simultaneous intervals over the cells that are compared with one baseline", share(v.Confidence))
	if v.Stopping.Until != experiment.StopFixed {
		level += fmt.Sprintf(", made stricter since they are looked at until they are %s", v.Stopping.Until)
	}
	how := []string{
		fmt.Sprintf("rounds for %s: the fewest that show a true effect of it with a chance of %s", v.quantity(v.Effect), share(v.Power)),
		fmt.Sprintf("%d rounds show: the true effect that the planned rounds show with a chance of %s", v.Planned, share(v.Power)),
		fmt.Sprintf("rounds for +/-%s: the fewest whose intervals reach at most that to either side", v.quantity(v.Width)),
	}
	noise := "assumed: the CV of the runs of one cell inside a round, the same in all cells and independent; no sweep of this matrix was measured"
	if v.Pilot != nil {
		noise = "sd: of the effect from round to round; planned with its upper 80% limit (upper), for the estimate itself is too small half of the time"
	}
	var unknown []string
	for _, r := range v.Rows {
		if r.Reason != "" {
			unknown = append(unknown, v.name(r)+": "+Plain(r.Reason))
		}
	}
	return filled(
		remark{title: "read as", lines: how, list: true},
		remark{title: "noise", lines: []string{noise}},
		remark{title: "method", lines: []string{level}},
		remark{title: "not known", lines: unknown, list: true},
		remark{title: "notes", lines: v.Notes, list: true},
	)
}

// nonzero is a value that 0 stands for the lack of.
func nonzero[T int | float64](x T) any {
	if x == 0 {
		return nil
	}
	return x
}

func (v PowerView) raw() [][]any {
	var rows [][]any
	for _, r := range v.Rows {
		rows = append(rows, []any{
			r.Cell.Stage, r.Cell.Condition, v.plainName(r), nonzero(r.CV), r.Cells, nonzero(r.N), nonzero(r.SD), nonzero(r.Upper),
			nonzero(r.Rounds), v.Planned, nonzero(r.Shows), nonzero(r.ForWide), r.Reason,
		})
	}
	return rows
}

func (v PowerView) plainName(r PowerRow) string {
	if v.Pilot == nil {
		return ""
	}
	return r.Cell.Label()
}

type powerJSON struct {
	Name          string               `json:"name"`
	Metric        string               `json:"metric"`
	Scale         experiment.Scale     `json:"scale"`
	Rounds        int                  `json:"rounds"` // planned; with a rule, at most
	Stopping      *experiment.Stopping `json:"stopping,omitempty"`
	Confidence    float64              `json:"confidence"`
	Power         float64              `json:"power"`
	MinimumEffect any                  `json:"minimum_effect"`
	HalfWidth     any                  `json:"half_width"` // that is wanted
	Assumed       bool                 `json:"assumed"`    // the noise is; there is no pilot
	Pilot         any                  `json:"pilot"`      // sweep
	PilotRounds   any                  `json:"pilot_rounds"`
	Cells         []powerCellJSON      `json:"cells"`
	Notes         []string             `json:"notes"`
}

type powerCellJSON struct {
	Stage     string `json:"stage,omitempty"`
	Condition string `json:"condition,omitempty"`
	Cell      string `json:"cell,omitempty"`
	CV        any    `json:"assumed_cv,omitempty"`
	Cells     int    `json:"cells"` // compared with the same baseline
	N         any    `json:"pilot_rounds"`
	SD        any    `json:"sd"`
	Upper     any    `json:"sd_upper"`
	Rounds    any    `json:"rounds_for_power"`
	Shows     any    `json:"detectable_effect"`
	ForWide   any    `json:"rounds_for_half_width"`
	Reason    string `json:"reason,omitempty"`
}

func (v PowerView) json() powerJSON {
	out := powerJSON{
		Name: v.Name, Metric: v.Metric.Name, Scale: v.Metric.Scale, Rounds: v.Planned, Confidence: v.Confidence, Power: v.Power,
		MinimumEffect: nonzero(v.Effect), HalfWidth: nonzero(v.Width), Assumed: v.Pilot == nil, Cells: []powerCellJSON{}, Notes: append([]string{}, v.Notes...),
	}
	if v.Stopping.Until != experiment.StopFixed {
		out.Stopping = &v.Stopping
	}
	if v.Pilot != nil {
		out.Pilot, out.PilotRounds = v.Pilot.ID, v.Pilot.Rounds
	}
	for _, r := range v.Rows {
		out.Cells = append(out.Cells, powerCellJSON{
			Stage: r.Cell.Stage, Condition: r.Cell.Condition, Cell: v.plainName(r), CV: nonzero(r.CV), Cells: r.Cells, N: nonzero(r.N),
			SD: nonzero(r.SD), Upper: nonzero(r.Upper), Rounds: nonzero(r.Rounds), Shows: nonzero(r.Shows), ForWide: nonzero(r.ForWide), Reason: r.Reason,
		})
	}
	return out
}
