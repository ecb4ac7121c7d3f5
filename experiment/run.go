package experiment

import (
	"strings"
	"time"
)

// RunState is where a run stands. Only StateOK counts.
type RunState string

// The states; a reason (free text or a guard's code) goes with them.
const (
	StatePending       RunState = "pending"
	StateRunning       RunState = "running"
	StateOK            RunState = "ok"
	StateInvalid       RunState = "invalid"               // a guard excludes it by rule; kept, shown, not retried
	StateFailedSubject RunState = "failed:subject"        // not ready, crashed, out of memory: a result, never retried
	StateFailedInfra   RunState = "failed:infrastructure" // engine, network, our own fault: one more attempt
	StateInterrupted   RunState = "interrupted"           // replaced by the next invocation
	StateSuperseded    RunState = "superseded"            // its round was run again whole; the reason begins with the earlier state
	StateSkipped       RunState = "skipped"               // suspended cell; counts as failed:subject
)

// Settled reports whether the run is the one that stands for its cell and round:
// it is over, and is not to be replaced.
func (s RunState) Settled() bool {
	switch s {
	case StateOK, StateInvalid, StateFailedSubject, StateSkipped:
		return true
	default:
		return false
	}
}

// Run is one execution of one cell.
type Run struct {
	ID         int64
	Sweep      int64
	Invocation int64
	Cell       CellKey
	Round      int // from 1
	Attempt    int // from 1
	Seq        int // executed order inside the sweep, from 1; 0 before it began
	State      RunState
	Reason     string
	ConfigHash string
	Began      time.Time
	Ended      time.Time
}

// SupersededReason keeps the earlier state at the front of the reason.
func (r Run) SupersededReason() string {
	return strings.TrimSuffix(string(r.State)+": "+r.Reason, ": ")
}

// RunKey names a run to a runner; it ends up in labels and state files.
type RunKey struct {
	Owner string // Owner.String
	Sweep int64
	Run   int64
}
