package guard

import "github.com/ceteris/ceteris/experiment"

func hostNoise() Guard {
	return Guard{
		Code:      "host-noise",
		Severity:  experiment.SeverityWarn,
		Threshold: 0.05,
		Unit:      experiment.UnitRatio,
		Help: "The hypervisor took more than this share of the host's processor time in the measured window, or processes that are no part of " +
			"the run used more than 5 times this share. Rounds cancel a level that stays, not a burst that hits one cell. Measure on a quieter " +
			"host, or take more rounds.",
		run: judgeHostNoise,
	}
}

// otherFactor is how much more the host's other processes may use than the
// hypervisor may take: they can be scheduled around, stolen time cannot.
const otherFactor = 5

func judgeHostNoise(o experiment.Outcome, limit float64) []experiment.Finding {
	var all []experiment.Finding
	add := func(metric string, value float64, format string, a ...any) {
		f := measured(experiment.SeverityWarn, metric, value, format, a...)
		f.Service = experiment.HostName
		all = append(all, f)
	}
	const stolen, others = experiment.HostName + ".steal", experiment.HostName + ".other"
	if steal, ok := observed(o, stolen); ok && steal > limit {
		add(stolen, steal, "the hypervisor took %s of the host's processor time (limit %s)", share(steal), share(limit))
	}
	cores := float64(len(o.Host.Cores))
	if other, ok := observed(o, others); ok && other > otherFactor*limit*cores {
		add(others, other, "other processes used %s of the host's %s cores (limit %s)", number(other), number(cores), share(otherFactor*limit))
	}
	return all
}
