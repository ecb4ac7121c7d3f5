// Command loadgen is the built-in load generator. It takes an experiment.Load as
// JSON from the variable CETERIS_LOAD (or from the file that it names as @PATH), and
// the data of its requests from the CSV file named by CETERIS_DATA, sends the load,
// and tells phases, slices and the result on standard output in the protocol of
// runners/load.
//
// Exit codes: 0 done, 1 fault (the output is incomplete), 2 wrong plan or usage, or a plan that this process may not carry out,
// 5 ended early by a signal.
//
// It is built without cgo and runs as one more service beside the subject, on
// cores of its own: GOMAXPROCS follows the cores to which it is pinned, and the threads
// that only begin requests in time. With -hold
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
	"runtime"
	"strings"
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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
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
	g, err := read(flags.Args(), *file, getenv)
	if err == nil {
		err = load.CheckDescriptors(g.Load)
	}
	if err != nil {
		fmt.Fprintf(stderr, "loadgen: %v\n", err)
		return exitPlan
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + load.Sleepers(g.Load))
	}
	g.Out = stdout
	err = g.Run(ctx)
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

// read gives the load and its data.
func read(args []string, file string, getenv func(string) string) (load.Generator, error) {
	if len(args) > 0 {
		return load.Generator{}, fmt.Errorf("unexpected argument %q", args[0])
	}
	plan := []byte(getenv(experiment.GeneratorEnv))
	if named, ok := strings.CutPrefix(string(plan), "@"); ok && file == "" {
		file = named
	}
	if file != "" {
		var err error
		if plan, err = os.ReadFile(file); err != nil {
			return load.Generator{}, fmt.Errorf("plan: %w", err)
		}
	}
	if len(plan) == 0 {
		return load.Generator{}, fmt.Errorf("no plan: set $%s or give -plan FILE", experiment.GeneratorEnv)
	}
	l, err := load.ParsePlan(plan)
	if err != nil || l.Data == nil {
		return load.Generator{Load: l}, err
	}
	table := getenv(experiment.DataEnv)
	if table == "" {
		return load.Generator{}, fmt.Errorf("data: the plan wants some: set $%s to its path", experiment.DataEnv)
	}
	text, err := os.ReadFile(table)
	if err != nil {
		return load.Generator{}, fmt.Errorf("data: %w", err)
	}
	feed, err := load.ParseFeed(text, *l.Data)
	if err != nil {
		return load.Generator{}, err
	}
	return load.Generator{Load: l, Data: feed}, feed.Check(l.Requests)
}
