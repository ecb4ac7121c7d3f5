package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// PlanView is what a run of a matrix would do.
type PlanView struct {
	Matrix    *experiment.Matrix // resolved for its runner
	Cells     []experiment.Cell
	Placement experiment.Placement
	Duration  time.Duration // expected, all rounds
	DiskBytes int64         // expected growth of the database
	Warnings  []string
	Order     []experiment.Run // all rounds, as they will run
	Hash      string
	Options   Options
}

// Plan writes a plan; in csv the runs in their order.
func Plan(w io.Writer, v PlanView, f Format) error {
	if v.Matrix == nil {
		v.Matrix = &experiment.Matrix{}
	}
	switch f {
	case Text:
		return write(w, v.text())
	case Markdown:
		return write(w, v.markdown())
	case CSV:
		return Rows(w, []string{"seq", "round", "stage", "condition", "role", "factor", "level"}, each(v.rows()), CSV)
	case JSON:
		return writeJSON(w, v.json())
	default:
		return unknownFormat(f)
	}
}

func (v PlanView) cell(k experiment.CellKey) experiment.Cell {
	for _, c := range v.Cells {
		if c.Key == k {
			return c
		}
	}
	return experiment.Cell{Key: k}
}

func (v PlanView) head() []string {
	title := v.Matrix.Name
	if v.Matrix.Question != "" {
		title += ": " + v.Matrix.Question
	}
	return []string{title, fmt.Sprintf("%d cells x %d rounds = %d runs, runner %s, seed %d, hash %s",
		len(v.Cells), v.Matrix.Repeat.Rounds, len(v.Order), v.Matrix.Runner, v.Matrix.Repeat.Seed, shortHash(v.Hash))}
}

func (v PlanView) grid() *grid {
	g := &grid{columns: []column{{title: "factor"}, {title: "baseline"}, {title: "other levels"}, {title: "unit"}}}
	for _, f := range v.Matrix.Factors {
		base, others := missing, []string{}
		for i, l := range f.Levels {
			if i == f.Baseline {
				base = levelText(l)
			} else {
				others = append(others, levelText(l))
			}
		}
		g.rows = append(g.rows, []string{Plain(f.Name), base, strings.Join(others, ", "), Plain(f.Unit)})
	}
	return g
}

func levelText(l experiment.Level) string {
	if l.Text == "" {
		return `""`
	}
	return short(Plain(l.Text), maxLabel)
}

func (v PlanView) remarks() []remark {
	p := v.Placement
	placed := fmt.Sprintf("subject %s, backing %s, generator %s, conductor %s", cores(p.Subject), cores(p.Backing), cores(p.Load), cores(p.Conductor))
	if p.Reason != "" {
		placed += " (" + p.Reason + ")"
	}
	return filled(
		remark{title: "load", lines: []string{v.load()}},
		remark{title: "cores", lines: []string{placed}},
		remark{title: "expected", lines: []string{Duration(v.Duration) + ", " + Quantity(float64(v.DiskBytes), experiment.UnitBytes) + " in the database"}},
		remark{title: "order", lines: v.order(), list: true},
		remark{title: "warnings", lines: v.Warnings, list: true},
	)
}

func cores(c experiment.CoreSet) string {
	if len(c) == 0 {
		return "not pinned"
	}
	return c.String()
}

func (v PlanView) load() string {
	l := v.Matrix.Load
	shape := "none"
	switch {
	case l.Closed != nil:
		shape = l.Closed.Users.String() + " users"
	case l.Open != nil:
		shape = l.Open.Rate.String() + " with at most " + l.Open.InFlight.String() + " in flight"
	}
	return fmt.Sprintf("%s %s to %s:%d, %s, ramp %s, warm-up %s, window %s", l.Requests[0].Method, l.Requests[0].Path, l.Service, l.Port, shape, l.Ramp, l.Warmup.For, l.Measure.For)
}

// order gives one line a round.
func (v PlanView) order() []string {
	var lines []string
	round := 0
	for _, run := range v.Order {
		if run.Round != round || len(lines) == 0 {
			round = run.Round
			lines = append(lines, fmt.Sprintf("round %d: ", round))
		} else {
			lines[len(lines)-1] += ", "
		}
		lines[len(lines)-1] += v.label(run.Cell)
	}
	return lines
}

func (v PlanView) label(k experiment.CellKey) string {
	if c := v.cell(k); c.Role != "" {
		return fullLabel(c)
	}
	return Plain(string(k))
}

func (v PlanView) text() string {
	var b strings.Builder
	for _, line := range v.head() {
		b.WriteString(wrap(Plain(line), v.Options.width(), "  ") + "\n")
	}
	if len(v.Matrix.Factors) > 0 {
		b.WriteString("\n" + v.grid().text())
	}
	b.WriteString("\n" + remarksText(v.remarks(), v.Options.width()))
	return b.String()
}

func (v PlanView) markdown() string {
	var b strings.Builder
	head := v.head()
	b.WriteString("## " + markdown(head[0]) + "\n\n" + markdown(head[1]) + "\n\n")
	if len(v.Matrix.Factors) > 0 {
		b.WriteString(v.grid().markdown() + "\n")
	}
	b.WriteString(remarksMarkdown(v.remarks()))
	return b.String()
}

func (v PlanView) rows() [][]any {
	var rows [][]any
	for i, run := range v.Order {
		c := v.cell(run.Cell)
		rows = append(rows, []any{i + 1, run.Round, c.Stage, c.Condition, string(c.Role), c.Factor, c.Level})
	}
	return rows
}

type planJSON struct {
	Name            string               `json:"name"`
	Question        string               `json:"question"`
	Runner          string               `json:"runner"`
	Hash            string               `json:"hash"`
	Seed            uint64               `json:"seed"`
	Rounds          int                  `json:"rounds"`
	Cells           []planCellJSON       `json:"cells"`
	Order           []planRunJSON        `json:"order"`
	Placement       experiment.Placement `json:"placement"`
	DurationSeconds float64              `json:"duration_seconds"`
	DiskBytes       int64                `json:"disk_bytes"`
	Warnings        []string             `json:"warnings"`
}

type planCellJSON struct {
	Stage     string               `json:"stage"`
	Condition string               `json:"condition"`
	Role      string               `json:"role"`
	Label     string               `json:"label"`
	Settings  []experiment.Setting `json:"settings"`
}

type planRunJSON struct {
	Round     int    `json:"round"`
	Cell      string `json:"cell"` // its label
	Condition string `json:"condition,omitempty"`
}

func (v PlanView) json() planJSON {
	m := v.Matrix
	out := planJSON{
		Name: m.Name, Question: m.Question, Runner: m.Runner, Hash: v.Hash, Seed: m.Repeat.Seed, Rounds: m.Repeat.Rounds,
		Cells: []planCellJSON{}, Order: []planRunJSON{}, Placement: v.Placement, DurationSeconds: v.Duration.Seconds(), DiskBytes: v.DiskBytes,
		Warnings: append([]string{}, v.Warnings...),
	}
	for _, c := range v.Cells {
		out.Cells = append(out.Cells, planCellJSON{
			Stage: c.Stage, Condition: c.Condition, Role: string(c.Role), Label: c.Label(),
			Settings: append([]experiment.Setting{}, c.Settings...),
		})
	}
	for _, run := range v.Order {
		j := planRunJSON{Round: run.Round, Cell: string(run.Cell)}
		if c := v.cell(run.Cell); c.Role != "" {
			j.Cell, j.Condition = c.Label(), c.Condition
		}
		out.Order = append(out.Order, j)
	}
	return out
}
