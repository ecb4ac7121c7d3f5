package guard

import (
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// sharedCores looks at the core sets of the roles. The link proxies sit with the
// subject by design and are not looked at.
func sharedCores() Guard {
	return Guard{
		Code:     "shared-cores",
		Severity: experiment.SeverityInvalid,
		Help: "Two roles share processor cores. Generator with subject is invalid: whoever needs more takes it from the other, and the " +
			"measurement shows the contention (a warning only on a host with a single core, where it was accepted on the command line). " +
			"Generator with backing services is a warning, backing services with the subject a note. See place in the matrix. Where the " +
			"runner cannot put core sets into force, as under an engine without root, all roles share all cores.",
		run: judgeSharedCores,
	}
}

func judgeSharedCores(o experiment.Outcome, _ float64) []experiment.Finding {
	load := o.Generator.Cores
	if len(load) == 0 {
		load = o.Placement.Load
	}
	subject, backing := o.Placement.Subject, o.Placement.Backing
	if !o.Host.Enforces.Cores { // the sets are a wish: everybody runs everywhere
		load, subject, backing = o.Host.Cores, o.Host.Cores, o.Host.Cores
	}
	if !slices.ContainsFunc(o.Plan.Services, func(s experiment.Service) bool { return s.Role == experiment.RoleBacking }) {
		backing = nil
	}
	var all []experiment.Finding
	if subject.Overlaps(load) {
		sev := experiment.SeverityInvalid
		if len(o.Host.Cores) == 1 {
			sev = experiment.SeverityWarn
		}
		all = append(all, sharing(sev, "generator", load, "subject", subject))
	}
	if backing.Overlaps(load) {
		all = append(all, sharing(experiment.SeverityWarn, "generator", load, "backing services", backing))
	}
	if backing.Overlaps(subject) {
		all = append(all, sharing(experiment.SeverityNote, "backing services", backing, "subject", subject))
	}
	return all
}

func sharing(sev experiment.Severity, a string, as experiment.CoreSet, b string, bs experiment.CoreSet) experiment.Finding {
	return finding(sev, "%s on core %s and %s on core %s share processors", a, as, b, bs)
}
