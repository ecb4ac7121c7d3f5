package db

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestEncodeTrack(t *testing.T) {
	for _, tc := range []struct {
		name      string
		values    []float64 // a slice each; NaN: none
		base, per float64
		points    any
	}{
		{"counts are exact", []float64{500, 12345678, 501}, 500, 1, "[0,12345178,1]"},
		{"below zero", []float64{0, -3}, -3, 1, "[3,0]"},
		{"all alike", []float64{64, 64, 64}, 64, 1, nil},
		{"all alike save a gap", []float64{64, math.NaN(), 64}, 64, 1, "[0,null,0]"},
		{"nothing at first", []float64{math.NaN(), 1, 3}, 1, 1, "[null,0,2]"},
		{"latencies in microseconds", []float64{0.0123456, 0.000349321}, 349, 1e6, "[11997,0]"},
		{"an outlier of seconds", []float64{0.00212, 12.3456789}, 2, 1e3, "[0,12344]"},
		{"requests in flight", []float64{63.987654, 64}, 63988, 1e3, "[0,12]"},
		{"nanoseconds", []float64{2.5e-7, 1e-9}, 10, 1e10, "[2490,0]"},
		{"fractions of what is large", []float64{1234567.8, 0.4}, 0, 1, "[1234568,0]"},
		{"the smallest number", []float64{math.SmallestNonzeroFloat64}, 0, 1e21, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			values := track{}
			var times []int64
			for i, v := range tc.values {
				times = append(times, int64(i))
				if !math.IsNaN(v) {
					values[int64(i)] = v
				}
			}
			got := values.encode(times)
			if got.base != tc.base || math.Abs(got.per/tc.per-1) > 1e-9 || got.points != tc.points {
				t.Errorf("got %+v, want %v by %v from %v", got, tc.points, tc.per, tc.base)
			}
		})
	}
}

// TestSeriesShareAxes: runs of unequal length have one axis, others their own, and
// each reads its own times.
func TestSeriesShareAxes(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	head, _ := begin(t, d, 2)
	pending := pendingRuns(t, d, head.ID)
	all := [][]int64{{-50, 0, 50}, {-50, 0, 50, 100}, {-50, 0}, {-50, 7, 50}, {3, 9}, {-50, 0, 50, 100}}
	for i, times := range all {
		o := experiment.Outcome{Run: beginRun(t, d, pending[i])}
		o.Run.State = experiment.StateOK
		for _, at := range times {
			o.Series = append(o.Series,
				experiment.SeriesPoint{Service: "app", Metric: "cpu", AtMS: at, Value: float64(at)},
				experiment.SeriesPoint{Service: "app", Metric: "constant", AtMS: at, Value: 0.25})
		}
		if err := d.EndRun(ctx, o, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, times := range all {
		got, err := numbers(ctx, d.pool, `SELECT at_ms FROM series WHERE run = ? AND value = at_ms AND service = 'app' AND metric = 'cpu' ORDER BY at_ms`, pending[i].ID)
		if err != nil || !slices.Equal(got, times) {
			t.Errorf("run %d has times %d, want %d, %v", i, got, times, err)
		}
		got, err = numbers(ctx, d.pool, `SELECT at_ms FROM series WHERE run = ? AND value = 0.25 AND metric = 'constant' ORDER BY at_ms`, pending[i].ID)
		if err != nil || !slices.Equal(got, times) {
			t.Errorf("run %d is constant at %d, want %d, %v", i, got, times, err)
		}
	}
	axes, err := numbers(ctx, d.pool, `SELECT axis FROM series_points WHERE metric = 'cpu' ORDER BY run`)
	if diff := cmp.Diff([]int64{1, 1, 1, 2, 3, 1}, axes); diff != "" || err != nil {
		t.Errorf("axes: %s, %v", diff, err)
	}
}
