package guard

import "github.com/ceteris/ceteris/experiment"

func engineBusy() Guard {
	return Guard{
		Code:      "engine-busy",
		Severity:  experiment.SeverityNote,
		Threshold: 0.05,
		Unit:      experiment.UnitRatio,
		Help: "The container engine itself used more than this share of the host's processors during the measured window, as it does when a " +
			"service logs much: the engine copies every line. It is part of what the setting costs, but not of what the service uses.",
		run: judgeEngineBusy,
	}
}

func judgeEngineBusy(o experiment.Outcome, limit float64) []experiment.Finding {
	const metric = experiment.EngineName + ".cpu"
	used, ok := observed(o, metric)
	cores := len(o.Host.Cores)
	if !ok || cores == 0 || used/float64(cores) <= limit {
		return nil
	}
	f := measured(experiment.SeverityNote, metric, used/float64(cores), "the engine used %s of the host's %s (limit %s)",
		number(used), plural(cores, "core"), share(limit))
	f.Service = experiment.EngineName
	return []experiment.Finding{f}
}
