package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ceteris/ceteris/experiment/conduct"
)

// why says in a few words why an invocation ended before the sweep was done; empty
// if it was done.
func (n *night) why(e conduct.Ending) string {
	switch e {
	case conduct.EndedDrained:
		return "stopped by a signal"
	case conduct.EndedAborted:
		return "aborted by a second signal"
	case conduct.EndedInfrastructure:
		return "five infrastructure failures in a row"
	case conduct.EndedUntil:
		return clockOf(n.until, n.now()) + " was reached"
	case conduct.EndedEngineGone:
		return "the container engine went away"
	case conduct.EndedDiskFull:
		return "the disk is full"
	default:
		return ""
	}
}

// stopped says what to make of an invocation that ended before the sweep was done;
// nil if it was done, or ended when it was to end.
func stopped(r conduct.Result) error {
	kept := "what was measured is kept; run again to go on"
	if r.Sweep == 0 {
		kept = "nothing was begun"
	}
	switch r.Ended {
	case conduct.EndedAborted:
		return &endError{exitAborted, errors.New("aborted: " + kept)}
	case conduct.EndedDrained:
		return &endError{exitEarly, errors.New("stopped as asked: " + kept)}
	case conduct.EndedInfrastructure:
		return &endError{exitEarly, errors.New("five infrastructure failures in a row: mend the host; " + kept)}
	case conduct.EndedEngineGone:
		return &endError{exitEarly, fmt.Errorf("%s; %s", r.Why, kept)}
	case conduct.EndedDiskFull:
		return &endError{exitCannotMeasure, fmt.Errorf("no room for one more run: %s; %s", r.Why, kept)}
	default:
		return nil
	}
}

// gravest gives the exit code of several ends, 0 for none. A code that is not
// ranked still is no success.
func gravest(codes []int) int {
	for _, code := range []int{exitAborted, exitFault, exitCannotMeasure, exitMatrix, exitUsage, exitEarly, exitWorse} {
		if slices.Contains(codes, code) {
			return code
		}
	}
	return slices.Max(append(codes, exitOK))
}
