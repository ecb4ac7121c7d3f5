package guard

import "github.com/ceteris/ceteris/experiment"

const codeErrors = "errors"

// errorRate has its threshold from the matrix: judge.error_rate, unless the
// guard's own setting moves it.
func errorRate() Guard {
	return Guard{
		Code:      codeErrors,
		Severity:  experiment.SeverityWarn,
		Threshold: experiment.DefaultErrorRate,
		Unit:      experiment.UnitRatio,
		Help: "More than this share of the requests failed (judge.error_rate). Throughput counts successes only and is still judged; the " +
			"latencies describe the requests that survived and are not tested.",
		run: judgeErrors,
	}
}

func judgeErrors(o experiment.Outcome, limit float64) []experiment.Finding {
	rate, ok := observed(o, "error_rate")
	if !ok || rate <= limit {
		return nil
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
