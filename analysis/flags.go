package analysis

import "slices"

// Thresholds of the flags on a cell. Simulated false alarms on normal data are 3%
// at the smallest n and 1% at n = 10 for both.
const (
	multimodalFrom = 8   // runs
	multimodalGap  = 0.5 // of the range
	outlierFrom    = 7   // runs
	outlierMADs    = 7   // scaled median absolute deviations
)

// Gap is the widest gap between ordered values with two values or more on each
// side.
type Gap struct {
	OverRange  float64 // its share of the range, 0 if the range is 0
	LowerCount int     // values below it
	Multimodal bool    // it is at least half the range
}

// WidestGap looks for a second mode. ErrTooFew below 8 values.
func WidestGap(x []float64) (Gap, error) {
	if err := checkFinite(x); err != nil {
		return Gap{}, err
	}
	n := len(x)
	if n < multimodalFrom {
		return Gap{}, ErrTooFew
	}
	s := slices.Sorted(slices.Values(x))
	g := Gap{LowerCount: 2}
	widest := s[2] - s[1]
	for i := 3; i <= n-2; i++ {
		if d := s[i] - s[i-1]; d > widest {
			widest, g.LowerCount = d, i
		}
	}
	if span := s[n-1] - s[0]; span > 0 {
		g.OverRange = widest / span
	}
	g.Multimodal = g.OverRange >= multimodalGap
	return g, nil
}

// Outliers gives the positions of values farther from the median than k scaled
// median absolute deviations (Leys et al. 2013). If the deviation is 0, that is
// every value that differs. ErrTooFew below 7 values.
func Outliers(x []float64, k float64) ([]int, error) {
	if err := checkFinite(x); err != nil {
		return nil, err
	}
	if len(x) < outlierFrom {
		return nil, ErrTooFew
	}
	m, limit := median(x), k*madScale*mad(x)
	var out []int
	for i, v := range x {
		if v < m-limit || v > m+limit {
			out = append(out, i)
		}
	}
	return out, nil
}
