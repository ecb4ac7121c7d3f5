package guard

import (
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// notWarm trusts the generator, which looks for the end of the warm-up itself.
func notWarm() Guard {
	return Guard{
		Code:     "not-warm",
		Severity: experiment.SeverityWarn,
		Help: "A warm-up that was to last until the rate is steady reached its longest time before it was. The window may hold what still " +
			"belongs to the start. Give warmup a larger at_most, or find out what grows.",
		run: judgeNotWarm,
	}
}

func judgeNotWarm(o experiment.Outcome, _ float64) []experiment.Finding {
	for _, x := range o.Observations {
		if x.Metric == "warmup_steady" && x.Phase == experiment.PhaseWarmup && x.Value == 0 {
			return []experiment.Finding{finding(experiment.SeverityWarn, "the rate was not steady within a warm-up of %s",
				o.Plan.Load.MaxWarmup().Round(time.Millisecond))}
		}
	}
	return nil
}
