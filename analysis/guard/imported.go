package guard

import "github.com/ceteris/ceteris/experiment"

// imported says where a run came from that ceteris did not measure.
func imported() Guard {
	return Guard{
		Code:     "imported",
		Severity: experiment.SeverityNote,
		Help: "The run was made of a file that another load generator has written. Nobody watched its host, its generator and its subject, " +
			"so the guards that look at them are silent, which does not mean that all was well; nor is it known in which order the runs were made.",
		run: judgeImported,
	}
}

func judgeImported(o experiment.Outcome, _ float64) []experiment.Finding {
	if o.Import == nil {
		return nil
	}
	return []experiment.Finding{finding(experiment.SeverityNote, "measured by %s, imported from %s (%s); host, generator and subject were not watched",
		o.Result.Tool, o.Import.File, o.Result.Format)}
}
