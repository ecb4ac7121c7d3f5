package guard

import (
	"cmp"
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
		all = append(all, finding(experiment.SeverityNote, "%s drove the load: nothing is known of it but %s", result.Tool, strings.Join(families(told(o)), ", ")))
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

// unknowns lists metrics, those with the same reason together. Why a format of a known
// tool does not tell a metric is always the same, and left out: that many reasons would
// hide what is particular to the run.
func unknowns(result experiment.LoadResult) string {
	var reasons []string
	by := map[string][]string{}
	for _, u := range result.Unknown {
		why := u.Why
		if result.Format != experiment.FormatExtract {
			why = ""
		}
		if by[why] == nil {
			reasons = append(reasons, why)
		}
		by[why] = append(by[why], u.Metric)
	}
	parts := make([]string, len(reasons))
	for i, why := range reasons {
		parts[i] = strings.Join(families(by[why]), ", ")
		if why != "" {
			parts[i] += " (" + why + ")"
		}
	}
	return strings.Join(parts, "; ")
}

// families shortens a list of metrics: latency_p50 and latency_p99 are latency_p50|p99,
// and all that there is of a distribution is latency_*.
func families(metrics []string) []string {
	var out, prefixes []string
	members := map[string][]string{}
	for _, m := range metrics {
		prefix := m
		if i := strings.LastIndexByte(m, '_'); i > 0 {
			if _, known := experiment.MetricByName(m[:i] + "_max"); known {
				prefix = m[:i+1]
			}
		}
		if members[prefix] == nil {
			prefixes = append(prefixes, prefix)
		}
		members[prefix] = append(members[prefix], strings.TrimPrefix(m, prefix))
	}
	for _, prefix := range prefixes {
		if of := members[prefix]; len(of) < len(quantiles()) {
			prefix += strings.Join(of, "|")
		} else {
			prefix += "*"
		}
		out = append(out, prefix)
	}
	return out
}

// quantiles are what is told of a distribution.
func quantiles() []string { return []string{"p50", "p90", "p95", "p99", "p999", "max"} }
