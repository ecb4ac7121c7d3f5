// Package step evaluates one step of the matrix language (ready, confirm) against
// a service: it runs a command, asks over HTTP, reads the log, or tries a port.
package step

import (
	"context"
	"io"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Target is the service that a step is written under.
type Target struct {
	Name string
	Addr func(port int) (string, error)                  // HOST:PORT as reached by the conductor, for a declared port
	Exec experiment.Execer                               // nil where commands cannot run
	Logs func(ctx context.Context) (io.ReadCloser, error) // all output so far
	Gone func() (experiment.Exit, bool)                  // whether the service has ended; nil: unknown
	// Owns says whether the listening socket at address HOST:PORT is the
	// service's own; nil: not asked.
	Owns func(addr string) bool
}

// Await tries the step every poll until it holds. When the service ends first
// the error wraps experiment.ErrExited; when s.Within (default
// experiment.DefaultReadyWithin) passes, experiment.ErrNotReady and the last
// reason.
func Await(ctx context.Context, s experiment.Step, t Target, poll time.Duration) error { return nil }

// Confirm asks once and compares every expectation. The error is for what could
// not be asked at all.
func Confirm(ctx context.Context, s experiment.Step, t Target) ([]experiment.Confirmation, error) {
	return nil, nil
}
