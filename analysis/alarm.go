package analysis

import "gonum.org/v1/gonum/stat/distuv"

// AALevel is both the level at which identical cells are compared and the chance of a
// false alarm.
const AALevel = 0.05

// AAAlarm is the number of comparisons of identical cells with an unadjusted p below
// 5%, of so many, from which on the method is not to be trusted: it lies above the
// binomial 95% point, 10 of 100 or 16 of 200. 200 comparisons find a true rate of
// 10% in 86% of cases, 20 only in 13%: let them accumulate. Comparisons are taken as
// independent.
func AAAlarm(comparisons int) int {
	return alarmAt(comparisons, AALevel, AALevel)
}

// exactly is how far two chances may differ by rounding alone.
const exactly = 1e-9

// alarmAt is the smallest count that exceeds the upper level point of a binomial with
// chance alpha.
func alarmAt(comparisons int, alpha, level float64) int {
	limit := 0
	for limit < comparisons && alarmChance(limit+1, comparisons, alpha) > level*(1+exactly) {
		limit++
	}
	return limit + 1
}

// alarmChance is the chance of at least so many alarms.
func alarmChance(alarms, comparisons int, alpha float64) float64 {
	return 1 - distuv.Binomial{N: float64(comparisons), P: alpha}.CDF(float64(alarms-1))
}
