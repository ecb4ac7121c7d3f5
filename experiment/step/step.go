// Package step evaluates one step of the matrix language (ready, prepare, confirm,
// collect) against a service: it runs a command, asks over HTTP, reads the log or a
// file, or tries a port; it takes values out of the answer and compares them with
// what is expected. It decides nothing beyond the step: what a failure means is the
// caller's, and a step with an image of its own is launched by the caller, too, who
// hands its output to Judge.
package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Target is the service that a step asks.
type Target struct {
	Name   string
	Addr   func(port int) (string, error)                   // HOST:PORT as reached by the conductor, for a declared port
	Exec   experiment.Execer                                // nil where commands cannot run
	Logs   func(ctx context.Context) (io.ReadCloser, error) // all output so far
	Follow func(ctx context.Context) (io.ReadCloser, error) // all output so far and to come, until the service or ctx ends; nil: Await reads Logs again and again
	Gone   func() (experiment.Exit, bool)                   // whether the service has ended; nil: unknown
	Owns   func(addr string) bool                           // whether the listening socket at HOST:PORT is the service's own; nil: not asked
}

// Answer is what a step came to.
type Answer struct {
	Body          []byte            // at most 1 MiB
	Values        map[string]string // taken from it, verbatim; what is not in it is absent
	Fault         string            // of the answer itself: an HTTP error, a command that fails; empty if there is none
	Confirmations []experiment.Confirmation
}

// Err is what keeps the step from holding: the fault, or the first expectation that is
// not met.
func (a Answer) Err() error {
	if a.Fault != "" {
		return errors.New(a.Fault)
	}
	for _, c := range a.Confirmations {
		if !c.OK {
			return fmt.Errorf("%s is %q, not %q", c.Name, c.Got, c.Want)
		}
	}
	return nil
}

// Ask asks once, for s.Within at most (default experiment.DefaultConfirmWithin). An
// answer of the wrong kind is the Answer's fault; the error, which names service and
// step, is for what could not be asked at all.
func Ask(ctx context.Context, s experiment.Step, t Target) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.Within, experiment.DefaultConfirmWithin))
	defer cancel()
	return once(ctx, s, t)
}

func once(ctx context.Context, s experiment.Step, t Target) (Answer, error) {
	body, fault, err := ask(ctx, s, t)
	if err != nil {
		return Answer{}, fmt.Errorf("service %s: %w", t.Name, err)
	}
	if fault != "" {
		return Answer{Body: body, Fault: fault}, nil
	}
	return Judge(s, t.Name, body), nil
}

// Judge takes the values out of an answer that is known, and compares them.
func Judge(s experiment.Step, service string, body []byte) Answer {
	values, fault := Take(s, body)
	return Answer{Body: body, Values: values, Confirmations: compare(s, service, body, values, fault)}
}

// Describe names what a step asks, for messages.
func Describe(s experiment.Step) string {
	switch {
	case len(s.Run) > 0:
		words := make([]string, len(s.Run))
		for i, w := range s.Run {
			words[i] = w.String()
		}
		return "run " + clip(strings.Join(words, " "))
	case !s.HTTP.IsZero():
		return "http " + s.HTTP.String()
	case s.Log != "":
		return "log " + s.Log
	case !s.File.IsZero():
		return "file " + s.File.String()
	default:
		return fmt.Sprintf("port %d", s.Port)
	}
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
	attempt := func(ctx context.Context) error { return try(ctx, s, t) }
	if s.Log != "" && t.Follow != nil {
		w, err := watchLog(s, t)
		if err != nil {
			return err
		}
		defer w.stop()
		attempt = w.try
	}
	for {
		err := attempt(ctx)
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
	body, fault, err := ask(ctx, s, t)
	switch {
	case err != nil:
		return err
	case fault != "":
		return errors.New(fault)
	default:
		return Judge(s, t.Name, body).Err()
	}
}

// Confirm asks once and gives every expectation. An answer of the wrong kind is a
// Confirmation that is not OK; the error is for what could not be asked at all.
func Confirm(ctx context.Context, s experiment.Step, t Target) ([]experiment.Confirmation, error) {
	a, err := Ask(ctx, s, t)
	if err != nil {
		return nil, fmt.Errorf("confirm %w", err)
	}
	return a.Confirmed(t.Name), nil
}

// Confirmed gives the expectations of a step of confirm; a fault of the answer is one
// that is not met.
func (a Answer) Confirmed(service string) []experiment.Confirmation {
	if a.Fault != "" {
		return []experiment.Confirmation{{Service: service, Name: answerName, Want: "an answer", Got: a.Fault}}
	}
	return a.Confirmations
}
