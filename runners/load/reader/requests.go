package reader

import (
	"maps"
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

const (
	maxRequests      = 100 // kinds of requests that are told apart
	maxRequestLength = 63  // bytes of the name of one
)

// byRequest tells of each kind of request what is told of all, as METRIC{REQUEST}:
// where there are several, and each has a name that a metric can bear.
func (r *rows) byRequest(out *result, begin, end time.Time) error {
	kinds := map[string][]row{}
	for _, one := range r.list {
		if _, known := kinds[one.request]; !known && len(kinds) > maxRequests {
			continue
		}
		kinds[one.request] = append(kinds[one.request], one)
	}
	names := slices.Sorted(maps.Keys(kinds))
	if len(kinds) < 2 || !nameable(out, names) {
		return nil
	}
	out.Requests = map[string]experiment.Totals{}
	for _, name := range names {
		if err := r.oneKind(out, name, kinds[name], begin, end); err != nil {
			return err
		}
	}
	return nil
}

func (r *rows) oneKind(out *result, name string, list []row, begin, end time.Time) error {
	of := newResult("", "")
	of.Window = out.Window
	of.Total = experiment.Totals{Statuses: map[string]int64{}, Errors: map[string]int64{}}
	of.Statuses, of.Errors = map[string]int64{}, map[string]int64{}
	c := &reduced{}
	for _, one := range list {
		done := one.begin.Add(one.took)
		c.count(of, one, done.Before(end) || r.noClock != "")
		c.busy += overlap(one.begin, done, begin, end).Seconds()
	}
	for _, one := range r.early {
		if one.request == name {
			c.early(of, one, begin, end)
		}
	}
	c.tell(of, r)
	if err := c.distributions(of, r, name); err != nil {
		return err
	}
	for _, o := range of.Observations {
		o.Metric = experiment.MetricName{Base: o.Metric, Request: name}.String()
		out.Observations = append(out.Observations, o)
	}
	out.Histograms = append(out.Histograms, of.Histograms...)
	out.Requests[name] = of.Total
	return nil
}

// nameable reports whether all kinds can be told apart, and notes why they cannot.
func nameable(out *result, names []string) bool {
	if len(names) > maxRequests {
		out.note("it tells of more than %d kinds of requests: they are not told apart", maxRequests)
		return false
	}
	for _, name := range names {
		if !experiment.ValidName(name) || len(name) > maxRequestLength {
			out.note("its %d kinds of requests are not told apart: %s is no name of a request (a letter, then letters, digits, _ and -)", len(names), quote([]byte(name)))
			return false
		}
	}
	return true
}
