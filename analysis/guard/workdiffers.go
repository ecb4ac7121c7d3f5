package guard

import (
	"math"

	"github.com/ceteris/ceteris/experiment"
)

// workDiffers compares the size of responses. Ranges that overlap are no difference: of
// random answers no two runs get the same.
func workDiffers() Guard {
	const metric = "response_bytes"
	return Guard{
		Code:      "work-differs",
		Severity:  experiment.SeverityNote,
		Threshold: 0.01,
		Unit:      experiment.UnitRatio,
		Help: "Responses of a cell are larger or smaller than those of the baseline by more than this share, in every run. Where a factor is " +
			"declared to change them, as compression does, this is its effect. Elsewhere the cells do not do the same work: one of them answers with an " +
			"error page, an empty list, or another record, and its speed is no merit. Let the load expect what it wants (expect: has).",
		sweep: func(s experiment.Sweep, _ experiment.Results, limit float64) []experiment.Finding {
			var all []experiment.Finding
			for _, c := range s.Cells {
				base, found := baselineOf(s, c)
				if !found || c.Role == experiment.RoleBaseline {
					continue
				}
				mine, theirs := valuesOf(s, c.Key, metric), valuesOf(s, base.Key, metric)
				if len(mine) == 0 || len(theirs) == 0 || mine[0] <= theirs[len(theirs)-1] && theirs[0] <= mine[len(mine)-1] {
					continue
				}
				mean, _ := meanOf(s, c.Key, metric)
				usual, _ := meanOf(s, base.Key, metric)
				if usual <= 0 || math.Abs(mean/usual-1) <= limit {
					continue
				}
				f := measured(experiment.SeverityNote, metric, math.Abs(mean/usual-1), "a response of %s has %.0f bytes, one of %s %.0f: %s off (limit %s)",
					c.Label(), mean, base.Label(), usual, share(math.Abs(mean/usual-1)), share(limit))
				f.Cell = c.Key
				all = append(all, f)
			}
			return all
		},
	}
}

// baselineOf gives the baseline of the stage and condition of a cell.
func baselineOf(s experiment.Sweep, c experiment.Cell) (experiment.Cell, bool) {
	for _, b := range s.Cells {
		if b.Role == experiment.RoleBaseline && b.Stage == c.Stage && b.Condition == c.Condition {
			return b, true
		}
	}
	return experiment.Cell{}, false
}
