package experiment

import "slices"

// Quantile is one of those that are told of a distribution, under its name in metrics:
// latency_ and p99 are latency_p99.
type Quantile struct {
	Name string
	Q    float64 // above 0; 1 is the largest value
}

// maximum stands in the place of a quantile. It needs no number of requests.
const maximum = "max"

// Quantiles gives all that are told, in ascending order.
func Quantiles() []Quantile {
	return []Quantile{{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}, {maximum, 1}}
}

// quantileByName finds one, the maximum too.
func quantileByName(name string) (Quantile, bool) {
	i := slices.IndexFunc(Quantiles(), func(q Quantile) bool { return q.Name == name })
	if i < 0 {
		return Quantile{}, false
	}
	return Quantiles()[i], true
}
