package guard

import (
	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/experiment"
)

func spread() Guard {
	return fromNotes(analysis.NoteSpread, experiment.SeverityNote,
		"Runs of one cell disagree more than the effect that is looked for (judge.minimum_effect): with the noise that was measured, what rounds have in common apart, an interval of "+
			"the planned rounds reaches farther than the minimum effect. Such an effect is then missed more often than shown, and no cell can be called equivalent. "+
			"Take more rounds, a quieter host or longer windows, or look for larger effects. Or the values of one cell fall into two groups (from 8 runs on), or one lies far from "+
			"all others (from 7 on): no run is dropped for that, but look at what differed in it.")
}
