package guard

import (
	"cmp"
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// imported says where a run came from that ceteris did not measure, and looks for cells
// that are not compared like with like.
func imported() Guard {
	return Guard{
		Code:     "imported",
		Severity: experiment.SeverityWarn,
		Help: "The run was made of a file that another load generator has written. Nobody watched its host, its generator and its subject, " +
			"so the guards that look at them are silent, which does not mean that all was well; nor is it known in which order the runs were made. " +
			"It is a warning where a cell was measured by another tool than its baseline, or read from another format: what one counts, another may " +
			"not.",
		run:   judgeImported,
		sweep: judgeImportedSweep,
	}
}

func judgeImported(o experiment.Outcome, _ float64) []experiment.Finding {
	if o.Import == nil {
		return nil
	}
	return []experiment.Finding{finding(experiment.SeverityNote, "measured by %s, imported from %s (%s); host, generator and subject were not watched",
		cmp.Or(o.Result.Tool, o.Import.Reader), o.Import.File, cmp.Or(o.Result.Format, "cut off"))}
}

// judgeImportedSweep compares tools and formats, which are all that the configuration of
// an imported run holds.
func judgeImportedSweep(s experiment.Sweep, _ experiment.Results, _ float64) []experiment.Finding {
	if s.Runner != experiment.RunnerImported {
		return nil
	}
	by := map[experiment.CellKey][]string{}
	for _, r := range s.Runs {
		if r.State == experiment.StateOK && !slices.Contains(by[r.Cell], r.ConfigHash) {
			by[r.Cell] = append(by[r.Cell], r.ConfigHash)
		}
	}
	var baseline []string
	var all []experiment.Finding
	for _, c := range s.Cells { // the baseline is the first
		if c.Role == experiment.RoleBaseline {
			baseline = by[c.Key]
			continue
		}
		unlike := func(hash string) bool { return !slices.Contains(baseline, hash) }
		if len(baseline) > 0 && slices.ContainsFunc(by[c.Key], unlike) {
			f := finding(experiment.SeverityWarn, "%s was measured by another tool than the baseline, or read from another format: they may not count alike", c.Label())
			f.Cell = c.Key
			all = append(all, f)
		}
	}
	return all
}
