package guard

import (
	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/experiment"
)

// The analysis remarks on a sweep in notes. These guards pass them on, so that
// they are stored and printed like every other finding. Their codes are those of the notes.

func controlDiffers() Guard {
	return fromNotes(analysis.NoteControlDiffers, experiment.SeverityNote,
		"The control is a second copy of the baseline, so the two must not differ; here they do, at an unadjusted p below 5%. One such sweep "+
			"in twenty is chance. If it comes again, the differences between cells are no more to be trusted than this one.")
}

func noisyCell() Guard {
	return fromNotes(analysis.NoteNoisyCell, experiment.SeverityWarn,
		"One cell varies much more than the others from round to round (its residual sum of squares exceeds 10 times the median). It widens "+
			"the intervals of all cells, since they share an estimate of the noise. Look at its runs, and compare without it.")
}

func roundWithoutBaseline() Guard {
	return fromNotes(analysis.NoteWithoutBaseline, experiment.SeverityWarn,
		"A round has no counting run of the baseline, so none of its runs can be compared and the round is left out for all cells.")
}

func nonMonotone() Guard {
	return fromNotes(analysis.NoteNonMonotone, experiment.SeverityWarn,
		"A rung of a ladder is sustained above one that is not, in the same round. One run cannot settle which of the two is the chance: "+
			"the ladder has no ceiling until more rounds agree.")
}

func clientLimited() Guard {
	return fromNotes(analysis.NoteClientLimited, experiment.SeverityWarn,
		"Where a ladder breaks, the generator is at the limit of its own processors, so the ceiling found is not the subject's. Give the "+
			"generator more cores.")
}

func fromNotes(code string, sev experiment.Severity, help string) Guard {
	return Guard{Code: code, Severity: sev, Help: help, sweep: func(_ experiment.Sweep, r experiment.Results, _ float64) []experiment.Finding {
		var all []experiment.Finding
		for _, n := range r.Notes {
			if n.Code == code {
				all = append(all, experiment.Finding{Severity: sev, Cell: n.Cell, Metric: n.Metric, Message: n.Message})
			}
		}
		return all
	}}
}
