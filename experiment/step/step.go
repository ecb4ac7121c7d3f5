// Package step evaluates one step of the matrix language (ready, confirm) against
// a service: it runs a command, asks over HTTP, reads the log, or tries a port.
// It decides nothing beyond the step: what a failure means is the caller's.
package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Target is the service that a step is written under.
type Target struct {
	Name string
	Addr func(port int) (string, error)                   // HOST:PORT as reached by the conductor, for a declared port
	Exec experiment.Execer                                // nil where commands cannot run
	Logs func(ctx context.Context) (io.ReadCloser, error) // all output so far
	Gone func() (experiment.Exit, bool)                   // whether the service has ended; nil: unknown
	Owns func(addr string) bool                           // whether the listening socket at HOST:PORT is the service's own; nil: not asked
}

// tryTimeout bounds one try of a step, so that a service that accepts and never
// answers is asked again.
const tryTimeout = 2 * time.Second

// Await tries the step every poll until it holds. When the service ends first the
// error wraps experiment.ErrExited; when s.Within (default
// experiment.DefaultReadyWithin) passes, experiment.ErrNotReady and the last
// reason.
func Await(ctx context.Context, s experiment.Step, t Target, poll time.Duration) error {
	within := cmp.Or(s.Within, experiment.DefaultReadyWithin)
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		err := try(ctx, s, t)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if exit, gone := ended(t); gone {
			return fmt.Errorf("service %s: %w with code %d before it was ready", t.Name, experiment.ErrExited, exit.Code)
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return fmt.Errorf("service %s: %w within %v: %w", t.Name, experiment.ErrNotReady, within, err)
		case <-ticker.C:
		}
	}
}

func ended(t Target) (experiment.Exit, bool) {
	if t.Gone == nil {
		return experiment.Exit{}, false
	}
	return t.Gone()
}

// try asks once; nil means that the step holds.
func try(ctx context.Context, s experiment.Step, t Target) error {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	a, err := ask(ctx, s, t)
	if err != nil {
		return err
	}
	if a.fault != "" {
		return errors.New(a.fault)
	}
	for _, c := range compare(s, t.Name, a) {
		if !c.OK {
			return fmt.Errorf("%s is %q, not %q", c.Name, c.Got, c.Want)
		}
	}
	return nil
}

// Confirm asks once, for s.Within at most (default
// experiment.DefaultConfirmWithin), and compares every expectation. An answer of the wrong kind
// (an HTTP error, a command that fails, no JSON) is a Confirmation that is not
// OK; the error is for what could not be asked at all.
func Confirm(ctx context.Context, s experiment.Step, t Target) ([]experiment.Confirmation, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.Within, experiment.DefaultConfirmWithin))
	defer cancel()
	a, err := ask(ctx, s, t)
	if err != nil {
		return nil, fmt.Errorf("confirm service %s: %w", t.Name, err)
	}
	if a.fault != "" {
		return []experiment.Confirmation{{Service: t.Name, Name: "answer", Want: "an answer", Got: a.fault}}, nil
	}
	return compare(s, t.Name, a), nil
}

// compare checks the expectations of a step against an answer.
func compare(s experiment.Step, service string, a answer) []experiment.Confirmation {
	var out []experiment.Confirmation
	if want, _ := s.Has.Literal(); want != "" {
		c := experiment.Confirmation{Service: service, Name: "answer", Want: want, OK: a.has(want)}
		if c.Got = want; !c.OK {
			c.Got = clip(string(a.body))
		}
		out = append(out, c)
	}
	if len(s.Is) == 0 {
		return out
	}
	values, fault := extract(s.JSON, a.body)
	for _, e := range s.Is {
		want, _ := e.Value.Literal()
		got, ok := values[e.Name]
		if !ok {
			got = fault
			if got == "" {
				got = "absent"
			}
		}
		out = append(out, experiment.Confirmation{Service: service, Name: e.Name, Want: want, Got: got, OK: ok && got == want})
	}
	return out
}
