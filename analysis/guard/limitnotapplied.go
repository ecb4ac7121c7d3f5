package guard

import (
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

func limitNotApplied() Guard {
	return Guard{
		Code:     "limit-not-applied",
		Severity: experiment.SeverityNote,
		Help: "The matrix declares a limit that the runner cannot put into force on this host, as for a process without a writable control " +
			"group. All cells ran alike without it; a cell that varies this limit varied nothing.",
		run: judgeLimits,
	}
}

func judgeLimits(o experiment.Outcome, _ float64) []experiment.Finding {
	enforced := o.Host.Enforces
	var all []experiment.Finding
	for _, s := range append(slices.Clip(o.Plan.Services), o.Generator) {
		lost := enforced.Missing(s.Limits)
		if len(s.Cores) > 0 && !enforced.Cores {
			lost = append(lost, "core set")
		}
		if len(lost) > 0 {
			f := finding(experiment.SeverityNote, "not in force here for %s: %s", s.Name, strings.Join(lost, ", "))
			f.Service = s.Name
			all = append(all, f)
		}
	}
	return all
}
