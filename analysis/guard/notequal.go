package guard

import (
	"fmt"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// notEqual compares the configurations of the counting runs of each cell. A
// configuration holds image identities, so an image that changed between two
// invocations shows here.
func notEqual() Guard {
	return Guard{
		Code:     "not-equal",
		Severity: experiment.SeverityWarn,
		Help: "Runs of one cell differ in something besides chance: images, environment, limits, core sets or load changed between them, " +
			"mostly because a later invocation built or pulled another image. Their mean mixes two subjects. Start another sweep with --new.",
		sweep: judgeNotEqual,
	}
}

func judgeNotEqual(s experiment.Sweep, _ experiment.Results, _ float64) []experiment.Finding {
	var all []experiment.Finding
	for _, c := range s.Cells {
		var order []string
		count := map[string]int{}
		for _, r := range s.Runs {
			if r.Cell != c.Key || r.State != experiment.StateOK || r.ConfigHash == "" {
				continue
			}
			if count[r.ConfigHash] == 0 {
				order = append(order, r.ConfigHash)
			}
			count[r.ConfigHash]++
		}
		if len(order) < 2 {
			continue
		}
		parts := make([]string, len(order))
		for i, h := range order {
			parts[i] = fmt.Sprintf("%s of %.8s", plural(count[h], "run"), h)
		}
		f := finding(experiment.SeverityWarn, "%s ran in %d configurations: %s", c.Label(), len(order), strings.Join(parts, ", "))
		f.Cell = c.Key
		all = append(all, f)
	}
	return all
}
