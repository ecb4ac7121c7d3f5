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
		name   string
		values []float64 // a slice each; NaN: none
		per    float64
		points string
	}{
		{"counts are exact", []float64{0, 12345678, -3}, 1, "[0,12345678,-3]"},
		{"a gap", []float64{1, math.NaN(), 3, math.NaN()}, 1, "[1,null,3,null]"},
		{"latencies in microseconds", []float64{0.0123456, 0.000349321, 0.71055}, 1e6, "[12346,349,710550]"},
		{"an outlier of seconds", []float64{0.00212, 12.3456789}, 1e4, "[21,123457]"},
		{"requests in flight", []float64{63.987654, 64}, 1e4, "[639877,640000]"},
		{"nanoseconds", []float64{2.5e-7, 1e-9}, 1e10, "[2500,10]"},
		{"fractions of what is large", []float64{1234567.8, 0.4}, 1, "[1234568,0]"},
		{"the smallest number", []float64{math.SmallestNonzeroFloat64}, 1e21, "[0]"},
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
			per, points := values.encode(times)
			if math.Abs(per/tc.per-1) > 1e-9 || points != tc.points {
				t.Errorf("got %s by %v, want %s by %v", points, per, tc.points, tc.per)
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
			o.Series = append(o.Series, experiment.SeriesPoint{Service: "app", Metric: "cpu", AtMS: at, Value: float64(at)})
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
	}
	axes, err := numbers(ctx, d.pool, `SELECT axis FROM series_points ORDER BY run`)
	if diff := cmp.Diff([]int64{1, 1, 1, 2, 3, 1}, axes); diff != "" || err != nil {
		t.Errorf("axes: %s, %v", diff, err)
	}
}
