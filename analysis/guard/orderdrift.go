package guard

import (
	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/experiment"
)

func orderDrift() Guard {
	return fromNotes(analysis.NoteOrderDrift, experiment.SeverityNote,
		"Values of the primary metric go with the order in which they were measured: over the rounds they show a trend (Mann-Kendall, with Sen's slope), a change of level "+
			"(Pettitt) or dependence on the round before (autocorrelation at lag 1); or inside the rounds they go with the place of the run. Each is tested from 6 rounds on at 1%, "+
			"and dependence shows as a trend, too. Something besides the cells changed meanwhile: heat, a disk that fills, a neighbour. Comparisons are made inside rounds and survive "+
			"it; the values of a cell alone, and limits that they are held against, do not.")
}
