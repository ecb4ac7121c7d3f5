package analysis

import "math"

// mostRounds bounds the estimate of rounds still needed; above it none is given.
const mostRounds = 10_000

// roundsNeeded estimates how many more rounds bring the half-width, by the present
// method and spread, down to the minimum effect. 0 means none is given: it is
// reached already, out of reach, or the scale has no minimum effect.
func (c *contrast) roundsNeeded(o Options) int {
	target := bandOf(o.Metric, o.MinimumEffect).high
	if !o.difference() {
		target = math.Log(target)
	}
	n := len(c.own)
	enough := func(n int) bool { return c.half(o.Confidence, n) <= target }
	if target <= 0 || enough(n) {
		return 0
	}
	// n * half(n)^2 falls slowly with n, for the critical value does. So what n
	// predicts bounds the answer from above if n lies below it, and the other way.
	predict := func(n int) float64 {
		ratio := c.half(o.Confidence, n) / target
		return float64(n) * ratio * ratio
	}
	lo, hi := n, n
	for range 3 {
		p := math.Ceil(predict(lo))
		if !(p <= mostRounds) {
			return 0
		}
		hi = max(int(p), lo+1)
		lo = max(lo, min(int(predict(hi)), hi-1))
	}
	for !enough(hi) { // the bounds are exact but for rounding
		hi++
	}
	for lo > n && enough(lo) {
		lo--
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi - n
}
