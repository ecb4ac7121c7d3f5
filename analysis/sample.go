package analysis

import (
	"math"
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// Sample holds one value a counting run of one cell, for one metric.
type Sample struct {
	Cell   experiment.CellKey
	Rounds []int // round of each value, ascending; nil for values without rounds
	Values []float64
	Unfit  string // why the values may not be tested; empty if they may
}

// paired reports whether the values belong to rounds.
func (s Sample) paired() bool { return s.Rounds != nil }

// shared gives the values of both samples in the rounds that both have.
func shared(base, other Sample) (a, b []float64) {
	for i, j := 0, 0; i < len(base.Rounds) && j < len(other.Rounds); {
		switch {
		case base.Rounds[i] < other.Rounds[j]:
			i++
		case base.Rounds[i] > other.Rounds[j]:
			j++
		default:
			a, b = append(a, base.Values[i]), append(b, other.Values[j])
			i++
			j++
		}
	}
	return a, b
}

// sharedRounds gives the rounds that both samples have.
func sharedRounds(base, other Sample) []int {
	rounds := []int{}
	for _, r := range base.Rounds {
		if slices.Contains(other.Rounds, r) {
			rounds = append(rounds, r)
		}
	}
	return rounds
}

// checkFinite wants at least one value, all finite.
func checkFinite(samples ...[]float64) error {
	for _, x := range samples {
		if len(x) == 0 {
			return ErrNoData
		}
		for _, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return ErrNotFinite
			}
		}
	}
	return nil
}

// checkPositive wants finite values above zero.
func checkPositive(samples ...[]float64) error {
	if err := checkFinite(samples...); err != nil {
		return err
	}
	for _, x := range samples {
		for _, v := range x {
			if v <= 0 {
				return ErrNonPositive
			}
		}
	}
	return nil
}

// checkConfidence wants a level strictly between 0 and 1.
func checkConfidence(confidence float64) error {
	if !(confidence > 0 && confidence < 1) {
		return ErrBadParameter
	}
	return nil
}

func logs(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Log(v)
	}
	return out
}

func minus(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

// largest gives the largest absolute value.
func largest(samples ...[]float64) float64 {
	var m float64
	for _, x := range samples {
		for _, v := range x {
			m = max(m, math.Abs(v))
		}
	}
	return m
}

// negligible is the standard deviation, relative to the scale of the values,
// that counts as none: equal ratios differ in the last bits of their logarithms.
const negligible = 1e-12
