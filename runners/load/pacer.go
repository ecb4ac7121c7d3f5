package load

import (
	"math"
	"time"
)

// Pacer is the schedule of an open load, in absolute times: who is late serves at
// once all that is due, each at its intended start. It is a pure function of its
// fields: no clock inside.
//
// With r the rate in 1/s and R the ramp in s, the number of arrivals that are
// due by time t (in s, from the start of the ramp) is
//
//	N(t) = r t² / (2 R)          for t <= R, the rate rising linearly from 0 to r
//	N(t) = r R / 2 + r (t - R)   for t > R
//
// and arrival k, counted from 0, is due when N(t) = k:
//
//	t(k) = sqrt(2 R k / r)       for k <= r R / 2
//	t(k) = R / 2 + k / r         for k > r R / 2
type Pacer struct {
	Rate float64       // 1/s, above 0
	Ramp time.Duration // 0 or more
}

// At gives the time from the start of the ramp at which arrival k is due.
func (p Pacer) At(k int64) time.Duration {
	half := float64(p.Ramp) / 2
	steady := float64(k) * float64(time.Second) / p.Rate
	if steady <= half {
		return time.Duration(math.Round(math.Sqrt(4 * half * steady)))
	}
	return time.Duration(math.Round(half + steady))
}

// UserStart gives the time from the start of the ramp at which user i of n,
// counted from 0, begins: they start evenly over the ramp.
func UserStart(i, n int, ramp time.Duration) time.Duration {
	return time.Duration(float64(ramp) * float64(i) / float64(n))
}
