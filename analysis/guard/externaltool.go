package guard

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// externalTool passes on what the reader of another load generator's output knows about
// it: its traps, and what it cannot tell.
func externalTool() Guard {
	return Guard{
		Code:     "external-tool",
		Severity: experiment.SeverityWarn,
		Help: "The load was driven by another load generator than ceteris' own. A note lists the metrics that its output does not tell (why not is what ceteris import --dry-run says of such an output) or, where " +
			"values are taken out of it (extract), those that are known. All others are unknown, not zero, and guards that need them say nothing. " +
			"Further notes are traps of the tool and of its format, with the evidence found in the output; one that can turn a conclusion is a warning.",
		run: judgeExternalTool,
	}
}

func judgeExternalTool(o experiment.Outcome, _ float64) []experiment.Finding {
	result := o.Result
	if result.Tool == "" {
		return nil
	}
	tool := result.Tool
	if result.Format != "" {
		tool += " (" + result.Format + ")"
	}
	var all []experiment.Finding
	for _, n := range result.Notes {
		all = append(all, finding(cmp.Or(n.Severity, experiment.SeverityNote), "%s: %s", tool, n.Text))
	}
	if len(result.Unknown) > 0 {
		all = append(all, finding(experiment.SeverityNote, "%s cannot tell %s", tool, unknowns(result)))
	}
	if result.Format == experiment.FormatExtract {
		all = append(all, finding(experiment.SeverityNote, "%s drove the load: nothing is known of it but %s", result.Tool, strings.Join(experiment.MetricFamilies(told(o)), ", ")))
	}
	for i := range all {
		all[i].Service = experiment.GeneratorName
	}
	return all
}

// told lists the metrics that are no service's.
func told(o experiment.Outcome) []string {
	var names []string
	for _, x := range o.Observations {
		if x.Phase == experiment.PhaseMeasure && !strings.Contains(x.Metric, ".") {
			names = append(names, x.Metric)
		}
	}
	return names
}

// unknowns lists metrics. Why a format of a known tool does not tell one is always the
// same, and left out: so many reasons would hide what is particular to the run.
func unknowns(result experiment.LoadResult) string {
	all := slices.Clone(result.Unknown)
	if result.Format != experiment.FormatExtract {
		for i := range all {
			all[i].Why = ""
		}
	}
	var parts []string
	for _, u := range experiment.GroupUnknown(all) {
		if u.Why != "" {
			u.Metric += " (" + u.Why + ")"
		}
		parts = append(parts, u.Metric)
	}
	return strings.Join(parts, "; ")
}
