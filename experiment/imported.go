package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// RunnerImported stands for the runner of a sweep whose runs were measured elsewhere.
const RunnerImported = "imported"

// UntoldLevel is the baseline's level of a factor of an imported sweep as long as
// nobody has told it.
const UntoldLevel = "baseline"

// ErrAlreadyImported says that a file, or a run of the same cell and round, is there.
var ErrAlreadyImported = errors.New("imported already")

// Import is the file that a run was made of which ceteris did not measure. Its tool
// and format stand in the LoadResult.
type Import struct {
	Reader string
	File   string // as given; - is standard input
	SHA256 string // of its bytes, hex
	Size   int64  // bytes
	Skip   time.Duration
	Window time.Duration // of what follows Skip; 0: all
}

// ImportSpec is runs that were measured elsewhere, and the sweep as it is with them.
type ImportSpec struct {
	Matrix     *Matrix
	Hash       string
	Cells      []Cell
	Runs       []JudgedRun
	Replace    bool // supersede runs of the same cells and rounds
	Invocation Invocation
}

// JudgedRun is a run that is over, with what the judge found.
type JudgedRun struct {
	Outcome
	Findings []Finding
}

// Imported is a sweep of runs that were measured elsewhere. Nothing of it is declared in
// advance: it grows by cells. Factors, levels and cells stand in an order of their own, so
// that the order in which they came does not matter.
type Imported struct{ Matrix *Matrix }

// NewImported begins one, without a cell but the baseline.
func NewImported(name string) (*Imported, error) {
	m := &Matrix{
		Name: name, Runner: RunnerImported, Factors: []Factor{}, Design: Design{Kind: ChosenCells},
		Judge: Settings{Metric: DefaultMetric, MinimumEffect: DefaultMinimumEffect, Confidence: DefaultConfidence, ErrorRate: DefaultErrorRate},
	}
	var f faults
	(&Matrix{Name: name, Runner: RunnerAuto}).checkName(&f) // the rules are those of every sweep
	if len(f.list) > 0 {
		return nil, WithHint(f.list[0].Err, f.list[0].Hint)
	}
	return &Imported{m}, nil
}

// ImportedOf gives one as it is stored.
func ImportedOf(s Sweep) *Imported {
	m := &Matrix{Name: s.Name, Question: s.Question, Runner: RunnerImported, Factors: s.Factors, Design: Design{Kind: ChosenCells}, Judge: s.Settings}
	for _, c := range s.Cells {
		switch c.Role {
		case RoleBaseline:
		case RoleControl:
			m.Control = true
		case RoleVaried, RoleCorner:
			m.Design.Cells = append(m.Design.Cells, Selection{Settings: c.Off})
		}
	}
	return &Imported{m}
}

// Hash identifies the sweep: it is the imported one of its name.
func (i *Imported) Hash() string {
	return HashJSON(struct{ Imported string }{i.Matrix.Name})
}

// Tell says which levels the baseline has.
func (i *Imported) Tell(baseline []Setting) error {
	for _, s := range baseline {
		f := i.factor(s.Factor, s.Level)
		switch told := f.Levels[f.Baseline].Text; {
		case told == s.Level:
		case told != UntoldLevel:
			return fmt.Errorf("the baseline has %s=%s already, not %s", s.Factor, told, s.Level)
		case f.levelIndex(s.Level) >= 0:
			return fmt.Errorf("%s=%s is a cell beside the baseline already", s.Factor, s.Level)
		default:
			f.Levels[f.Baseline].Text = s.Level
		}
	}
	i.sort()
	return nil
}

// factor gives a factor by its name. One that is new has the baseline's level alone.
func (i *Imported) factor(name, baseline string) *Factor {
	at := i.Matrix.factorIndex(name)
	if at < 0 {
		at = len(i.Matrix.Factors)
		i.Matrix.Factors = append(i.Matrix.Factors, Factor{Name: name, Levels: []Level{{Text: baseline}}})
	}
	return &i.Matrix.Factors[at]
}

// Add makes room for a cell and gives it. A factor at the baseline's level is not off it.
func (i *Imported) Add(c CellChoice) (Cell, error) {
	var off []Setting
	for _, s := range c.Settings {
		f := i.factor(s.Factor, UntoldLevel)
		if f.levelIndex(s.Level) < 0 {
			f.Levels = append(f.Levels, Level{Text: s.Level})
		}
		if f.Levels[f.Baseline].Text != s.Level {
			off = append(off, s)
		}
	}
	i.Matrix.Control = i.Matrix.Control || c.Role == RoleControl
	if len(off) > 0 && !slices.ContainsFunc(i.Matrix.Design.Cells, func(s Selection) bool { return sameSettings(s.Settings, off) }) {
		i.Matrix.Design.Cells = append(i.Matrix.Design.Cells, Selection{Settings: off})
	}
	i.sort()
	cells := i.Matrix.Cells()
	if len(cells) > MaxCells {
		return Cell{}, fmt.Errorf("the sweep would have more than %d cells", MaxCells)
	}
	for _, cell := range cells {
		if sameSettings(cell.Off, off) && (cell.Role == RoleControl) == (c.Role == RoleControl) {
			return cell, nil
		}
	}
	panic("experiment: a cell that was added is not there") // a broken invariant: it was chosen above
}

// sort puts factors by name, levels by value, and cells by both, those with fewer
// factors off the baseline first.
func (i *Imported) sort() {
	m := i.Matrix
	slices.SortFunc(m.Factors, func(a, b Factor) int { return cmp.Compare(a.Name, b.Name) })
	for k := range m.Factors {
		f := &m.Factors[k]
		baseline := f.Levels[f.Baseline].Text
		slices.SortFunc(f.Levels, func(a, b Level) int { return compareLevels(a.Text, b.Text) })
		f.Baseline = f.levelIndex(baseline)
	}
	for _, s := range m.Design.Cells {
		slices.SortFunc(s.Settings, func(a, b Setting) int { return cmp.Compare(a.Factor, b.Factor) })
	}
	slices.SortFunc(m.Design.Cells, func(a, b Selection) int {
		return cmp.Or(cmp.Compare(len(a.Settings), len(b.Settings)), slices.CompareFunc(a.Settings, b.Settings, func(x, y Setting) int {
			return cmp.Or(cmp.Compare(x.Factor, y.Factor), compareLevels(x.Level, y.Level))
		}))
	})
}

// compareLevels puts numbers by value before other texts.
func compareLevels(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	default:
		return cmp.Compare(a, b)
	}
}

// CellChoice names a cell: the baseline, its control, or what is off the baseline.
type CellChoice struct {
	Role     Role      // RoleBaseline where settings say the rest
	Settings []Setting // none for baseline and control
}

// ParseCell reads a cell as Cell.Label gives it: baseline, control, factor=level, or
// a=x,b=y.
func ParseCell(text string) (CellChoice, error) {
	switch text {
	case string(RoleBaseline), string(RoleControl):
		return CellChoice{Role: Role(text)}, nil
	}
	settings, err := ParseSettings(text)
	if err != nil {
		return CellChoice{}, fmt.Errorf("%w: want baseline, control, factor=level, or a=x,b=y", err)
	}
	return CellChoice{Role: RoleBaseline, Settings: settings}, nil
}

// ParseSettings reads a=x,b=y. A level is everything up to the next comma, verbatim.
func ParseSettings(text string) ([]Setting, error) {
	var out []Setting
	for part := range strings.SplitSeq(text, ",") {
		factor, level, ok := strings.Cut(part, "=")
		switch {
		case !ok:
			return nil, fmt.Errorf("%q is no factor=level", part)
		case !ValidName(factor) || len(factor) > maxNameLength:
			return nil, fmt.Errorf("%q is no name of a factor", factor)
		case slices.ContainsFunc(out, func(s Setting) bool { return s.Factor == factor }):
			return nil, fmt.Errorf("%s has two levels", factor)
		}
		out = append(out, Setting{factor, level})
	}
	return out, nil
}
