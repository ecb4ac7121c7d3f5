package analysis

import (
	"errors"
	"math"
	"sort"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// How many rounds are planned. All of it is for the paired t of one comparison, whose
// sample is one value a round: the logarithm of cell by baseline. Standard deviations,
// effects and half-widths are on that scale. math.Log1p takes a fraction there and
// math.Expm1 back; where cells vary independently the standard deviation is
// math.Sqrt2 times that of one cell. For k comparisons at once give alpha/k.

// ErrOutOfReach says that more than 10 000 rounds would be needed.
var ErrOutOfReach = errors.New("more rounds than can be planned")

// fewestPaired is the fewest rounds that give a paired t.
const fewestPaired = 2

// UpperSD is the upper one-sided confidence limit of a standard deviation that was
// estimated with df degrees of freedom. Rounds are planned with the 80% limit of a
// pilot's, for the estimate itself is too small half of the time.
func UpperSD(sd float64, df int, confidence float64) (float64, error) {
	if err := checkConfidence(confidence); err != nil {
		return 0, err
	}
	if err := checkFinite([]float64{sd}); err != nil {
		return 0, err
	}
	if df < 1 {
		return 0, ErrTooFew
	}
	if sd < 0 {
		return 0, ErrBadParameter
	}
	low := distuv.ChiSquared{K: float64(df)}.Quantile(1 - confidence)
	return sd * math.Sqrt(float64(df)/low), nil
}

// PowerOf is the chance that n rounds show a true effect delta, above 0, at level
// alpha on either side of none (noncentral t).
func PowerOf(sd, delta float64, n int, alpha float64) (float64, error) {
	if err := checkPlan(sd, delta, alpha); err != nil {
		return 0, err
	}
	if n < fewestPaired {
		return 0, ErrTooFew
	}
	return powerAt(delta/sd, float64(n), alpha), nil
}

// RoundsForPower is the smallest number of rounds, at least 2, that show a true effect
// delta with a chance of power, above alpha and below 1. Without any variance it
// fails with ErrZeroVariance: whatever is the minimum elsewhere will do.
func RoundsForPower(sd, delta, power, alpha float64) (int, error) {
	if err := checkPlan(sd, delta, alpha); err != nil {
		return 0, err
	}
	if !(power > alpha && power < 1) {
		return 0, ErrBadParameter
	}
	return fewest(func(n int) bool { return powerAt(delta/sd, float64(n), alpha) >= power })
}

// DetectableEffect is the true effect that n rounds show with a chance of power, above
// alpha and below 1.
func DetectableEffect(sd float64, n int, power, alpha float64) (float64, error) {
	if err := checkPlan(sd, 1, alpha); err != nil {
		return 0, err
	}
	if !(power > alpha && power < 1) {
		return 0, ErrBadParameter
	}
	if n < fewestPaired {
		return 0, ErrTooFew
	}
	short := func(effect float64) float64 { return power - powerAt(effect, float64(n), alpha) }
	hi := 1.0
	for short(hi) > 0 {
		hi *= 2
	}
	return sd * root(0, hi, short), nil
}

// RoundsForHalfWidth is the smallest number of rounds, at least 2, whose interval
// reaches at most halfWidth to either side. It takes the standard deviation for known:
// chance makes one interval wider and the next narrower.
func RoundsForHalfWidth(sd, halfWidth, confidence float64) (int, error) {
	if err := checkPlan(sd, halfWidth, 1-confidence); err != nil {
		return 0, err
	}
	level := twoSided(confidence)
	return fewest(func(n int) bool { return tQuantile(level, float64(n-1))*sd/math.Sqrt(float64(n)) <= halfWidth })
}

// EquivalencePower is the chance that n rounds show, by two one-sided tests at level
// alpha, that an effect lies within delta on either side of none, where there is none.
func EquivalencePower(sd, delta float64, n int, alpha float64) (float64, error) {
	if err := checkPlan(sd, delta, alpha); err != nil {
		return 0, err
	}
	if n < fewestPaired {
		return 0, ErrTooFew
	}
	df, root := float64(n-1), math.Sqrt(float64(n))
	edge, t := delta/sd*root, tQuantile(1-alpha, float64(n-1))
	// The mean lies within edge - t*s of none, for every estimate s of a standard
	// deviation of 1 that leaves room; df*s^2 is chi-square.
	chi := distuv.ChiSquared{K: df}
	within := func(s float64) float64 {
		return math.Erf((edge-t*s)/math.Sqrt2) * chi.Prob(df*s*s) * 2 * df * s
	}
	lo, hi := max(0, 1-dunnettReach/math.Sqrt(2*df)), min(edge/t, 1+dunnettReach/math.Sqrt(2*df))
	if hi <= lo {
		return 0, nil
	}
	return quad.Fixed(within, lo, hi, 100, quad.Legendre{}, 0), nil
}

// checkPlan wants an effect or width, and a spread to set it against.
func checkPlan(sd, delta, alpha float64) error {
	if err := checkFinite([]float64{sd, delta, alpha}); err != nil {
		return err
	}
	switch {
	case !(alpha > 0 && alpha < 1), delta <= 0, sd < 0:
		return ErrBadParameter
	case sd == 0:
		return ErrZeroVariance
	default:
		return nil
	}
}

// fewest is the smallest number of rounds that is enough, when all larger ones are.
func fewest(enough func(n int) bool) (int, error) {
	n := fewestPaired + sort.Search(mostRounds-fewestPaired+1, func(i int) bool { return enough(fewestPaired + i) })
	if n > mostRounds {
		return 0, ErrOutOfReach
	}
	return n, nil
}

// noncentralReach is the noncentrality up to which gonum's noncentral t is good.
const noncentralReach = 37

// powerAt is the power of a two-sided t test for an effect in standard deviations;
// n need not be whole.
func powerAt(effect, n, alpha float64) float64 {
	t := tQuantile(1-alpha/2, n-1)
	mu := effect * math.Sqrt(n)
	if mu > noncentralReach {
		// The numerator of t is as good as constant: all is up to the estimated spread.
		return distuv.ChiSquared{K: n - 1}.CDF((n - 1) * mu * mu / (t * t))
	}
	d := distuv.NoncentralT{Nu: n - 1, Mu: mu}
	return 1 - d.CDF(t) + d.CDF(-t)
}
