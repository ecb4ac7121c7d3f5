//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"time"

	"github.com/ceteris/ceteris/cmd/loadbench/target"
)

// settle is how long the target is given to see connections closed.
const settle = 50 * time.Millisecond

// sample is one tool under one job.
type sample struct {
	ran
	tool   string
	target target.Report
}

// perCPU is requests by second of the generator's processor time.
func (s sample) perCPU() float64 { return float64(s.target.Requests) / s.cpu.Seconds() }

// late is the 99th percentile of lateness at a rate, in s.
func (s sample) late(rate int) float64 {
	return quantile(lateness(s.target.Records, rate), 0.99).Seconds()
}

// bench measures tools against one target.
type bench struct {
	options
	ours   *tool
	peers  []*tool // that are there
	target *target.Client
	dir    string // for files
	log    io.Writer
	random *rand.Rand
}

// startTarget starts the target, a mode of this program, on its core. It ends when its
// input does, also where this process dies; stop waits for that.
func (b *bench) startTarget(ctx context.Context) (stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, targetMode)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := startOn(cmd, b.cores[0]); err != nil {
		return nil, fmt.Errorf("start the target: %w", err)
	}
	stop = func() error {
		_ = in.Close()
		return cmd.Wait()
	}
	if b.target, err = target.Connect(in, out); err != nil {
		_ = stop()
		return nil, err
	}
	return stop, nil
}

// call sends a job with a tool and gives what the tool took and what the target counted.
func (b *bench) call(ctx context.Context, t *tool, j job, s target.Stretch) (sample, error) {
	return b.callWith(ctx, t, j, s, t.invoke, false)
}

// callWith is call with another invocation; with watch the memory of the tool is looked at.
func (b *bench) callWith(ctx context.Context, t *tool, j job, s target.Stretch, invoke func(job) (invocation, error), watch bool) (sample, error) {
	out := sample{tool: t.name}
	var err error
	j.address = b.target.Address
	if j.dir, err = os.MkdirTemp(b.dir, t.name); err != nil {
		return out, err
	}
	inv, err := invoke(j)
	if err != nil {
		return out, err
	}
	if err := b.target.Begin(s); err != nil {
		return out, err
	}
	if out.ran, err = execute(ctx, b.cores[1], t.path, inv, j.dir, watch); err != nil {
		return out, err
	}
	time.Sleep(settle)
	if out.target, err = b.target.Report(); err != nil {
		return out, err
	}
	if out.code != 0 || out.target.Requests == 0 {
		return out, &toolError{tool: t.name, code: out.code, requests: out.target.Requests, said: out.stderr}
	}
	return out, os.RemoveAll(j.dir)
}

// toolError is a tool that did not do its job: it is left out, and the rest goes on.
type toolError struct {
	tool     string
	code     int
	requests int64
	said     string
}

func (e *toolError) Error() string {
	return fmt.Sprintf("%s ended with %d after %d requests: %s", e.tool, e.code, e.requests, e.said)
}

// pair is ours and a peer under one job, one right after the other.
type pair struct {
	peer         string
	ours, theirs sample
}

// pairs sends a job with ours and each of the peers, each so many times. The order of the
// peers is shuffled in every round; who of a pair begins alternates.
func (b *bench) pairs(ctx context.Context, what string, j job, s target.Stretch, peers []*tool) ([]pair, error) {
	if len(peers) == 0 {
		return b.alone(ctx, j, s)
	}
	var out []pair
	lost := map[*tool]bool{}
	for round := range b.repeats {
		for _, i := range b.random.Perm(len(peers)) {
			peer := peers[i]
			if lost[peer] {
				continue
			}
			fmt.Fprintf(b.log, "%s: round %d of %d, %s and %s\n", what, round+1, b.repeats, ours, peer.name)
			p, err := b.pair(ctx, j, s, peer, (round+i)%2 == 0)
			if failed, ok := errors.AsType[*toolError](err); ok && failed.tool == peer.name {
				fmt.Fprintf(b.log, "%s: from here on without %v\n", what, err)
				lost[peer] = true
				continue
			}
			if err != nil {
				return out, err
			}
			out = append(out, p)
		}
	}
	return out, nil
}

// alone is pairs where there is no peer.
func (b *bench) alone(ctx context.Context, j job, s target.Stretch) ([]pair, error) {
	var out []pair
	for range b.repeats {
		got, err := b.call(ctx, b.ours, j, s)
		if err != nil {
			return out, err
		}
		out = append(out, pair{ours: got})
	}
	return out, nil
}

func (b *bench) pair(ctx context.Context, j job, s target.Stretch, peer *tool, weBegin bool) (p pair, err error) {
	p.peer = peer.name
	first, second := peer, b.ours
	if weBegin {
		first, second = second, first
	}
	for _, t := range []*tool{first, second} {
		got, err := b.call(ctx, t, j, s)
		if err != nil {
			return p, err
		}
		if t == b.ours {
			p.ours = got
		} else {
			p.theirs = got
		}
	}
	return p, nil
}
