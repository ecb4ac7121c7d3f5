// Command ceteris runs one-factor-at-a-time load experiments and says which
// setting changes what, by how much, and whether to believe it.
//
// Results go to standard output, everything else to standard error.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

// version is stored with every invocation.
const version = "0.1.0"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, lockDirs()))
}

// run is the whole program; it returns the exit code. The locks of hosts are in the
// first of the directories that allows it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer, locks []string) int {
	screen := &screen{w: stderr}
	ctx, interrupts, stop := catch(context.Background(), screen)
	defer stop()
	root := newRootCommand(&app{out: stdout, err: screen, interrupts: interrupts, now: time.Now, locks: locks, secrets: map[string]string{}}, stdin)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitCode(ctx, err)
	if errors.Is(err, syscall.EPIPE) && !interrupts.gentle.Load() {
		return code // the reader has seen enough: nothing to talk about
	}
	printError(screen, err)
	return code
}

// The exit codes; README.md lists them.
const (
	exitOK            = 0
	exitFault         = 1
	exitUsage         = 2
	exitMatrix        = 3 // the matrix, or a file to import, is invalid; nothing was started
	exitCannotMeasure = 4 // no engine, lock held, one core, ...
	exitEarly         = 5 // ended early, invalid runs count against a cell, or nothing can be compared
	exitWorse         = 6 // compare: a cell is proven worse
	exitAborted       = 130
)

// usageError is a wrong call of the program.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// endError ends the program with a code of its own; what there is to say has been
// said unless it carries an error.
type endError struct {
	code int
	err  error
}

func (e *endError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}
func (e *endError) Unwrap() error { return e.err }

// exitCode maps an error to the exit code; nobody else does.
func exitCode(ctx context.Context, err error) int {
	var (
		end   *endError
		usage *usageError
		field *experiment.FieldError
	)
	switch {
	case errors.As(err, &end):
		return end.code
	case ctx.Err() != nil:
		return exitAborted
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &field):
		return exitMatrix
	case errors.Is(err, experiment.ErrCannotRun), errors.Is(err, experiment.ErrNoRuntime), errors.Is(err, experiment.ErrLocked):
		return exitCannotMeasure
	case errors.Is(err, experiment.ErrUnknownSweep):
		return exitUsage
	default:
		return exitFault
	}
}

// printError prints an error, and its hint on a line of its own.
func printError(w io.Writer, err error) {
	if err.Error() == "" {
		return
	}
	if _, ok := errors.AsType[*experiment.FieldError](err); ok {
		fmt.Fprintln(w, plainLines(err.Error())) // every fault of a matrix begins with its own place
		return
	}
	fmt.Fprintln(w, "ceteris: "+plainLines(err.Error()))
	if hint, ok := errors.AsType[*experiment.HintError](err); ok {
		fmt.Fprintln(w, "hint: "+plainLines(hint.Hint))
	}
}

// plainLines makes text of several lines safe for a terminal: names, levels and
// what a subject said are not ours.
func plainLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = report.Plain(line)
	}
	return strings.Join(lines, "\n")
}
