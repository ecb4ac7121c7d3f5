package analysis

import (
	"math"
	"slices"
)

// Bonferroni multiplies p-values by their number. NaN marks a comparison without
// a p-value: it stays NaN and leaves the family.
func Bonferroni(p []float64) ([]float64, error) {
	members, err := familyOf(p)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(p)
	for _, i := range members {
		out[i] = min(1, p[i]*float64(len(members)))
	}
	return out, nil
}

// Holm adjusts p-values by the step-down procedure of Holm (1979). NaN as in
// Bonferroni.
func Holm(p []float64) ([]float64, error) {
	members, err := familyOf(p)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(members, func(a, b int) int {
		if p[a] < p[b] {
			return -1
		} else if p[a] > p[b] {
			return 1
		}
		return 0
	})
	out := slices.Clone(p)
	var least float64
	for rank, i := range members {
		least = max(least, min(1, p[i]*float64(len(members)-rank)))
		out[i] = least
	}
	return out, nil
}

// familyOf gives the positions that hold a p-value.
func familyOf(p []float64) ([]int, error) {
	var members []int
	for i, v := range p {
		switch {
		case math.IsNaN(v):
		case v < 0 || v > 1:
			return nil, ErrBadParameter
		default:
			members = append(members, i)
		}
	}
	return members, nil
}
