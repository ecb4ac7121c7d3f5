package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// Move is the level that a peel adopts: of the factor that matters most, the best.
type Move struct {
	experiment.Setting
	From string             // the level of the baseline, which is left
	Cell experiment.CellKey // in which it was shown; of several conditions, where it shows least
}

// Dominant finds the one factor off the baseline whose level does most for the primary
// metric: judged better, materially (proven or likely), and in no condition worse. Of
// several conditions the smallest effect counts; a level that one of them lacks is no
// baseline for it. Settings in spent are not adopted again: they were the baseline before.
// False where nothing is left that matters, and before the verdicts are final.
func Dominant(s experiment.Sweep, r experiment.Results, spent []experiment.Setting) (Move, bool) {
	primary := cmp.Or(r.Settings.Metric, s.Settings.Metric)
	least := map[experiment.Setting]candidate{}
	for _, c := range r.Comparisons {
		cell, ok := s.Cell(c.Cell)
		if !ok || c.Metric != primary || cell.Role != experiment.RoleVaried || len(cell.Off) != 1 || slices.Contains(spent, cell.Off[0]) {
			continue
		}
		is := candidate{cell: c.Cell, size: improvement(c)}
		if before, seen := least[cell.Off[0]]; seen && before.size <= is.size {
			is = before
		}
		is.conditions = least[cell.Off[0]].conditions + 1
		least[cell.Off[0]] = is
	}
	conditions := 0
	for _, i := range r.Intervals {
		if cell, ok := s.Cell(i.Cell); ok && i.Metric == primary && cell.Role == experiment.RoleBaseline {
			conditions++
		}
	}
	var best Move
	var most float64
	base := slices.IndexFunc(s.Cells, func(c experiment.Cell) bool { return c.Role == experiment.RoleBaseline })
	for _, f := range s.Factors { // in order of declaration, so that equals are settled alike
		for _, l := range f.Levels {
			at := experiment.Setting{Factor: f.Name, Level: l.Text}
			if is := least[at]; is.size > most && is.conditions == conditions {
				best, most = Move{Setting: at, Cell: is.cell}, is.size
				if base >= 0 {
					best.From, _ = s.Cells[base].Lookup(f.Name)
				}
			}
		}
	}
	return best, most > 0
}

type candidate struct {
	cell       experiment.CellKey
	size       float64
	conditions int // in which it is compared
}

// improvement is how far a comparison lies on the better side, as far as it is shown;
// 0 where it shows nothing, below 0 where it shows the opposite.
func improvement(c experiment.Comparison) float64 {
	if c.Estimate == nil {
		return 0
	}
	size := math.Abs(*c.Estimate)
	if c.Scale != experiment.ScaleDifference {
		size = math.Abs(math.Log(*c.Estimate))
	}
	switch {
	case c.Verdict == experiment.VerdictWorse:
		return -size
	case c.Verdict == experiment.VerdictBetter && (c.Material == experiment.MaterialProven || c.Material == experiment.MaterialLikely):
		return size
	default:
		return 0
	}
}
