package experiment

import "testing"

// TestMSER5IsThatOfTheFormula: each value stands for a whole batch.
func TestMSER5IsThatOfTheFormula(t *testing.T) {
	batches := func(values ...float64) []float64 {
		var out []float64
		for _, v := range values {
			for range MSERBatch {
				out = append(out, v)
			}
		}
		return out
	}
	for _, tc := range []struct {
		name   string
		series []float64
		cut    int
		level  float64
		steady bool
	}{
		// The sums over the square of what is left are: all 14/36, without one 3.2/25, without two 0.
		{"1 3 5 5 5 5", batches(1, 3, 5, 5, 5, 5), 2 * MSERBatch, 5, true},
		// No cut pays: 12/16, 10.67/9, 8/4.
		{"5 5 5 9", batches(5, 5, 5, 9), 0, 6, true},
		{"a rise", batches(1, 2, 3, 4), 2 * MSERBatch, 3.5, false},
		{"slices that make no batch", append(batches(1, 3, 5, 5, 5, 5), 900, 900), 2 * MSERBatch, 5, true},
		{"nothing", nil, 0, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cut, level, steady := MSER5(tc.series)
			if cut != tc.cut || level != tc.level || steady != tc.steady {
				t.Errorf("cut %d, level %g, steady %v; want %d, %g, %v", cut, level, steady, tc.cut, tc.level, tc.steady)
			}
		})
	}
}
