package guard

import (
	"math"

	"github.com/ceteris/ceteris/experiment"
)

const codeResultIncomplete = "result-incomplete"

// resultIncomplete trusts the reader of the generator's output, and looks again
// at what a run that claims to be ok must have.
func resultIncomplete() Guard {
	return Guard{
		Code:     codeResultIncomplete,
		Severity: experiment.SeverityInvalid,
		Help: "The generator's report, or the output of another load generator, has a gap, a wrong checksum or no end, or lacks the throughput " +
			"(which another one need not tell), or holds a value that is no finite number. What is missing is unknown, not zero, so the run is excluded.",
		run: judgeResultIncomplete,
	}
}

func judgeResultIncomplete(o experiment.Outcome, _ float64) []experiment.Finding {
	if o.Run.Reason == codeResultIncomplete {
		f := finding(experiment.SeverityInvalid, "the generator's report is incomplete")
		f.Service = experiment.GeneratorName
		return []experiment.Finding{f}
	}
	if o.Run.State != experiment.StateOK {
		return nil
	}
	// Another load generator may not tell it, and external-tool says so.
	if _, ok := o.Observed("throughput"); !ok && !o.Plan.Load.None && o.Plan.Load.External == nil {
		f := finding(experiment.SeverityInvalid, "the run ended well but has no throughput")
		f.Service, f.Metric = experiment.GeneratorName, "throughput"
		return []experiment.Finding{f}
	}
	for _, x := range o.Observations {
		if x.Phase == experiment.PhaseMeasure && (math.IsNaN(x.Value) || math.IsInf(x.Value, 0)) {
			f := finding(experiment.SeverityInvalid, "the value of %s is no finite number", x.Metric)
			f.Metric = x.Metric
			return []experiment.Finding{f}
		}
	}
	return nil
}
