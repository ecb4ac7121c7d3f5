//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ceteris/ceteris/cmd/loadbench/target"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/load"
)

const (
	many      = 5000  // connections that are to be opened at once
	most      = 10000 // connections that are to work
	readyRuns = 10    // starts of which the time to the first requests is taken
	fewFiles  = 1000  // descriptors, with which many connections are forbidden
)

// Crowd is ours with a number of connections.
type Crowd struct {
	Connections int    `json:"connections"`
	Sending     spread `json:"sending"` // from the start of the process until all of them sent their first request, s
	Peak        spread `json:"peak"`    // resident memory, bytes
	Working     int    `json:"working"` // connections over which a request came, the least of all runs
	Failed      int64  `json:"failed"`  // requests, by the generator
	Exact       bool   `json:"exact"`   // it says it sent what the target counted
}

// Refusal is a start with too few descriptors.
type Refusal struct {
	Code     int    `json:"code"` // of the exit
	Said     string `json:"said"`
	Requests int64  `json:"requests"` // that came all the same
}

// Crowds is the outcome of many connections.
type Crowds struct {
	Crowds  []Crowd `json:"crowds"`
	Refused Refusal `json:"refused"`
}

// crowded are the numbers of connections, and how often each is tried.
func (b *bench) crowded() []struct{ connections, runs int } {
	return []struct{ connections, runs int }{{connections, readyRuns}, {many, b.repeats}, {most, 1}}
}

// crowdWindow is how long a crowd sends: long enough for every one to come and send twice.
func crowdWindow(connections int) time.Duration {
	if connections <= 64 {
		return time.Second
	}
	return 3 * time.Second
}

func (b *bench) crowds(ctx context.Context) (*Crowds, error) {
	out := &Crowds{}
	for _, c := range b.crowded() {
		fmt.Fprintf(b.log, "connections: %d, %d times\n", c.connections, c.runs)
		got, err := b.crowd(ctx, c.connections, c.runs)
		if err != nil {
			return out, err
		}
		out.Crowds = append(out.Crowds, got)
	}
	var err error
	out.Refused, err = b.refusal(ctx)
	return out, err
}

// crowdLoad lets each user of a connection send once a second, so that it is the connections
// which cost.
func crowdLoad(j job) (invocation, error) {
	l := plan(j)
	l.Closed.Think = time.Second
	return planned(j, l, "")
}

func (b *bench) crowd(ctx context.Context, n, runs int) (Crowd, error) {
	out := Crowd{Connections: n, Working: n, Exact: true}
	var sending, peak []float64
	for range runs {
		s, err := b.callWith(ctx, b.ours, job{connections: n, window: crowdWindow(n)}, target.Stretch{}, crowdLoad, true)
		if err != nil {
			return out, err
		}
		r, err := load.Reader{}.Read(ctx, bytes.NewReader(s.output), nil)
		if err != nil {
			return out, err
		}
		out.take(s, r)
		if firsts := s.target.Firsts; len(firsts) >= n {
			sending = append(sending, time.Duration(slices.Max(firsts[:n])-s.began).Seconds())
		}
		peak = append(peak, float64(s.peak))
	}
	out.Sending, out.Peak = spreadOf(sending), spreadOf(peak)
	return out, nil
}

func (c *Crowd) take(s sample, r experiment.LoadResult) {
	c.Working = min(c.Working, len(s.target.Firsts))
	c.Failed += r.Total.Failed
	c.Exact = c.Exact && r.Total.Sent == s.target.Requests
}

// refusal starts ours with fewer descriptors than connections.
func (b *bench) refusal(ctx context.Context) (Refusal, error) {
	shell := &tool{name: ours, path: "/bin/sh"}
	s, err := b.callWith(ctx, shell, job{connections: many, window: time.Second}, target.Stretch{}, func(j job) (invocation, error) {
		inv, err := crowdLoad(j)
		inv.args = []string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0"`, fewFiles), b.ours.path}
		return inv, err
	}, false)
	if _, failed := errors.AsType[*toolError](err); err != nil && !failed {
		return Refusal{}, err
	}
	return Refusal{Code: s.code, Said: s.stderr, Requests: s.target.Requests}, nil
}
