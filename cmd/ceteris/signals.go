package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// signals gives the two ways to stop: the first interrupt or termination closes
// drain (finish the run under way, keep everything, begin nothing), the second
// cancels the context. A hang-up or a closed standard output stops nothing.
func signals(parent context.Context, stderr io.Writer) (ctx context.Context, drain <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	draining := make(chan struct{})
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-got:
			close(draining)
			fmt.Fprintln(stderr, "ceteris: finishing the run under way; once more to abort it")
		case <-ctx.Done():
			return
		}
		select {
		case <-got:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, draining, func() {
		signal.Stop(got)
		cancel()
		<-done
	}
}
