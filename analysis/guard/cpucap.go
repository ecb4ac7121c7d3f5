package guard

import "github.com/ceteris/ceteris/experiment"

// atCap is the share of its processor limit at which a service is at it.
const atCap = 0.95

// cpuCap looks at the services that have a processor limit of their own. A core that a
// service has to itself is no limit that the matrix declares.
func cpuCap() Guard {
	return Guard{
		Code:      "cpu-cap",
		Severity:  experiment.SeverityNote,
		Threshold: 0.01,
		Unit:      experiment.UnitRatio,
		Help: "A service was held back by its processor limit (limits.cpus) for more than this share of the window, or used 95% of it. The kernel " +
			"stops it for the rest of each period, which stands in the tail of the latency, and what is compared is how cells get along with " +
			"the limit: other factors may not show. Raise the limit, or lower the load.",
		run: judgeCPUCap,
	}
}

func judgeCPUCap(o experiment.Outcome, limit float64) []experiment.Finding {
	var all []experiment.Finding
	for _, s := range o.Plan.Services {
		throttled, used := s.Name+".throttled", s.Name+".cpu"
		var f experiment.Finding
		if held, ok := observed(o, throttled); ok && held > limit {
			f = measured(experiment.SeverityNote, throttled, held, "%s was held back by its processor limit for %s of the window (limit %s)", s.Name, share(held), share(limit))
		} else if cpus := s.Limits.CPUs * float64(max(s.Replicas, 1)); cpus > 0 && o.Host.Enforces.CPUs {
			busy, ok := observed(o, used)
			if !ok || busy <= atCap*cpus {
				continue
			}
			f = finding(experiment.SeverityNote, "%s used %s of its limit of %s", s.Name, number(busy), cores(cpus))
			f.Metric = used
		} else {
			continue
		}
		f.Service = s.Name
		all = append(all, f)
	}
	return all
}

// cores gives "1 core", "1.5 cores".
func cores(n float64) string {
	if n == 1 {
		return "1 core"
	}
	return number(n) + " cores"
}
