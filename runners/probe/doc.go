// Package probe measures what surrounds the services of a run: the host and the
// container engine.
//
// A probe reads cumulative counters when the measured window begins and when it
// ends (drain begins), and nothing in between, so that it does not disturb what is
// measured. Each reading carries its own time; rates are made of the two times,
// never of the planned length of the window. Only PhaseMeasure is observed.
//
// Both probes look at the machine they are on. Where the services run on another
// one, they observe nothing: what happens here is not what the services felt.
//
// What is not done: services are read by their runner (Proc.Usage); metrics that
// services publish are not scraped here.
package probe

import (
	"errors"
	"fmt"
)

// ErrWindow says that a probe did not see both ends of the measured window, so it
// observed nothing.
var ErrWindow = errors.New("the measured window was not seen whole")

var errNoTime = fmt.Errorf("no time passed between the readings: %w", ErrWindow)
