// Command loadgen is the built-in load generator. It takes an experiment.Load as
// JSON from the variable CETERIS_LOAD or from a file, sends it, and tells phases,
// slices and the result on standard output in the protocol of runners/load.
//
// Exit codes: 0 done, 1 fault (the output is incomplete), 2 wrong plan or usage,
// 5 ended early by a signal.
//
// It is built without cgo and runs as one more service beside the subject, on
// cores of its own: GOMAXPROCS follows the cores to which it is pinned. With -hold
// it stays after the result until it is stopped, so that its counters, which end
// with it, can be read at leisure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/load"
)

// The exit codes.
const (
	exitDone        = 0
	exitFault       = 1
	exitPlan        = 2
	exitInterrupted = 5
)

// gcPercent lets the heap grow to nine times what is live (a few MB), so that
// collections are rare and take little from the core that sends. A GOGC in the
// environment has precedence.
const gcPercent = 800

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv(experiment.GeneratorEnv), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: plan is the content of CETERIS_LOAD.
func run(ctx context.Context, args []string, plan string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("loadgen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	file := flags.String("plan", "", "read the load as JSON from this `FILE` instead of $"+experiment.GeneratorEnv)
	hold := flags.Duration("hold", 0, "stay this long after the result, or until a signal comes")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitDone
		}
		return exitPlan
	}
	l, err := readPlan(flags.Args(), *file, plan)
	if err != nil {
		fmt.Fprintf(stderr, "loadgen: %v\n", err)
		return exitPlan
	}
	err = load.Generator{Load: l, Out: stdout}.Run(ctx)
	switch {
	case err == nil:
		stay(ctx, *hold)
		return exitDone
	case errors.Is(err, load.ErrInterrupted):
		fmt.Fprintln(stderr, "loadgen: ended early by a signal, no result")
		return exitInterrupted
	default:
		fmt.Fprintf(stderr, "loadgen: %v\n", err)
		return exitFault
	}
}

// stay waits for a signal, but not for ever: whoever wanted to stop it may be dead.
func stay(ctx context.Context, hold time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, hold)
	defer cancel()
	<-ctx.Done()
}

func readPlan(args []string, file, plan string) (experiment.Load, error) {
	switch {
	case len(args) > 0:
		return experiment.Load{}, fmt.Errorf("unexpected argument %q", args[0])
	case file != "":
		data, err := os.ReadFile(file)
		if err != nil {
			return experiment.Load{}, err
		}
		return load.ParsePlan(data)
	case plan == "":
		return experiment.Load{}, fmt.Errorf("no plan: set $%s or give -plan FILE", experiment.GeneratorEnv)
	default:
		return load.ParsePlan([]byte(plan))
	}
}
