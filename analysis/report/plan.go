package report

import (
	"cmp"
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
	Least     time.Duration // expected, if a rule is met at its first look; 0: as Duration
	DiskBytes int64         // expected growth of the database
	Basis     string        // what both rest on
	Cut       *Cut          // nil: nothing would cut it
	Warnings  []string
	Order     []experiment.Run // all rounds, as they will run
	Hash      string
	Options   Options
}

// Cut is the one change to a matrix that would shorten it most.
type Cut struct {
	Change   string // as in: 3 rounds instead of 5
	Duration time.Duration
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
	return []string{title, fmt.Sprintf("%d cells x %s%d rounds = %s%d runs, runner %s, seed %d, hash %s",
		len(v.Cells), v.atMost(), v.Matrix.Repeat.Rounds, v.atMost(), len(v.Order), v.Matrix.Runner, v.Matrix.Repeat.Seed, shortHash(v.Hash))}
}

// atMost stands before what a rule may make less.
func (v PlanView) atMost() string {
	if v.Matrix.Repeat.Until == experiment.StopFixed {
		return ""
	}
	return "at most "
}

// stopping says by what rule rounds are enough.
func (v PlanView) stopping() []string {
	r, metric := v.Matrix.Repeat, Plain(v.Matrix.Judge.Metric)
	switch r.Until {
	case experiment.StopPrecise:
		within := cmp.Or(r.Within, v.Matrix.Judge.MinimumEffect)
		return []string{fmt.Sprintf("until every interval of %s reaches at most %s to either side, looked at after each from round %d on",
			metric, Quantity(within, experiment.UnitRatio), experiment.FirstLook)}
	case experiment.StopDecided:
		var looks []string
		for n := range r.AtMost + 1 {
			if r.Due(n) {
				looks = append(looks, fmt.Sprint(n))
			}
		}
		return []string{fmt.Sprintf("until no verdict on %s is inconclusive, looked at after round %s", metric, strings.Join(looks, ", "))}
	default:
		return nil
	}
}

// factors is the table of what is varied.
func (v PlanView) factors() *grid {
	g := &grid{columns: []column{{title: "factor"}, {title: "baseline"}, {title: "other levels", label: true}, {title: "unit", spare: 1}}}
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
	return short(Plain(l.Text))
}

func (v PlanView) remarks() []remark {
	p := v.Placement
	placed := fmt.Sprintf("subject %s, backing %s, generator %s, conductor %s", cores(p.Subject), cores(p.Backing), cores(p.Load), cores(p.Conductor))
	if p.Reason != "" {
		placed += " (" + p.Reason + ")"
	}
	expected := Duration(v.Duration) + ", " + v.atMost() + Quantity(float64(v.DiskBytes), experiment.UnitBytes) + " in the database"
	if v.Least > 0 && v.Least < v.Duration {
		expected = Duration(v.Least) + " to " + expected
	}
	if v.Basis != "" {
		expected += " (" + v.Basis + ")"
	}
	var cut []string
	if v.Cut != nil {
		cut = []string{v.Cut.Change + ", then " + Duration(v.Cut.Duration)}
	}
	return filled(
		remark{title: "design", lines: v.design()},
		remark{title: "load", lines: v.load()},
		remark{title: "rounds", lines: v.stopping()},
		remark{title: "cores", lines: []string{placed}},
		remark{title: "expected", lines: []string{expected}},
		remark{title: "would cut it most", lines: cut},
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

// shownRuns bounds the order for people; csv and json hold all of it.
const shownRuns = 40

// order gives one line a round.
func (v PlanView) order() []string {
	var lines []string
	var last experiment.Cell
	round, stages, shown := 0, manyStages(v.Cells), 0
	for i, run := range v.Order {
		c := v.cell(run.Cell)
		if run.Round != round || c.Stage != last.Stage || len(lines) == 0 {
			if shown >= shownRuns {
				return append(lines, fmt.Sprintf("and %d more runs", len(v.Order)-i))
			}
			round, last = run.Round, c
			line := fmt.Sprintf("round %d: ", round)
			if stages {
				line = "stage " + c.Stage + ", " + line
			}
			lines = append(lines, line)
		} else {
			lines[len(lines)-1] += ", "
		}
		lines[len(lines)-1] += v.label(c)
		shown++
	}
	return lines
}

// label names a cell inside its stage.
func (v PlanView) label(c experiment.Cell) string {
	if c.Role == "" {
		return Plain(string(c.Key))
	}
	return labelIn(c, c.Condition)
}

func (v PlanView) text() string {
	var b strings.Builder
	width := v.Options.width()
	for _, line := range v.head() {
		b.WriteString(wrap(Plain(line), width, "  ") + "\n")
	}
	for _, g := range v.grids() {
		g.fit(width)
		b.WriteString("\n" + g.text())
	}
	b.WriteString("\n" + remarksText(v.remarks(), width))
	return b.String()
}

func (v PlanView) markdown() string {
	var b strings.Builder
	head := v.head()
	b.WriteString("## " + markdown(head[0]) + "\n\n" + markdown(head[1]) + "\n\n")
	for _, g := range v.grids() {
		b.WriteString(g.markdown() + "\n")
	}
	b.WriteString(remarksMarkdown(v.remarks()))
	return b.String()
}

// grids are the tables of a plan: what is varied, and where there are several
// families the cells of each.
func (v PlanView) grids() []*grid {
	var all []*grid
	if len(v.Matrix.Factors) > 0 {
		all = append(all, v.factors())
	}
	if families := v.families(); len(families) > 1 {
		all = append(all, v.counts(families))
	}
	return all
}

func (v PlanView) rows() [][]any {
	var rows [][]any
	for i, run := range v.Order {
		c := v.cell(run.Cell)
		rows = append(rows, []any{i + 1, run.Round, c.Stage, c.Condition, string(c.Role), c.Factor, c.Level})
	}
	return rows
}
