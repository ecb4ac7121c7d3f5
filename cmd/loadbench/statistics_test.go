//go:build linux

package main

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/cmd/loadbench/target"
)

const (
	us = time.Microsecond
	ms = time.Millisecond
)

func TestSpread(t *testing.T) {
	for name, tt := range map[string]struct {
		values []float64
		want   spread
	}{
		"none":              {nil, spread{}},
		"one":               {[]float64{3}, spread{1, 3, 3, 3}},
		"odd, not in order": {[]float64{5, 1, 2}, spread{3, 2, 1, 5}},
		"even: the middle":  {[]float64{4, 1, 2, 8}, spread{4, 3, 1, 8}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(spreadOf(tt.values), tt.want); d != "" {
				t.Errorf("(-got +want):\n%s", d)
			}
		})
	}
}

func TestQuantileIsTheNearestRank(t *testing.T) {
	var sorted []int
	for i := range 1000 {
		sorted = append(sorted, i+1)
	}
	got := []int{quantile(sorted, 0.5), quantile(sorted, 0.99), quantile(sorted, 0.999), quantile(sorted, 1), quantile(sorted, 0), quantile(sorted[:1], 0.5), quantile(sorted[:0], 0.5)}
	if d := cmp.Diff(got, []int{500, 990, 999, 1000, 1, 1, 0}); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
}

// arrivals are records by their moments.
func arrivals(at ...time.Duration) []target.Record {
	out := make([]target.Record, len(at))
	for i, one := range at {
		out[i] = target.Record{Arrived: int64(time.Hour + one), Answered: int64(time.Hour + one), Number: -1}
	}
	return out
}

func TestLateness(t *testing.T) {
	for name, tt := range map[string]struct {
		at   []time.Duration
		want []time.Duration
	}{
		"in time":                              {[]time.Duration{0, ms, 2 * ms}, []time.Duration{0, 0, 0}},
		"one late":                             {[]time.Duration{0, ms + 300*us, 2 * ms}, []time.Duration{0, 0, 300 * us}},
		"the first late: others are not early": {[]time.Duration{200 * us, ms, 2 * ms}, []time.Duration{0, 0, 200 * us}},
		"a burst after a pause":                {[]time.Duration{0, 3 * ms, 3 * ms, 3 * ms}, []time.Duration{0, 0, ms, 2 * ms}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(lateness(arrivals(tt.at...), 1000), tt.want); d != "" {
				t.Errorf("(-got +want):\n%s", d)
			}
		})
	}
}

func TestBunched(t *testing.T) {
	for name, tt := range map[string]struct {
		at   []time.Duration
		want float64
	}{
		"even":                          {[]time.Duration{0, ms, 2 * ms, 3 * ms, 4 * ms}, 0},
		"two of four gaps are short":    {[]time.Duration{0, 100 * us, 2 * ms, 2 * ms, 4 * ms}, 0.5},
		"just over a tenth is no bunch": {[]time.Duration{0, 101 * us, 2 * ms}, 0},
		"one arrival":                   {[]time.Duration{0}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := bunched(arrivals(tt.at...), 1000); got != tt.want {
				t.Errorf("got %g, want %g", got, tt.want)
			}
		})
	}
}

// What came out of order is told from its own place in the schedule.
func TestRecordedKeepsNumbers(t *testing.T) {
	records := []target.Record{
		{Arrived: 1_000_000, Answered: 2_000_000, Number: 0},
		{Arrived: 9_000_000, Answered: 9_500_000, Number: 2},
		{Arrived: 9_000_001, Answered: 9_600_000, Number: 1},
	}
	if d := cmp.Diff(recorded(records, 1000), []time.Duration{ms, 6500 * us, 7600 * us}); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
}

// A schedule of 1000/s for 10 s with a stall of 1 s: a tenth waits for its end.
func TestIdeal(t *testing.T) {
	first := int64(time.Hour)
	r := target.Report{Records: []target.Record{{Arrived: first}}, StallFrom: first + int64(4*time.Second), StallTo: first + int64(5*time.Second)}
	got := ideal(r, 10_000, 1000)
	if !slices.IsSorted(got) || len(got) != 10_000 {
		t.Fatalf("%d times, sorted %v", len(got), slices.IsSorted(got))
	}
	// Those of the stall wait from 1.01 s down to 11 ms. The ten before it were to be
	// answered in it, and are at its end: twenty are above a second.
	if d := cmp.Diff(tell(got), Told{"p50": 0.01, "p99": 0.92, "p999": 1.005, "max": 1.01}); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
	late := 0
	for _, one := range got {
		if one > stallDelay {
			late++
		}
	}
	if late != 1010 {
		t.Errorf("%d of them waited for the stall", late)
	}
}
