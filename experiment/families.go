package experiment

import "strings"

// MetricFamilies shortens a list of metrics for people: latency_p50 and latency_p99 are
// latency_p50|p99, and all that there is of a distribution is latency_*.
func MetricFamilies(metrics []string) []string {
	var prefixes []string
	members := map[string][]string{}
	for _, m := range metrics {
		prefix := m
		i := strings.LastIndexByte(m, '_') + 1
		if _, is := quantileByName(m[i:]); is {
			prefix = m[:i]
		}
		if members[prefix] == nil {
			prefixes = append(prefixes, prefix)
		}
		members[prefix] = append(members[prefix], strings.TrimPrefix(m, prefix))
	}
	for i, prefix := range prefixes {
		if of := members[prefix]; len(of) < len(Quantiles()) {
			prefixes[i] += strings.Join(of, "|")
		} else {
			prefixes[i] += "*"
		}
	}
	return prefixes
}

// GroupUnknown makes one of all that are unknown for one reason, whose Metric is a list
// for people. They stand in the order in which the reasons come first.
func GroupUnknown(all []Unknown) []Unknown {
	var out []Unknown
	by := map[string][]string{}
	for _, u := range all {
		if by[u.Why] == nil {
			out = append(out, Unknown{Why: u.Why})
		}
		by[u.Why] = append(by[u.Why], u.Metric)
	}
	for i, u := range out {
		out[i].Metric = strings.Join(MetricFamilies(by[u.Why]), ", ")
	}
	return out
}
