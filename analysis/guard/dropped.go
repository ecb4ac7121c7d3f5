package guard

import "github.com/ceteris/ceteris/experiment"

func dropped() Guard {
	return Guard{
		Code:      "dropped",
		Severity:  experiment.SeverityWarn,
		Threshold: 0.02,
		Unit:      experiment.UnitRatio,
		Help: "More than this share of the arrivals of an open load was dropped, because as many requests as allowed were under way. The " +
			"subject did not keep up with the rate; latencies describe only the requests that were sent. Compare throughput, and read " +
			"the latencies as those of a lighter load.",
		run: judgeDropped,
	}
}

func judgeDropped(o experiment.Outcome, limit float64) []experiment.Finding {
	lost, ok := observed(o, "dropped")
	if !ok || lost <= limit {
		return nil
	}
	return []experiment.Finding{measured(experiment.SeverityWarn, "dropped", lost,
		"%s of the arrivals were dropped at the in-flight limit (limit %s)", share(lost), share(limit))}
}
