package guard

import (
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// restarted looks at services that ended before they were asked to, other than
// for lack of memory, and at the counter of restarts. A generator ends by itself.
func restarted() Guard {
	return Guard{
		Code:     "restarted",
		Severity: experiment.SeverityInvalid,
		Help: "A service ended or was started again during the run. Where it ended the run has failed by its subject, which is a result; " +
			"where it went on, the window holds a start-up and the run is excluded. The service's log is kept with the run.",
		run: judgeRestarted,
	}
}

func judgeRestarted(o experiment.Outcome, _ float64) []experiment.Finding {
	var all []experiment.Finding
	for _, name := range sortedKeys(o.Exits) {
		exit := o.Exits[name]
		if exit.OOMKilled || name == experiment.GeneratorName && exit.Code == 0 {
			continue
		}
		f := finding(experiment.SeverityInvalid, "%s ended during the run with exit code %d", name, exit.Code)
		f.Service = name
		all = append(all, f)
	}
	for _, c := range counted(o, experiment.CounterRestarts) {
		f := measured(experiment.SeverityInvalid, c.metric, c.value, "%s was started again during the run (restarts: %s)", c.service, number(c.value))
		f.Service = c.service
		all = append(all, f)
	}
	return all
}

// serviceCount is a count that should be zero and is not.
type serviceCount struct {
	service, metric string
	value           float64
}

// counted gives, for each service, the largest count over the phases of the run,
// in order of observation.
func counted(o experiment.Outcome, c experiment.Counter) []serviceCount {
	var all []serviceCount
	at := map[string]int{}
	for _, x := range o.Observations {
		service, ok := strings.CutSuffix(x.Metric, "."+string(c))
		if !ok || !(x.Value > 0) {
			continue
		}
		i, seen := at[service]
		if !seen {
			i = len(all)
			at[service] = i
			all = append(all, serviceCount{service: service, metric: x.Metric})
		}
		all[i].value = max(all[i].value, x.Value)
	}
	return all
}
