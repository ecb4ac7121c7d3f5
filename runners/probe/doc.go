// Package probe measures what surrounds the services of a run, the host and the
// container engine, and reads the pages that services publish about themselves.
//
// The probes of host and engine read cumulative counters when the measured window
// begins and when it ends (drain begins), and nothing in between, so as not to disturb
// what is measured. Each reading carries its own time; rates are made of the two times,
// never of the planned length of the window. Only PhaseMeasure is observed. Both look
// at the machine they are on. Where the services run on another one, they observe
// nothing: what happens here is not what the services felt.
//
// Pages are read again and again from the warm-up to the end of the window, each on a
// goroutine of its own, wherever the services run.
//
// What is not done: the counters of services are read by their runner (Proc.Usage).
package probe

import (
	"errors"
	"fmt"
)

// ErrWindow says that a probe did not see both ends of the measured window, so it
// observed nothing.
var ErrWindow = errors.New("the measured window was not seen whole")

var errNoTime = fmt.Errorf("no time passed between the readings: %w", ErrWindow)
