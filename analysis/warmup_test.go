package analysis

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestWarmup(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	series := func(n int, f func(i int) float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = f(i) + rng.NormFloat64()
		}
		return out
	}
	for _, tc := range []struct {
		name        string
		slices      []float64
		least, most int
		steady      bool
	}{
		{"steady from the start", series(200, func(int) float64 { return 100 }), 0, 50, true},
		{"a step at 40", series(200, func(i int) float64 { return 100 - 50*b2f(i < 40) }), 40, 95, true},
		{"an exponential rise", series(200, func(i int) float64 { return 100 * (1 - math.Exp(-float64(i)/10)) }), 30, 80, true},
		{"a rise that never ends", series(200, func(i int) float64 { return float64(i) }), 100, 100, false},
		{"too short to tell", series(99, func(int) float64 { return 100 }), 0, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cut, steady := Warmup(tc.slices)
			if cut < tc.least || cut > tc.most || steady != tc.steady {
				t.Errorf("cut %d, steady %v; want %d to %d, %v", cut, steady, tc.least, tc.most, tc.steady)
			}
		})
	}
	if cut, steady := Warmup(make([]float64, 200)); cut != 0 || !steady {
		t.Errorf("a constant series: cut %d, steady %v", cut, steady)
	}
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
