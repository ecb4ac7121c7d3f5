package analysis

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// preciseShare is the part of the error that intervals may spend when measuring stops
// at the first that is narrow enough: 97% intervals, looked at after every round from
// the fifth on, are wrong in 2.9 to 5.2% of sweeps (simulated).
const preciseShare = 0.6

// PreciseConfidence is the level at which intervals are made, and then reported as
// those at the nominal confidence, when measuring goes on until they are narrow enough.
func PreciseConfidence(confidence float64) float64 { return 1 - preciseShare*(1-confidence) }

// LookConfidence is the level of the intervals at each of a number of looks, at least
// 1, that together keep the nominal confidence (Bonferroni), whatever makes one stop.
func LookConfidence(confidence float64, looks int) float64 {
	return 1 - (1-confidence)/float64(looks)
}

// Spending functions give the part of alpha that may be spent up to each look, by the
// share of all information that is in by then, above 0 and at most 1 (Lan and DeMets
// 1983). No rule of stopping here rests on them: the first leaves next to nothing for
// early looks.

// SpentOBrienFleming spends late, as the bounds of O'Brien and Fleming (1979) do.
func SpentOBrienFleming(alpha, information float64) (float64, error) {
	if err := checkSpending(alpha, information); err != nil {
		return 0, err
	}
	z := distuv.UnitNormal.Quantile(1 - alpha/2)
	return normalTwoSided(z / math.Sqrt(information)), nil
}

// SpentPocock spends evenly, as the bounds of Pocock (1977) do.
func SpentPocock(alpha, information float64) (float64, error) {
	if err := checkSpending(alpha, information); err != nil {
		return 0, err
	}
	return alpha * math.Log1p((math.E-1)*information), nil
}

func checkSpending(alpha, information float64) error {
	if !(alpha > 0 && alpha < 1 && information > 0 && information <= 1) {
		return ErrBadParameter
	}
	return nil
}
