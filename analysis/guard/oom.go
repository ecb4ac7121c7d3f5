package guard

import "github.com/ceteris/ceteris/experiment"

// oom looks at how services ended and at the counter of kills, in every phase: a
// service that lost a process before the window is no longer the one declared.
func oom() Guard {
	return Guard{
		Code:     "oom",
		Severity: experiment.SeverityInvalid,
		Help: "The kernel killed a service, or a process inside it, for lack of memory during the run. Where the service ended the run " +
			"has failed by its subject, which is a result; where it went on, what was measured was no longer whole and the run is " +
			"excluded. Raise limits.memory, or take the failure as the answer.",
		run: judgeOOM,
	}
}

func judgeOOM(o experiment.Outcome, _ float64) []experiment.Finding {
	var all []experiment.Finding
	ended := map[string]bool{}
	for _, name := range sortedKeys(o.Exits) {
		if exit := o.Exits[name]; exit.OOMKilled {
			ended[name] = true
			f := finding(experiment.SeverityInvalid, "%s was killed for lack of memory (exit code %d)", name, exit.Code)
			f.Service = name
			all = append(all, f)
		}
	}
	for _, c := range counted(o, experiment.CounterOOMKills) {
		if !ended[c.service] {
			f := measured(experiment.SeverityInvalid, c.metric, c.value, "processes inside %s were killed for lack of memory (kills: %s)", c.service, number(c.value))
			f.Service = c.service
			all = append(all, f)
		}
	}
	return all
}
