package guard

import (
	"cmp"
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// maxFactor is how much longer than one in a hundred the slowest response may take,
// before the window is too short for it.
const maxFactor = 5

// windowShort compares the window with the slowest responses. Phases of the load are
// looked at one by one. How many responses a quantile needs is no matter of this guard:
// the analysis does not test one of too few.
func windowShort() Guard {
	return Guard{
		Code:      "window-short",
		Severity:  experiment.SeverityWarn,
		Threshold: 0.1,
		Unit:      experiment.UnitRatio,
		Help: "One response in a hundred took longer than this share of the window, or one longer than 5 times the share. The window then holds few " +
			"of the slowest, much of what began in it ended after it, and another window would have told something else. Measure longer.",
		run: judgeWindow,
	}
}

func judgeWindow(o experiment.Outcome, limit float64) []experiment.Finding {
	var all []experiment.Finding
	for _, x := range o.Observations {
		n := experiment.SplitMetricName(x.Metric)
		window := windowOf(o, n.Phase).Seconds()
		if n.Base != "latency_max" || n.Request != "" || x.Phase != experiment.PhaseMeasure || window <= 0 {
			continue
		}
		p99 := n.Of("latency_p99")
		if slow, ok := observed(o, p99); ok && slow > limit*window {
			all = append(all, measured(experiment.SeverityWarn, p99, slow/window,
				"of the responses 1%% took %s or more, in a window of %s (limit %s of it)", duration(slow), duration(window), share(limit)))
		} else if slowest, ok := observed(o, x.Metric); ok && slowest > maxFactor*limit*window {
			all = append(all, measured(experiment.SeverityWarn, x.Metric, slowest/window,
				"the slowest response took %s, in a window of %s (limit %s of it)", duration(slowest), duration(window), share(maxFactor*limit)))
		}
	}
	return all
}

// windowOf is the length of a measured phase of the load, or of the window where the
// load declares none.
func windowOf(o experiment.Outcome, phase string) time.Duration {
	if phase == "" {
		return cmp.Or(o.Result.Window, o.Plan.Load.Window())
	}
	i := slices.IndexFunc(o.Result.Parts, func(p experiment.LoadPart) bool { return p.Name == phase })
	if i < 0 {
		return 0
	}
	return o.Result.Parts[i].Window
}
