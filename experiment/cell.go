package experiment

import (
	"slices"
	"strings"
)

// Role says what a cell is in the design.
type Role string

// The roles of cells. A corner has two factors or more off the baseline.
const (
	RoleBaseline Role = "baseline"
	RoleControl  Role = "control"
	RoleVaried   Role = "varied"
	RoleCorner   Role = "corner"
)

// CellKey identifies a cell inside a sweep: stage, role, settings, condition.
type CellKey string

// Setting is the level of one factor in a cell.
type Setting struct {
	Factor string `json:"factor"`
	Level  string `json:"level"`
}

// Cell is one setting of all factors, known at plan time.
type Cell struct {
	Key       CellKey
	Stage     string
	Role      Role
	Factor    string // what is off the baseline, a+b in a corner; empty for baseline and control
	Level     string
	Condition string    // "users=60", "rate=400, users=60"; empty without conditions
	Settings  []Setting // of all factors, conditions too, in order of declaration
	Off       []Setting // of them, those off the stage's baseline; conditions never are
}

// Label is how people see the cell: baseline, control, factor=level, or
// a=x,b=y for a corner. Stage and condition stand beside it.
func (c Cell) Label() string {
	switch {
	case c.Role == RoleBaseline || c.Role == RoleControl:
		return string(c.Role)
	case len(c.Off) == 0:
		return c.Factor + "=" + c.Level
	default:
		return joinSettings(c.Off, ",")
	}
}

func joinSettings(all []Setting, by string) string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = s.Factor + "=" + s.Level
	}
	return strings.Join(texts, by)
}

// Lookup gives the level of a factor.
func (c Cell) Lookup(factor string) (string, bool) {
	for _, s := range c.Settings {
		if s.Factor == factor {
			return s.Level, true
		}
	}
	return "", false
}

// has reports whether the cell has every one of the settings.
func (c Cell) has(settings []Setting) bool {
	for _, s := range settings {
		if level, ok := c.Lookup(s.Factor); !ok || level != s.Level {
			return false
		}
	}
	return true
}

// holds reports whether the cell has one of the levels of each.
func (c Cell) holds(only []Only) bool {
	for _, o := range only {
		if level, ok := c.Lookup(o.Factor); !ok || !slices.Contains(o.Levels, level) {
			return false
		}
	}
	return true
}

// combination gives the index of a level for each factor of a matrix.
type combination []int

// Cells gives the cells of the matrix, stage by stage: the baseline, the control if
// wanted, each other level of each factor alone, and what the design asks for besides,
// each of them under every condition.
func (m *Matrix) Cells() []Cell {
	var cells []Cell
	for _, stage := range m.stages() {
		cells = append(cells, m.stageCells(stage)...)
	}
	return cells
}

// stages gives the declared stages, or the one that every matrix has.
func (m *Matrix) stages() []Stage {
	if len(m.Design.Stages) == 0 {
		return []Stage{{Name: MainStage}}
	}
	return m.Design.Stages
}

func (m *Matrix) stageCells(stage Stage) []Cell {
	base := m.combined(nil, stage.Baseline)
	roles := []Role{RoleBaseline}
	plain := []combination{base}
	if m.Control {
		roles, plain = append(roles, RoleControl), append(plain, base)
	}
	for _, c := range m.varied(base) {
		off := 0
		for i := range c {
			if c[i] != base[i] {
				off++
			}
		}
		role := RoleVaried
		if off > 1 {
			role = RoleCorner
		}
		roles, plain = append(roles, role), append(plain, c)
	}
	var cells []Cell
	for i, c := range plain {
		for _, condition := range m.conditions() {
			cell := m.cell(stage.Name, roles[i], base, m.combined(c, condition))
			if !m.excepted(cell) {
				cells = append(cells, cell)
			}
		}
	}
	return cells
}

// varied gives what differs from the baseline, each once: one factor off it before
// two or more.
func (m *Matrix) varied(base combination) []combination {
	var out []combination
	add := func(c combination) {
		if !slices.Equal(c, base) && !slices.ContainsFunc(out, func(o combination) bool { return slices.Equal(o, c) }) {
			out = append(out, c)
		}
	}
	if kind := m.Design.Kind; kind != ChosenCells {
		for _, f := range m.varying() {
			for l := range m.Factors[f].Levels {
				if c := base.with(f, l); kind != Grid || m.reaches(m.cell("", RoleVaried, base, c)) {
					add(c)
				}
			}
		}
		if kind == Grid {
			for _, c := range m.product(base, m.varying()) {
				if m.reaches(m.cell("", RoleCorner, base, c)) {
					add(c)
				}
			}
		}
	}
	for _, s := range m.Design.Cells {
		add(m.combined(base, s.Settings))
	}
	for _, group := range m.Design.Interactions {
		var factors []int
		for _, name := range group {
			if f := m.factorIndex(name); f >= 0 {
				factors = append(factors, f)
			}
		}
		for _, c := range m.product(base, factors) {
			add(c)
		}
	}
	return out
}

func (c combination) with(factor, level int) combination {
	out := slices.Clone(c)
	out[factor] = level
	return out
}

// combined moves some factors of a combination; nil is that of the baselines. What
// names no factor or no level moves nothing.
func (m *Matrix) combined(base combination, moved []Setting) combination {
	out := slices.Clone(base)
	if base == nil {
		for _, f := range m.Factors {
			out = append(out, min(max(f.Baseline, 0), len(f.Levels)-1))
		}
	}
	for _, s := range moved {
		f := m.factorIndex(s.Factor)
		if f < 0 {
			continue
		}
		if l := m.Factors[f].levelIndex(s.Level); l >= 0 {
			out[f] = l
		}
	}
	return out
}

// product gives every combination of the levels of some factors, the last one
// changing fastest; the others stay.
func (m *Matrix) product(base combination, factors []int) []combination {
	out := []combination{base}
	for _, f := range factors {
		var next []combination
		for _, c := range out {
			for l := range m.Factors[f].Levels {
				next = append(next, c.with(f, l))
			}
		}
		out = next
	}
	return out
}

// varying gives the factors that are no conditions.
func (m *Matrix) varying() []int {
	var out []int
	for i, f := range m.Factors {
		if !m.isCondition(f.Name) {
			out = append(out, i)
		}
	}
	return out
}

func (m *Matrix) isCondition(factor string) bool { return slices.Contains(m.Design.Across, factor) }

// conditions gives every combination of the levels of the conditions; without any,
// the empty one.
func (m *Matrix) conditions() [][]Setting {
	out := [][]Setting{nil}
	for _, f := range m.Factors {
		if !m.isCondition(f.Name) {
			continue
		}
		var next [][]Setting
		for _, c := range out {
			for _, l := range f.Levels {
				next = append(next, append(slices.Clone(c), Setting{Factor: f.Name, Level: l.Text}))
			}
		}
		out = next
	}
	return out
}

func (m *Matrix) excepted(c Cell) bool {
	return slices.ContainsFunc(m.Design.Except, func(s Selection) bool { return c.has(s.Settings) })
}

// cell makes the cell of a combination; base is that of its stage.
func (m *Matrix) cell(stage string, role Role, base, levels combination) Cell {
	c := Cell{Stage: stage, Role: role}
	key := []string{stage, string(role)}
	var condition []Setting
	var factors, texts []string
	for i, f := range m.Factors {
		s := Setting{Factor: f.Name, Level: f.Levels[levels[i]].Text}
		c.Settings = append(c.Settings, s)
		if m.isCondition(f.Name) {
			condition = append(condition, s)
			continue
		}
		key = append(key, s.Factor+"="+s.Level)
		if levels[i] != base[i] {
			c.Off = append(c.Off, s)
			factors, texts = append(factors, s.Factor), append(texts, s.Level)
		}
	}
	c.Factor, c.Level = strings.Join(factors, "+"), strings.Join(texts, "+")
	c.Condition = joinSettings(condition, ", ")
	c.Key = CellKey(strings.Join(append(key, c.Condition), "|"))
	return c
}

func (m *Matrix) factorIndex(name string) int {
	return slices.IndexFunc(m.Factors, func(f Factor) bool { return f.Name == name })
}

func (f Factor) levelIndex(text string) int {
	return slices.IndexFunc(f.Levels, func(l Level) bool { return l.Text == text })
}
