package reader

import (
	"fmt"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// mixedMost is the share of failures up to which quantiles over all outcomes stand for
// those of successes.
const mixedMost = 0.01

// mixed applies the rule of quantiles over mixed outcomes, as the package tells it: of
// done requests, others (what says which) are no successes. It comes after the quantiles
// were set. apart says what tells successes from failures; empty where nothing does.
func (r *result) mixed(others, done int64, what, apart string) {
	numbers := r.quantilesSet()
	if others <= 0 || len(numbers) == 0 {
		return
	}
	told := fmt.Sprintf("the response times are of successes and %d %s of %d requests together", others, what, done)
	if float64(others) <= mixedMost*float64(done) {
		r.note("%s", told)
		return
	}
	why := "the times of failures are mixed in"
	if apart != "" {
		why += ": " + apart + " tells them apart"
	}
	for _, prefix := range []string{"latency_", "service_time_"} {
		for _, q := range experiment.Quantiles() {
			if r.has(prefix + q.Name) {
				r.forget(prefix+q.Name, why)
			}
		}
	}
	r.forget("latency_count", why)
	r.warn("%s, and are no metric here: %s", told, strings.Join(numbers, ", "))
}

// quantilesSet gives the response times that were set, to be read by people: a latency
// only where it is not the service time.
func (r *result) quantilesSet() []string {
	var out []string
	for _, prefix := range []string{"service_time_", "latency_"} {
		for _, q := range experiment.Quantiles() {
			v, told := r.value(prefix + q.Name)
			if same, both := r.value("service_time_" + q.Name); told && (prefix == "service_time_" || !both || same != v) {
				out = append(out, fmt.Sprintf("%s%s %.4g s", prefix, q.Name, v))
			}
		}
	}
	return out
}
