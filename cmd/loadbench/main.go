//go:build linux

// Command loadbench measures what the built-in load generator costs and how exact it is,
// beside other generators, on this host:
//
//	go run ./cmd/loadbench
//
// It installs those which package managers give, starts a target of its own on one core
// and each generator in turn on another, and prints ratios of pairs that were measured
// one right after the other, with their spread, then each goal with what was measured.
//
// Vocabulary:
//
//   - A pair is the built-in generator and a peer under one job, one after the other; who
//     begins alternates, and the order of the peers is drawn anew every round.
//   - Requests are those that the target counted, for every tool alike. Processor time is
//     that of the whole process, its start included, as wait4 tells it.
//   - Lateness is how long after its place in the schedule a request arrived at the target.
//
// Modes: "closed" (64 connections, as fast as they carry), "open" (given rates: what was
// achieved, lateness, processor time), "stall" (the target does nothing for a second: what
// each tool says of it), "connections" (5,000 and 10,000 of them, memory, time to the
// first request). A host that does other things at the same time measures those.
//
// What is not done: other hosts, TLS, HTTP/2, any system but Linux. Exit codes: 0
// measured, 1 it was impossible, or with -check a goal was missed or, for want of a
// peer, not measured, 2 usage.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/ceteris/ceteris/cmd/loadbench/target"
)

// targetMode is the argument with which this program is the target.
const targetMode = "target"

// The exit codes.
const (
	exitDone  = 0
	exitFault = 1
	exitUsage = 2
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == targetMode {
		if err := target.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintf(os.Stderr, "loadbench: %v\n", err)
			os.Exit(exitFault)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
