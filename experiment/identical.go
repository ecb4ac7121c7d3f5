package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// CopyFactor is the factor of a calibration that sets nothing: its levels number
// identical cells, from 1.
const CopyFactor = "copy"

// MaxCopies is the most identical cells of a calibration.
const MaxCopies = 50

// Identical gives a matrix of so many cells, 2 to MaxCopies, each of which is the
// baseline: whatever they show of each other is chance, or the method's fault. All
// factors stay at their baseline level; there is no control, for every cell is one. It is
// a matrix of its own, and a sweep of its own. A *FieldError where a factor has the name
// of CopyFactor, or the metric is that of a ladder, which no single cell has.
func (m *Matrix) Identical(copies int) (*Matrix, error) {
	if copies < 2 || copies > MaxCopies {
		return nil, fmt.Errorf("%d copies: want 2 to %d", copies, MaxCopies)
	}
	if i := m.factorIndex(CopyFactor); i >= 0 {
		return nil, &FieldError{
			At: m.Factors[i].At, Path: "factors." + CopyFactor, Err: errors.New("a calibration numbers its identical cells by a factor of this name"),
			Hint: "give the factor another name",
		}
	}
	if m.Judge.Metric == MetricCeiling {
		return nil, &FieldError{
			At: Pos{File: m.Origin.File}, Path: "judge.metric", Err: fmt.Errorf("%s is the metric of a ladder, and the cells of a calibration are none", MetricCeiling),
			Hint: "judge by another metric, such as " + DefaultMetric,
		}
	}
	out := *m
	out.Name += ": calibration"
	out.Question = "How often does the method find a difference where there is none?"
	out.Control, out.OnFinish = false, nil
	number := Factor{Name: CopyFactor}
	out.Design = Design{Kind: ChosenCells}
	for i := 1; i <= copies; i++ {
		text := strconv.Itoa(i)
		number.Levels = append(number.Levels, Level{Text: text})
		if i > 1 {
			out.Design.Cells = append(out.Design.Cells, Selection{Settings: []Setting{{Factor: CopyFactor, Level: text}}})
		}
	}
	out.Factors = append(slices.Clip(m.Factors), number)
	out.Repeat.Stopping = Stopping{}
	out.Judge.Objectives, out.Judge.Without, out.Judge.AcceptRounds = nil, nil, false
	return &out, nil
}
