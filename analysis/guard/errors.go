package guard

import (
	"cmp"

	"github.com/ceteris/ceteris/experiment"
)

const codeErrors = "errors"

// errorRate has its threshold from the matrix: judge.error_rate, unless the
// guard's own setting moves it.
func errorRate() Guard {
	return Guard{
		Code:      codeErrors,
		Severity:  experiment.SeverityWarn,
		Threshold: experiment.DefaultErrorRate,
		Unit:      experiment.UnitRatio,
		Help: "More than this share of the requests failed (judge.error_rate), or none was done although there were some. Throughput counts successes only and is still judged; the " +
			"latencies describe the requests that survived and are not tested.",
		run: judgeErrors,
	}
}

func judgeErrors(o experiment.Outcome, limit float64) []experiment.Finding {
	rate, ok := observed(o, "error_rate")
	switch {
	case !ok:
		return judgeNoneDone(o)
	case rate <= limit:
		return judgeLate(o, limit)
	}
	f := measured(experiment.SeverityWarn, "error_rate", rate, "%s of the requests failed (limit %s)", share(rate), share(limit))
	kind, most := "", int64(0)
	for _, k := range sortedKeys(o.Result.Errors) {
		if o.Result.Errors[k] > most {
			kind, most = k, o.Result.Errors[k]
		}
	}
	if most > 0 {
		f.Message += ", most by " + kind
	}
	return []experiment.Finding{f}
}

// judgeLate looks for failures that came after the window: the error rate is by what was
// done in it, and a request of a subject that hangs fails a timeout later. Counted are
// the requests that were due in the window.
func judgeLate(o experiment.Outcome, limit float64) []experiment.Finding {
	var good, bad int64
	for _, h := range o.Result.Histograms {
		switch {
		case h.Request != "" || h.Phase == experiment.PhaseRamp || h.Phase == experiment.PhaseWarmup || h.Phase == experiment.PhaseDrain:
		case h.Kind == experiment.HistogramSuccess:
			good += h.Count
		case h.Kind == experiment.HistogramFailure:
			bad += h.Count
		}
	}
	if bad == 0 {
		return nil
	}
	failed := float64(bad) / float64(good+bad)
	if failed <= limit {
		return nil
	}
	f := measured(experiment.SeverityWarn, "error_rate", failed,
		"%s of the requests that were due in the window failed, most after its end (limit %s): error_rate and throughput do not show them", share(failed), share(limit))
	return []experiment.Finding{f}
}

// judgeNoneDone speaks where no request was done, of which there is no share that
// failed: the subject hangs, or takes longer than the window. Where no load was
// driven, that is no wonder.
func judgeNoneDone(o experiment.Outcome) []experiment.Finding {
	done, counted := observed(o, "requests_done")
	good, rated := observed(o, "throughput")
	if done > 0 || good > 0 || !counted && !rated { // what is not known is not none
		return nil
	}
	var load string
	if open, _ := observed(o, "in_flight"); open > 0 {
		load = number(open) + " were under way"
	} else if rate, _ := observed(o, "offered"); rate > 0 {
		load = number(rate) + " a second were to be sent"
	} else {
		return nil
	}
	window := cmp.Or(o.Result.Window, o.Plan.Load.Measure)
	f := finding(experiment.SeverityWarn, "no request was done in the window of %s s while %s", number(window.Seconds()), load)
	f.Metric = "requests_done"
	return []experiment.Finding{f}
}
