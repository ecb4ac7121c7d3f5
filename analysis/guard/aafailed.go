package guard

import (
	"slices"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/experiment"
)

// aaFailed counts how often identical cells differed on a host: in the controls of its
// sweeps, and in its calibration.
func aaFailed() Guard {
	return Guard{
		Code:     "a-a-failed",
		Severity: experiment.SeverityWarn,
		Help: "Cells that are identical differ too often on this host. Over the controls of its sweeps, this one's among them, or in its calibration, p fell below 5% in more " +
			"comparisons than the binomial 95% point allows, 10 of 100. Then its verdicts seem to be wrong more often than they say: something there favours some runs, such as their " +
			"place in a round. The count is looked at after every sweep, so that within 100 sweeps one host in seven comes to this by chance. Look for a cause " +
			"(notes on the order of measuring, host-noise) before any difference is believed.",
		sweep: judgeAA,
	}
}

func judgeAA(s experiment.Sweep, r experiment.Results, _ float64) []experiment.Finding {
	var all []experiment.Finding
	count := s.AA
	for _, c := range r.Comparisons {
		control := slices.ContainsFunc(s.Cells, func(cell experiment.Cell) bool { return cell.Key == c.Cell && cell.Role == experiment.RoleControl })
		if c.Secondary || !control || c.Low == nil || c.P == nil {
			continue
		}
		count.Comparisons++
		if *c.P < analysis.AALevel {
			count.Alarms++
		}
	}
	// Of one comparison alone control-differs tells.
	if limit := analysis.AAAlarm(count.Comparisons); count.Comparisons > 1 && count.Alarms >= limit {
		all = append(all, finding(experiment.SeverityWarn, "on this host %d of %d controls differed from their baseline at 5%%, where fewer than %d are to be expected",
			count.Alarms, count.Comparisons, limit))
	}
	if c := s.Calibration; c != nil && c.Limit > 0 && c.Alarms >= c.Limit {
		all = append(all, finding(experiment.SeverityWarn, "the calibration of this host (sweep %d) failed: %d of %d comparisons of identical cells differed at 5%%, where fewer than %d are to be expected",
			c.Sweep, c.Alarms, c.Comparisons, c.Limit))
	}
	return all
}
