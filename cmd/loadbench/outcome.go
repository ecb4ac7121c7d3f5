//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

// Outcome is all that was measured.
type Outcome struct {
	Host        Noise        `json:"host"`
	Target      Capacity     `json:"target"`
	Closed      []Comparison `json:"closed,omitempty"`
	Open        *Open        `json:"open,omitempty"`
	Stall       *Stalls      `json:"stall,omitempty"`
	Connections *Crowds      `json:"connections,omitempty"`
	Goals       []Goal       `json:"goals"`
}

// run is main without the process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return usage(err, stderr)
	}
	out, err := measure(ctx, o, stderr)
	if err == nil {
		err = out.print(stdout, o.format)
	}
	if err != nil {
		fmt.Fprintf(stderr, "loadbench: %v\n", err)
		return exitFault
	}
	if o.check && slices.ContainsFunc(out.Goals, func(g Goal) bool { return !g.Met }) {
		return exitFault
	}
	return exitDone
}

// measure installs the tools and runs the modes.
func measure(ctx context.Context, o options, log io.Writer) (Outcome, error) {
	var out Outcome
	dir, err := os.MkdirTemp("", "loadbench")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
	b := &bench{options: o, dir: dir, log: log, random: rand.New(rand.NewPCG(o.seed, 0))}
	if err := b.install(ctx); err != nil {
		return out, err
	}
	fmt.Fprintf(log, "this takes about %s\n", b.estimate().Round(time.Second))
	before, err := ticks()
	if err != nil {
		return out, err
	}
	stop, err := b.startTarget(ctx)
	if err != nil {
		return out, err
	}
	err = b.modesInto(ctx, &out)
	if stopped := stop(); err == nil {
		err = stopped
	}
	if err != nil {
		return out, err
	}
	out.Host, err = noise(before)
	out.Goals = goals(out, o)
	return out, err
}

func (b *bench) modesInto(ctx context.Context, out *Outcome) (err error) {
	if out.Target, err = b.capacity(ctx); err != nil {
		return err
	}
	for _, mode := range b.modes {
		switch mode {
		case modeClosed:
			out.Closed, err = b.closed(ctx)
		case modeOpen:
			out.Open, err = b.open(ctx)
		case modeStall:
			out.Stall, err = b.stall(ctx)
		case modeConnections:
			out.Connections, err = b.crowds(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", mode, err)
		}
	}
	return nil
}

// estimate is how long the modes take.
func (b *bench) estimate() time.Duration {
	once := b.window + settle + 200*time.Millisecond // starts and ends
	total := once
	pairs := func(peers int) { total += time.Duration(max(2*peers, 1)*b.repeats) * once }
	for _, mode := range b.modes {
		switch mode {
		case modeClosed:
			pairs(len(b.loopPeers()))
		case modeOpen:
			for _, rate := range b.rates {
				pairs(len(b.pacedPeers(rate)))
			}
		case modeStall:
			total += time.Duration(2+len(b.stallPeers())) * (stallWindow + settle)
		case modeConnections:
			for _, c := range b.crowded() {
				total += time.Duration(c.runs) * (crowdWindow(c.connections) + settle)
			}
		}
	}
	return total
}

// usage tells a wrong command line; help that was asked for is none.
func usage(err error, stderr io.Writer) int {
	if errors.Is(err, flag.ErrHelp) {
		return exitDone
	}
	fmt.Fprintf(stderr, "loadbench: %v\n", err)
	return exitUsage
}
