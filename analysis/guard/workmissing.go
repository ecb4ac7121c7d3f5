package guard

import "github.com/ceteris/ceteris/experiment"

// workMissing looks at fixed work.
func workMissing() Guard {
	return Guard{
		Code:     "work-missing",
		Severity: experiment.SeverityWarn,
		Help: "A window of a fixed number of requests ended at its longest time, before they were done. Rates hold for the part that was " +
			"done; how long the whole takes is not known. Give measure a larger at_most, or fewer requests.",
		run: judgeWorkMissing,
	}
}

func judgeWorkMissing(o experiment.Outcome, _ float64) []experiment.Finding {
	for _, x := range o.Observations {
		if x.Metric == "work_missing" && x.Phase == experiment.PhaseDrain && x.Value > 0 {
			return []experiment.Finding{measured(experiment.SeverityWarn, "requests_done", float64(o.Plan.Load.Work)-x.Value,
				"%s of %s requests were not done within %s", number(x.Value), number(float64(o.Plan.Load.Work)), o.Plan.Load.Measure)}
		}
	}
	return nil
}
