package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// checkMetric wants a metric by which cells can be compared: one that a run of
// this matrix observes in the measured window. The error is a *HintError.
func (m *Matrix) checkMetric(name string) error {
	service, base, ofService := strings.Cut(name, ".")
	if ofService {
		return m.checkServiceMetric(service, base)
	}
	_, known := MetricByName(name)
	rest, quantile := m.observedRequests()
	names := append(rest, quantile...)
	switch {
	case slices.Contains(names, name):
		return nil
	case known:
		return WithHint(fmt.Errorf("no good run of this matrix observes %s in the measured window", name),
			"observed are "+strings.Join(rest, ", ")+" and quantiles such as latency_p99")
	default:
		return WithHint(fmt.Errorf("there is no metric %q", name), didYouMean(name, names))
	}
}

func (m *Matrix) checkServiceMetric(service, base string) error {
	_, known := MetricByName(service + "." + base)
	names := m.observedOf(service)
	switch {
	case slices.Contains(names, base):
		return nil
	case m.service(service) == nil && !slices.Contains(reservedNames(), service):
		return WithHint(fmt.Errorf("there is no service %q", service), didYouMean(service, m.serviceNames()))
	case len(names) == 0:
		return WithHint(fmt.Errorf("no run of this matrix has a service %s", service), "")
	case known:
		return WithHint(fmt.Errorf("no good run of this matrix observes %s.%s in the measured window", service, base),
			"observed of "+service+": "+strings.Join(names, ", "))
	default:
		return WithHint(fmt.Errorf("there is no metric %q of a service", base), didYouMean(base, names))
	}
}

// observedRequests lists the metrics of requests that the generator reports,
// quantiles and maxima apart.
func (m *Matrix) observedRequests() (rest, quantile []string) {
	for _, r := range requestMetrics() {
		if r.Name != "dropped" || m.Load.Closed == nil { // a user waits, and drops nothing
			rest = append(rest, r.Name)
		}
	}
	for prefix := range quantilePrefixes() {
		if prefix == latenessPrefix {
			quantile = append(quantile, prefix+latenessQuantile)
			continue
		}
		quantile = append(quantile, prefix+maximum)
		for q := range quantiles() {
			quantile = append(quantile, prefix+q)
		}
	}
	slices.Sort(quantile)
	return rest, quantile
}

// observedOf lists the metrics of a service, or of what has a reserved name, that
// are observed in the window, without its name. Where the runner is not chosen yet,
// each may be.
func (m *Matrix) observedOf(service string) []string {
	containers := m.Runner != RunnerProcess
	switch {
	case m.service(service) == nil && !slices.Contains(reservedNames(), service):
		return nil
	case service == HostName:
		return []string{"busy", "other", "steal"}
	case service == ConductorName, service == EngineName && containers:
		return []string{"cpu"}
	case service == EngineName, service == LinkProxyName && len(m.Subject.Links) == 0:
		return nil
	case containers: // only an engine counts what it throttles and the network
		return []string{"cpu", "memory_peak", "log_bytes", "log_lines", "net_received", "net_sent", "throttled"}
	default:
		return []string{"cpu", "memory_peak", "log_bytes", "log_lines"}
	}
}
