package guard

import (
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// leastLateness is what no reader of latencies minds, in s: timers are no better on a
// busy host.
const leastLateness = 0.001

// generatorLate compares how late requests were sent with how long they took. Latency
// counts from the moment at which a request was due, so lateness is part of it. Phases
// of the load are looked at one by one.
func generatorLate() Guard {
	return Guard{
		Code:      "generator-late",
		Severity:  experiment.SeverityWarn,
		Threshold: 0.1,
		Unit:      experiment.UnitRatio,
		Help: "One request in a hundred was sent later than it was due by more than 1 ms and by more than this share of the median latency. " +
			"Latency counts from when a request was due, so part of what is told of the subject is the generator's own. Give the generator cores " +
			"of its own, or more of them, or a quieter host. It is a note where requests may have waited for one of fewer connections " +
			"(load.connections) than may be under way, or for a place in flight (when_full: queue): that wait is declared, and counts as latency. It is a " +
			"note, too, where another load generator tells it, which does not tell the wait for a free client from its own.",
		run: judgeLateness,
	}
}

func judgeLateness(o experiment.Outcome, limit float64) []experiment.Finding {
	var all []experiment.Finding
	for _, x := range o.Observations {
		n := experiment.SplitMetricName(x.Metric)
		if n.Base != "lateness_p99" || x.Phase != experiment.PhaseMeasure {
			continue
		}
		late, known := observed(o, x.Metric)
		median, answered := observed(o, n.Of("latency_p50"))
		if !known || !answered || late <= max(leastLateness, limit*median) {
			continue
		}
		f := measured(experiment.SeverityWarn, x.Metric, late/median, "of the requests 1%% were sent %s or more too late, which is %s of the median latency of %s (limit %s, and 1 ms)",
			duration(late), share(late/median), duration(median), share(limit))
		f.Service = experiment.GeneratorName
		_, what := declaredWait(o.Plan.Load)
		if what == "" && o.Result.Tool != "" {
			what = "a free client of " + o.Result.Tool
		}
		if what != "" {
			f.Severity = experiment.SeverityNote
			f.Message += ": they may have waited for " + what
		}
		all = append(all, f)
	}
	return all
}

// duration prints seconds, with 3 significant digits.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	unit := time.Duration(1)
	for d >= 1000*unit {
		unit *= 10
	}
	return d.Round(unit).String()
}
