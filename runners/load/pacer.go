package load

import (
	"math"
	"math/rand/v2"
	"time"
)

// Pacer is the schedule of an open load, in absolute times: who is late serves at
// once all that is due, each at its intended start. It is a pure function of its
// fields: no clock inside.
//
// With r the rate in 1/s, a the rate before and R the ramp in s, the number of
// arrivals that are due by time t (in s, from the start of the ramp) is
//
//	N(t) = a t + (r - a) t² / (2 R)          for t <= R, the rate moving linearly from a to r
//	N(t) = (a + r) R / 2 + r (t - R)         for t > R
//
// and the n-th is due when N(t) = n:
//
//	t(n) = 2 n / (a + sqrt(a² + 2 n (r - a) / R))   for n <= (a + r) R / 2
//	t(n) = R (r - a) / (2 r) + n / r                for more
//
// Constant arrivals are due at n = 0, 1, 2, ... Those of a Poisson process are due at
// the sums of exponential gaps of mean 1 (inversion; Çınlar, Introduction to Stochastic
// Processes, 1975, chapter 4): where the rate moves, their density moves along.
type Pacer struct {
	Rate float64       // 1/s, 0 or more
	Ramp time.Duration // 0 or more
	From float64       // the rate before the ramp, 1/s, 0 or more
}

// At gives the time from the start of the ramp at which the n-th arrival is due;
// math.MaxInt64 if that never comes, because the rate ends at 0.
func (p Pacer) At(n float64) time.Duration {
	ramp := float64(p.Ramp) / float64(time.Second)
	if n <= 0 {
		return 0
	}
	if n <= (p.From+p.Rate)*ramp/2 {
		root := math.Sqrt(max(p.From*p.From+2*n*(p.Rate-p.From)/ramp, 0))
		return time.Duration(math.Round(2 * n * float64(time.Second) / (p.From + root)))
	}
	if p.Rate == 0 {
		return never
	}
	at := float64(p.Ramp)*(p.Rate-p.From)/(2*p.Rate) + n*float64(time.Second)/p.Rate
	if at >= float64(never) {
		return never
	}
	return time.Duration(math.Round(at))
}

// arrivals counts what a pacer schedules.
type arrivals struct {
	n    float64
	gaps *rand.Rand // nil: constant
}

// first goes to the first arrival of a schedule.
func (a *arrivals) first() {
	a.n = 0
	if a.gaps != nil {
		a.n = a.gaps.ExpFloat64()
	}
}

// next goes to the next one.
func (a *arrivals) next() {
	if a.gaps != nil {
		a.n += a.gaps.ExpFloat64()
	} else {
		a.n++
	}
}

// spread is when arrivals are sent that are overdue by the generator's own fault, because
// it was held up: not all at once, which would be a load that nobody asked for, but at no
// more than twice the rate of their schedule, until it has caught up. All are sent. It is
// a pure function of the moments that it is told.
type spread struct {
	burst bool          // send them at once
	last  time.Duration // intended start of the arrival before
	sent  time.Duration // when that was sent
	begun bool          // there is one before
}

const (
	heldUp    = time.Millisecond      // arrivals that are overdue by less are not
	shortWait = 50 * time.Microsecond // is shorter than it takes to wait for it
)

// due gives the moment at which the next arrival is to be sent: it has come, or has
// passed by the moment now.
func (s *spread) due(intended, now time.Duration) time.Duration {
	due := now
	if s.begun && !s.burst && now-intended > heldUp {
		due = max(now, s.sent+(intended-s.last)/2)
	}
	s.last, s.sent, s.begun = intended, due, true
	if due-now < shortWait {
		return now
	}
	return due
}

// UserStart gives the time from the start of the ramp at which user i of n,
// counted from 0, begins: they start evenly over the ramp.
func UserStart(i, n int, ramp time.Duration) time.Duration {
	return time.Duration(float64(ramp) * float64(i) / float64(n))
}

// UserSpan gives the times between which user i, counted from 0, works in a part of
// the load of the given length in which the number of users moves from one to another
// within the ramp: those who come start evenly over it, those who go end evenly. It
// is empty (from is no less than to) if the user takes no part.
func UserSpan(i, before, users int, ramp, length time.Duration) (from, to time.Duration) {
	switch {
	case i < min(before, users):
		return 0, length
	case i < users:
		return UserStart(i-before, users-before, ramp), length
	case i < before:
		return 0, UserStart(before-i, before-users, ramp)
	default:
		return 0, 0
	}
}
