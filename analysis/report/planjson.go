package report

import "github.com/ceteris/ceteris/experiment"

type planJSON struct {
	Name            string               `json:"name"`
	Question        string               `json:"question"`
	Runner          string               `json:"runner"`
	Hash            string               `json:"hash"`
	Seed            uint64               `json:"seed"`
	Rounds          int                  `json:"rounds"` // with a rule, at most
	Stopping        *experiment.Stopping `json:"stopping,omitempty"`
	Cells           []planCellJSON       `json:"cells"`
	Design          []string             `json:"design"`
	Families        []planFamilyJSON     `json:"families"`
	Order           []planRunJSON        `json:"order"`
	Placement       experiment.Placement `json:"placement"`
	DurationSeconds float64              `json:"duration_seconds"`
	LeastSeconds    float64              `json:"least_seconds,omitempty"` // if a rule is met at its first look
	DiskBytes       int64                `json:"disk_bytes"`
	Basis           string               `json:"basis"` // what both rest on
	Cut             *planCutJSON         `json:"cut"`   // the change that would cut the duration most
	Warnings        []string             `json:"warnings"`
}

type planFamilyJSON struct {
	Stage     string `json:"stage"`
	Condition string `json:"condition"`
	Cells     int    `json:"cells"`
	Runs      int    `json:"runs"`
}

type planCutJSON struct {
	Change          string  `json:"change"`
	DurationSeconds float64 `json:"duration_seconds"`
}

type planCellJSON struct {
	Stage     string               `json:"stage"`
	Condition string               `json:"condition"`
	Role      string               `json:"role"`
	Label     string               `json:"label"`
	Settings  []experiment.Setting `json:"settings"`
}

type planRunJSON struct {
	Stage     string `json:"stage,omitempty"`
	Round     int    `json:"round"`
	Cell      string `json:"cell"` // its label
	Condition string `json:"condition,omitempty"`
}

func (v PlanView) json() planJSON {
	m := v.Matrix
	out := planJSON{
		Name: m.Name, Question: m.Question, Runner: m.Runner, Hash: v.Hash, Seed: m.Repeat.Seed, Rounds: m.Repeat.Rounds,
		Cells: []planCellJSON{}, Order: []planRunJSON{}, Placement: v.Placement, DurationSeconds: v.Duration.Seconds(), DiskBytes: v.DiskBytes,
		Warnings: append([]string{}, v.Warnings...), Design: append([]string{}, v.design()...), Families: []planFamilyJSON{}, Basis: v.Basis,
	}
	if m.Repeat.Until != experiment.StopFixed {
		out.Stopping, out.LeastSeconds = &m.Repeat.Stopping, v.Least.Seconds()
	}
	if v.Cut != nil {
		out.Cut = &planCutJSON{Change: v.Cut.Change, DurationSeconds: v.Cut.Duration.Seconds()}
	}
	for _, f := range v.families() {
		out.Families = append(out.Families, planFamilyJSON{Stage: f.stage, Condition: f.condition, Cells: len(f.cells), Runs: len(f.cells) * m.Repeat.Rounds})
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
			j.Cell, j.Condition, j.Stage = c.Label(), c.Condition, c.Stage
		}
		out.Order = append(out.Order, j)
	}
	return out
}
