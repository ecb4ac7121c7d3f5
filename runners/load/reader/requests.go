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

// kind is what the rows of one kind of request come to.
type kind struct {
	reduced
	of *result
}

// byRequest tells of each kind of request what is told of all, as METRIC{REQUEST}:
// where there are several, and each has a name that a metric can bear.
func (r *rows) byRequest(out *result, begin, end time.Time) error {
	kinds := r.kinds(out)
	names := slices.Sorted(maps.Keys(kinds))
	if len(kinds) < 2 || !nameable(out, names) {
		return nil
	}
	for _, one := range r.list {
		k, done := kinds[one.request], one.begin.Add(one.took)
		k.count(k.of, one, done.Before(end) || r.noClock != "")
		k.busy += overlap(one.begin, done, begin, end).Seconds()
	}
	for _, one := range r.early {
		if k := kinds[one.request]; k != nil {
			k.early(k.of, one, begin, end)
		}
	}
	out.Requests = map[string]experiment.Totals{}
	for _, name := range names {
		if err := kinds[name].tell(out, r, name); err != nil {
			return err
		}
	}
	return nil
}

// kinds gives those of the requests that began in the window, or the first of too many.
func (r *rows) kinds(out *result) map[string]*kind {
	kinds := map[string]*kind{}
	for _, one := range r.list {
		if len(kinds) > maxRequests {
			break
		}
		if kinds[one.request] == nil {
			of := newResult("", "")
			of.Window = out.Window
			of.Total = experiment.Totals{Statuses: map[string]int64{}, Errors: map[string]int64{}}
			of.Statuses, of.Errors = map[string]int64{}, map[string]int64{}
			kinds[one.request] = &kind{of: of}
		}
	}
	return kinds
}

// tell adds it to what is told of all.
func (k *kind) tell(out *result, r *rows, name string) error {
	k.reduced.tell(k.of, r)
	if err := k.distributions(k.of, r, name); err != nil {
		return err
	}
	for _, o := range k.of.Observations {
		o.Metric = experiment.MetricName{Base: o.Metric, Request: name}.String()
		out.Observations = append(out.Observations, o)
	}
	out.Histograms = append(out.Histograms, k.of.Histograms...)
	out.Requests[name] = k.of.Total
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
