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
	e := o.Host.Enforces
	var all []experiment.Finding
	for _, s := range append(slices.Clip(o.Plan.Services), o.Generator) {
		var lost []string
		for _, l := range []struct {
			what            string
			wanted, inForce bool
		}{
			{"core set", len(s.Cores) > 0, e.Cores},
			{"cpus", s.Limits.CPUs > 0, e.CPUs},
			{"memory", s.Limits.Memory > 0, e.Memory},
			{"pids", s.Limits.PIDs > 0, e.PIDs},
		} {
			if l.wanted && !l.inForce {
				lost = append(lost, l.what)
			}
		}
		if len(lost) > 0 {
			f := finding(experiment.SeverityNote, "limits of %s are not in force here: %s", s.Name, strings.Join(lost, ", "))
			f.Service = s.Name
			all = append(all, f)
		}
	}
	return all
}
