package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// interrupts turns interrupts and terminations into the ways to stop. For most
// commands the first one cancels. A command that keeps what it has done calls
// gently: then the first one only ends stopping (finish the run under way, keep
// everything, begin nothing), and the second cancels.
type interrupts struct {
	stopping context.Context // ends with the first signal
	gentle   atomic.Bool
}

// gently gives the first signal its softer meaning from now on.
func (i *interrupts) gently() { i.gentle.Store(true) }

// onFirst calls f with the first signal, at once if it has come, unless stop is
// called before.
func (i *interrupts) onFirst(f func()) (stop func() bool) { return context.AfterFunc(i.stopping, f) }

// catch listens for signals until stop is called. A hang-up or a closed standard
// output stops nothing. Both are received rather than ignored: what is ignored
// would stay ignored in the services that are started.
func catch(parent context.Context, stderr io.Writer) (ctx context.Context, i *interrupts, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	stopping, first := context.WithCancel(ctx)
	i = &interrupts{stopping: stopping}
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	harmless := make(chan os.Signal, 1) // nobody reads it
	signal.Notify(harmless, syscall.SIGHUP, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-got:
			}
			if !i.gentle.Load() || stopping.Err() != nil {
				signal.Stop(got) // one more kills, whatever hangs
				cancel()
				return
			}
			fmt.Fprintln(stderr, "ceteris: stopping after the run under way; once more to abort it")
			first()
		}
	}()
	return ctx, i, func() {
		signal.Stop(got)
		signal.Stop(harmless)
		cancel()
		<-done
	}
}
