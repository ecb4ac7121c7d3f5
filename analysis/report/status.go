package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// StatusView is how far a sweep is.
type StatusView struct {
	Line     SweepLine
	Sweep    experiment.Sweep
	Findings []experiment.Finding // so far
	Options  Options
}

// progress counts the runs of a cell.
type progress struct {
	cell                               experiment.Cell
	ok, invalid, failed, running, open int
}

// Status writes the progress of a sweep by cell, with the findings so far.
func Status(w io.Writer, v StatusView, f Format) error {
	r := Report{Sweep: v.Sweep, Findings: v.Findings, Options: v.Options}
	r.Results.RoundsDone, r.Results.Planned = v.Line.RoundsDone, v.Line.Rounds
	switch f {
	case Text:
		return write(w, v.text(r))
	case Markdown:
		return write(w, v.markdown(r))
	case CSV:
		return Rows(w, []string{"sweep", "stage", "condition", "role", "factor", "level", "ok", "invalid", "failed", "running", "open"}, each(v.rows(r)), CSV)
	case JSON:
		return writeJSON(w, v.json(r))
	default:
		return unknownFormat(f)
	}
}

func (v StatusView) head(r Report) []string {
	l := v.Line
	total := fmt.Sprint(len(v.Sweep.Cells) * l.Rounds)
	if r.open() {
		total = "at most " + total
	}
	second := fmt.Sprintf("%s rounds done, %d of %s runs count", r.of(l.RoundsDone), l.Runs, total)
	if l.ETA > 0 {
		second += ", about " + Duration(l.ETA) + " left"
	}
	lines := []string{fmt.Sprintf("%s: sweep %d (%s), runner %s, %s", l.Name, l.ID, shortHash(l.Hash), l.Runner, l.stateText()), second}
	if l.halted() {
		lines = append(lines, fmt.Sprintf("stopped by hand after %s rounds: run it again to go on", r.of(l.RoundsDone)))
	}
	return lines
}

// progressOf counts by cell, in the order of reports. Runs that were replaced
// are left out.
func (r Report) progressOf() []progress {
	var all []progress
	for _, g := range r.groups() {
		if g.ladders {
			continue // it has no runs of its own
		}
		for _, x := range g.rows {
			p := progress{cell: x.cell}
			for _, run := range r.Sweep.Runs {
				if run.Cell != x.cell.Key {
					continue
				}
				switch run.State {
				case experiment.StateOK:
					p.ok++
				case experiment.StateInvalid:
					p.invalid++
				case experiment.StateFailedSubject, experiment.StateSkipped:
					p.failed++
				case experiment.StateRunning:
					p.running++
				case experiment.StatePending, experiment.StateFailedInfra, experiment.StateInterrupted, experiment.StateSuperseded:
				}
			}
			p.open = max(r.planned()-p.ok-p.invalid-p.failed, 0)
			all = append(all, p)
		}
	}
	return all
}

func (v StatusView) grid(r Report) *grid {
	g := &grid{columns: []column{
		{title: "cell", label: true},
		{title: "ok", right: true},
		{title: "invalid", right: true},
		{title: "failed", right: true},
		{title: "open", right: true},
		{title: "now"},
	}}
	for _, p := range r.progressOf() {
		now := ""
		if p.running > 0 {
			now = "running"
		}
		g.rows = append(g.rows, []string{r.fullLabel(p.cell), fmt.Sprint(p.ok), fmt.Sprint(p.invalid), fmt.Sprint(p.failed), fmt.Sprint(p.open), now})
	}
	return g
}

// grids are the tables of a status: where there are several families how far each
// is, and every cell.
func (v StatusView) grids(r Report) []*grid {
	if len(v.Sweep.Cells) == 0 {
		return nil
	}
	families := r.familyProgress()
	if len(families) < 2 {
		return []*grid{v.grid(r)}
	}
	g := &grid{columns: []column{
		{title: "stage and condition", label: true},
		{title: "rounds", right: true},
		{title: "ok", right: true},
		{title: "invalid", right: true},
		{title: "failed", right: true},
		{title: "open", right: true},
	}}
	for _, f := range families {
		title := titleOf(f.stage, f.condition, manyStages(v.Sweep.Cells))
		g.rows = append(g.rows, []string{
			short(Plain(title)), fmt.Sprintf("%d of %d", f.rounds, r.planned()),
			fmt.Sprint(f.ok), fmt.Sprint(f.invalid), fmt.Sprint(f.failed), fmt.Sprint(f.open),
		})
	}
	return []*grid{g, v.grid(r)}
}

// familyProgress is how far a stage under one condition is.
type familyProgress struct {
	stage, condition string
	rounds           int // in which no cell of the family is open
	progress
}

func (r Report) familyProgress() []familyProgress {
	cells := r.progressOf()
	settled := map[experiment.CellKey]map[int]bool{}
	for _, run := range r.Sweep.Runs {
		if run.State.Settled() {
			if settled[run.Cell] == nil {
				settled[run.Cell] = map[int]bool{}
			}
			settled[run.Cell][run.Round] = true
		}
	}
	var all []familyProgress
	for _, g := range r.groups() {
		if g.ladders {
			continue
		}
		f := familyProgress{stage: g.stage, condition: g.condition}
		for round := 1; round <= r.planned(); round++ {
			if !slices.ContainsFunc(g.rows, func(x row) bool { return !settled[x.cell.Key][round] }) {
				f.rounds++
			}
		}
		for _, p := range cells {
			if p.cell.Stage == g.stage && p.cell.Condition == g.condition {
				f.ok, f.invalid, f.failed, f.running, f.open = f.ok+p.ok, f.invalid+p.invalid, f.failed+p.failed, f.running+p.running, f.open+p.open
			}
		}
		all = append(all, f)
	}
	return all
}

func (v StatusView) remarks(r Report) []remark {
	return filled(
		remark{title: "distrust", lines: r.grouped(experiment.SeverityInvalid, experiment.SeverityWarn), list: true},
		remark{title: "notes", lines: r.grouped(experiment.SeverityNote), list: true},
		remark{title: "excluded runs", lines: r.excluded(), list: true},
	)
}

func (v StatusView) text(r Report) string {
	var b strings.Builder
	for _, line := range v.head(r) {
		b.WriteString(wrap(Plain(line), v.Options.width(), "  ") + "\n")
	}
	for _, g := range v.grids(r) {
		g.fit(v.Options.width())
		b.WriteString("\n" + g.text())
	}
	if remarks := v.remarks(r); len(remarks) > 0 {
		b.WriteString("\n" + remarksText(remarks, v.Options.width()))
	}
	return b.String()
}

func (v StatusView) markdown(r Report) string {
	var b strings.Builder
	for _, line := range v.head(r) {
		b.WriteString(markdown(line) + "\n\n")
	}
	for _, g := range v.grids(r) {
		b.WriteString(g.markdown() + "\n")
	}
	b.WriteString(remarksMarkdown(v.remarks(r)))
	return b.String()
}

func (v StatusView) rows(r Report) [][]any {
	var rows [][]any
	for _, p := range r.progressOf() {
		rows = append(rows, []any{
			v.Line.ID, p.cell.Stage, p.cell.Condition, string(p.cell.Role), p.cell.Factor, p.cell.Level,
			p.ok, p.invalid, p.failed, p.running, p.open,
		})
	}
	return rows
}

type statusJSON struct {
	Sweep    sweepJSON      `json:"sweep"`
	State    string         `json:"state"`
	Runs     int            `json:"runs"`
	ETA      any            `json:"eta_seconds"`
	Families []familyJSON   `json:"families"`
	Cells    []progressJSON `json:"cells"`
	Findings []findingJSON  `json:"findings"`
}

type familyJSON struct {
	Stage      string `json:"stage"`
	Condition  string `json:"condition"`
	RoundsDone int    `json:"rounds_done"`
	OK         int    `json:"ok"`
	Invalid    int    `json:"invalid"`
	Failed     int    `json:"failed"`
	Open       int    `json:"open"`
}

type progressJSON struct {
	Stage     string `json:"stage"`
	Condition string `json:"condition"`
	Role      string `json:"role"`
	Label     string `json:"label"`
	OK        int    `json:"ok"`
	Invalid   int    `json:"invalid"`
	Failed    int    `json:"failed"`
	Running   int    `json:"running"`
	Open      int    `json:"open"`
}

func (v StatusView) json(r Report) statusJSON {
	l := v.Line
	out := statusJSON{
		Sweep: sweepJSON{
			ID: l.ID, Name: l.Name, Question: v.Sweep.Question, Hash: l.Hash, Serial: v.Sweep.Serial, Runner: l.Runner, Seed: v.Sweep.Seed,
			Rounds: l.Rounds, RoundsDone: l.RoundsDone, Stopped: l.halted(), Ended: v.Sweep.Ended,
			PeelParent: v.Sweep.PeelParent, Began: stamp(l.Began),
		},
		State: l.State, Runs: l.Runs, ETA: seconds(l.ETA), Families: []familyJSON{}, Cells: []progressJSON{}, Findings: r.findingsJSON(r.allFindings()),
	}
	for _, f := range r.familyProgress() {
		out.Families = append(out.Families, familyJSON{
			Stage: f.stage, Condition: f.condition, RoundsDone: f.rounds, OK: f.ok, Invalid: f.invalid, Failed: f.failed, Open: f.open,
		})
	}
	for _, p := range r.progressOf() {
		out.Cells = append(out.Cells, progressJSON{
			Stage: p.cell.Stage, Condition: p.cell.Condition, Role: string(p.cell.Role), Label: p.cell.Label(),
			OK: p.ok, Invalid: p.invalid, Failed: p.failed, Running: p.running, Open: p.open,
		})
	}
	return out
}
