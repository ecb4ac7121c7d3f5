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
		Help: "The load was driven by another load generator than ceteris' own. A note lists the metrics that its output does not tell or, where " +
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
		all = append(all, finding(experiment.SeverityNote, "%s cannot tell %s", tool, unknowns(result.Unknown)))
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

// unknowns lists metrics, those with the same reason together.
func unknowns(all []experiment.Unknown) string {
	var reasons []string
	by := map[string][]string{}
	for _, u := range all {
		if by[u.Why] == nil {
			reasons = append(reasons, u.Why)
		}
		by[u.Why] = append(by[u.Why], u.Metric)
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

// families shortens a list of metrics: latency_p50 and latency_p99 are latency_p50|p99.
func families(metrics []string) []string {
	var out, prefixes []string
	for _, m := range metrics {
		prefix := ""
		if i := strings.LastIndexByte(m, '_'); i > 0 {
			if _, known := experiment.MetricByName(m[:i] + "_max"); known {
				prefix = m[:i+1]
			}
		}
		if i := slices.Index(prefixes, prefix); prefix != "" && i >= 0 {
			out[i] += "|" + strings.TrimPrefix(m, prefix)
			continue
		}
		out, prefixes = append(out, m), append(prefixes, prefix)
	}
	return out
}
