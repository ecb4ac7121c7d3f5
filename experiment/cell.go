package experiment

import "strings"

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
	Factor    string // what is off the baseline; empty for baseline and control
	Level     string
	Condition string    // empty without conditions
	Settings  []Setting // of all factors, in order of declaration
}

// Label is how people see the cell: baseline, control, or factor=level.
func (c Cell) Label() string {
	switch c.Role {
	case RoleBaseline, RoleControl:
		return string(c.Role)
	default:
		return c.Factor + "=" + c.Level
	}
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

// Cells gives the cells of the matrix: the baseline, the control if wanted, and
// one cell for each other level of each factor, which differs from the baseline
// in exactly that setting.
func (m *Matrix) Cells() []Cell {
	cells := []Cell{m.cell(RoleBaseline, -1, 0)}
	if m.Control {
		cells = append(cells, m.cell(RoleControl, -1, 0))
	}
	for f := range m.Factors {
		for l := range m.Factors[f].Levels {
			if l != m.Factors[f].Baseline {
				cells = append(cells, m.cell(RoleVaried, f, l))
			}
		}
	}
	return cells
}

func (m *Matrix) cell(role Role, factor, level int) Cell {
	c := Cell{Stage: MainStage, Role: role}
	key := []string{c.Stage, string(role)}
	for i, f := range m.Factors {
		l := f.Baseline
		if i == factor {
			l = level
			c.Factor, c.Level = f.Name, f.Levels[l].Text
		}
		c.Settings = append(c.Settings, Setting{Factor: f.Name, Level: f.Levels[l].Text})
		key = append(key, f.Name+"="+f.Levels[l].Text)
	}
	c.Key = CellKey(strings.Join(append(key, c.Condition), "|"))
	return c
}
