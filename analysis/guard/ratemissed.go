package guard

import (
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// rateMissed compares what an open load sent with what it had to send: the
// declared rate without what the in-flight limit dropped, which has a guard of
// its own.
func rateMissed() Guard {
	return Guard{
		Code:      "rate-missed",
		Severity:  experiment.SeverityInvalid,
		Threshold: 0.03,
		Unit:      experiment.UnitRatio,
		Help: "An open load sent fewer requests than the matrix asks for, beyond this share and not counting dropped ones. The generator " +
			"did not keep its schedule, so the load was another than the declared one and the run is excluded. Give the generator more " +
			"cores, or lower the rate.",
		run: judgeRateMissed,
	}
}

// edgeRequests are the requests that may be missing because an arrival fell on an
// edge of the window.
const edgeRequests = 1

func judgeRateMissed(o experiment.Outcome, limit float64) []experiment.Finding {
	sent, ok := observed(o, "sent")
	if o.Plan.Load.Open == nil || !ok {
		return nil
	}
	dropped, _ := observed(o, "dropped")
	intended := o.Plan.Load.Open.Rate * (1 - dropped)
	window := o.Result.Window
	if window <= 0 {
		window = o.Plan.Load.Measure
	}
	if intended <= 0 || (intended-sent)*window.Seconds() <= edgeRequests {
		return nil
	}
	missed := 1 - sent/intended
	if missed <= limit {
		return nil
	}
	f := measured(experiment.SeverityInvalid, "sent", missed, "generator sent %s of %s requests/s over %s, %s too few (limit %s)",
		number(sent), number(intended), window.Round(time.Millisecond), share(missed), share(limit))
	f.Service = experiment.GeneratorName
	return []experiment.Finding{f}
}
