package guard

import "github.com/ceteris/ceteris/experiment"

func hostNoise() Guard {
	return Guard{
		Code:      "host-noise",
		Severity:  experiment.SeverityWarn,
		Threshold: 0.05,
		Unit:      experiment.UnitRatio,
		Help: "The hypervisor took more than this share of the processor time away during the measured window. Rounds cancel a level that " +
			"stays, not a burst that hits one cell. Measure on a quieter host, or take more rounds.",
		run: judgeHostNoise,
	}
}

func judgeHostNoise(o experiment.Outcome, limit float64) []experiment.Finding {
	const metric = experiment.HostName + ".steal"
	steal, ok := observed(o, metric)
	if !ok || steal <= limit {
		return nil
	}
	f := measured(experiment.SeverityWarn, metric, steal, "the hypervisor took %s of the host's processor time (limit %s)", share(steal), share(limit))
	f.Service = experiment.HostName
	return []experiment.Finding{f}
}
