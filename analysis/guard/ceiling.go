package guard

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// answered is the share of an open load from which on all of it is answered.
const answered = 0.99

// ceiling looks for limits at which the baseline is in every run, as far as its values
// tell.
func ceiling() Guard {
	return Guard{
		Code:      "ceiling",
		Severity:  experiment.SeverityNote,
		Threshold: 0.05,
		Unit:      experiment.UnitRatio,
		Help: "The baseline sits on a limit, so that what is varied cannot show. In each of its runs a service was held back by its processor limit for more than this share of the window: " +
			"a factor that spends less elsewhere changes nothing. Or throughput is compared under an open load that the baseline answers whole: no setting can raise it, only " +
			"lower it. Raise the limit or the rate, or compare latency or processor time. Limits that leave no trace in the values of a run, as a pool that is full, are not seen.",
		sweep: judgeCeiling,
	}
}

func judgeCeiling(s experiment.Sweep, r experiment.Results, limit float64) []experiment.Finding {
	var all []experiment.Finding
	for _, c := range s.Cells {
		rung := slices.ContainsFunc(s.Ladders, func(l experiment.Ladder) bool { return slices.Contains(l.Rungs, c.Key) })
		if c.Role != experiment.RoleBaseline || rung {
			continue
		}
		var found []experiment.Finding
		for _, metric := range throttledIn(s, c.Key) {
			values := valuesOf(s, c.Key, metric) // sorted
			if held, _ := meanOf(s, c.Key, metric); len(values) == countingIn(s, c.Key) && values[0] > limit {
				f := measured(experiment.SeverityNote, metric, held, "%s of the baseline was held back by its processor limit in every run, for %s of the window (limit %s): other factors may not show",
					strings.TrimSuffix(metric, ".throttled"), share(held), share(limit))
				f.Service = strings.TrimSuffix(metric, ".throttled")
				found = append(found, f)
			}
		}
		found = append(found, allAnswered(s, c.Key, cmp.Or(r.Settings.Metric, s.Settings.Metric))...)
		for _, f := range found {
			f.Cell = c.Key
			all = append(all, f)
		}
	}
	return all
}

// allAnswered speaks where throughput is compared and the baseline's is the rate of an
// open load. An open load is one of which arrivals can be dropped.
func allAnswered(s experiment.Sweep, cell experiment.CellKey, metric string) []experiment.Finding {
	n := experiment.SplitMetricName(metric)
	_, open := meanOf(s, cell, n.Of("dropped"))
	got, ok := meanOf(s, cell, metric)
	offered, known := meanOf(s, cell, n.Of("offered"))
	if n.Base != experiment.DefaultMetric || !open || !ok || !known || offered <= 0 || got < answered*offered {
		return nil
	}
	f := finding(experiment.SeverityNote, "the baseline answers %s/s of the %s/s that the open load offers: no setting can raise throughput", number(got), number(offered))
	f.Metric = metric
	return []experiment.Finding{f}
}

// throttledIn lists the metrics of services of the subject that tell how long they were
// held back, in a cell.
func throttledIn(s experiment.Sweep, cell experiment.CellKey) []string {
	names := map[string]bool{}
	for _, r := range s.Runs {
		for _, o := range r.Observations {
			n := experiment.SplitMetricName(o.Metric)
			if r.Cell == cell && r.State == experiment.StateOK && n.Phase == "" && strings.HasSuffix(o.Metric, ".throttled") && o.Metric != experiment.GeneratorName+".throttled" {
				names[o.Metric] = true
			}
		}
	}
	return sortedKeys(names)
}

func countingIn(s experiment.Sweep, cell experiment.CellKey) int {
	n := 0
	for _, r := range s.Runs {
		if r.Cell == cell && r.State == experiment.StateOK {
			n++
		}
	}
	return n
}
