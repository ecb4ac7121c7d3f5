package report

import (
	"slices"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/experiment"
)

// MoveText says what the level that a peel adopts does for the primary metric.
func MoveText(s experiment.Sweep, r experiment.Results, m analysis.Move) string {
	rep := Report{Sweep: s, Results: r}
	text := label(experiment.Cell{Factor: m.Factor, Level: m.Level, Off: []experiment.Setting{m.Setting}}) + " does most for " + Plain(rep.primary())
	i := slices.IndexFunc(r.Comparisons, func(c experiment.Comparison) bool { return c.Cell == m.Cell && c.Metric == rep.primary() })
	if i < 0 {
		return text
	}
	return text + ", " + rep.effectOf(r.Comparisons[i])
}
