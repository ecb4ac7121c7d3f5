//go:build linux

package main

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/ceteris/ceteris/cmd/loadbench/target"
)

// spread is a few values of one thing.
type spread struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spreadOf gives the zero spread of no values.
func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return spread{N: n, Median: (s[(n-1)/2] + s[n/2]) / 2, Min: s[0], Max: s[n-1]}
}

// quantile gives the smallest value which the share q of all does not exceed (nearest
// rank); 0 of none.
func quantile[T cmp.Ordered](sorted []T, q float64) T {
	if len(sorted) == 0 {
		var none T
		return none
	}
	return sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)]
}

// lateness gives how late each arrival was, sorted. The k-th is due k intervals after the
// begin; the begin is that for which the least late arrival is not late at all, for no
// tool tells its own.
func lateness(records []target.Record, rate int) []time.Duration {
	return sinceDue(records, rate, func(r target.Record) int64 { return r.Arrived })
}

// sinceDue gives how long after it was due something came of each request, sorted.
func sinceDue(records []target.Record, rate int, came func(target.Record) int64) []time.Duration {
	start := begin(records, rate)
	out := make([]time.Duration, len(records))
	for k, r := range records {
		out[k] = time.Duration(came(r) - start - due(place(r, k), rate))
	}
	slices.Sort(out)
	return out
}

// begin is that of the schedule, ns of the target's clock.
func begin(records []target.Record, rate int) int64 {
	least := int64(math.MaxInt64)
	for k, r := range records {
		least = min(least, r.Arrived-due(place(r, k), rate))
	}
	return least
}

// place is that of a request in the schedule: its number, or without one that of its
// arrival.
func place(r target.Record, arrival int) int {
	if r.Number >= 0 {
		return int(r.Number)
	}
	return arrival
}

// due is the moment of the k-th arrival since the begin, in ns.
func due(k, rate int) int64 { return int64(k) * int64(time.Second) / int64(rate) }

// finest is the shortest time between two arrivals that tells them from a bunch: it takes
// the target nearly as long to answer the one before.
const finest = 20 * time.Microsecond

// near is the tenth of an interval.
func near(rate int) time.Duration { return time.Second / time.Duration(rate) / 10 }

// resolved reports whether bunching can be seen at a rate.
func resolved(rate int) bool { return near(rate) >= finest }

// bunched gives the share of arrivals that come within a tenth of the interval after the
// one before.
func bunched(records []target.Record, rate int) float64 {
	if len(records) < 2 {
		return 0
	}
	limit := int64(near(rate))
	n := 0
	for k := 1; k < len(records); k++ {
		if records[k].Arrived-records[k-1].Arrived <= limit {
			n++
		}
	}
	return float64(n) / float64(len(records)-1)
}
