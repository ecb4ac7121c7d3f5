package analysis

import (
	"math"
	"testing"
)

// The rules are fine enough: a far finer one changes nothing that could be seen.
func TestDunnettConverged(t *testing.T) {
	coarse, fine := newDunnett(), newDunnettOf(150, 150)
	for _, k := range []int{2, 5, 12, 40, 100} {
		for _, df := range []int{1, 2, 6, 20, 88, 5000} {
			for _, x := range []float64{0, 0.01, 0.5, 1, 2, 2.5, 3, 4, 8, 50} {
				got, want := coarse.tail(x, k, df), fine.tail(x, k, df)
				if math.Abs(got-want) > 1e-6*want+1e-14 {
					t.Errorf("tail(%v, %d, %d): got %v, want %v", x, k, df, got, want)
				}
			}
		}
	}
}

// A critical value and its tail are inverse, and lie between those of a single
// comparison and Bonferroni's.
func TestDunnettQuantileInvertsTail(t *testing.T) {
	d := newDunnett()
	for _, confidence := range []float64{0.5, 0.9, 0.95, 0.97, 0.9999} {
		for _, k := range []int{2, 3, 11, 60} {
			for _, df := range []int{2, 6, 30, 9999} {
				c := d.quantile(confidence, k, df)
				if got, want := d.tail(c, k, df), 1-confidence; math.Abs(got-want) > 1e-8*want {
					t.Errorf("tail(quantile(%v, %d, %d)): got %v, want %v", confidence, k, df, got, want)
				}
				lo, hi := tQuantile(twoSided(confidence), float64(df)), tQuantile(1-(1-confidence)/(2*float64(k)), float64(df))
				if c <= lo || c > hi*(1+1e-9) {
					t.Errorf("quantile(%v, %d, %d) = %v lies outside %v to %v", confidence, k, df, c, lo, hi)
				}
			}
		}
	}
}
