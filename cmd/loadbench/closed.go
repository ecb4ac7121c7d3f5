//go:build linux

package main

import (
	"context"
	"slices"
	"time"

	"github.com/ceteris/ceteris/cmd/loadbench/target"
)

const connections = 64 // of the plain jobs

// Capacity is what the target itself can do.
type Capacity struct {
	Rate  float64 `json:"rate"`   // requests a second that it served
	OnCPU float64 `json:"on_cpu"` // requests by second of its processor time: what its core carries
}

// Comparison is ours beside one peer in pairs.
type Comparison struct {
	Peer   string  `json:"peer"`
	Rate   int     `json:"rate,omitempty"` // 1/s that was offered; 0: closed
	Ratio  spread  `json:"ratio"`          // requests by processor time, ours to theirs
	Late   *spread `json:"late,omitempty"` // p99 of lateness, ours to theirs; nil: closed
	Ours   Figure  `json:"ours"`
	Theirs Figure  `json:"theirs"`
}

// Figure is the absolute side of one tool, medians of its samples.
type Figure struct {
	PerCPU float64 `json:"per_cpu"` // requests by second of processor time
	Rate   float64 `json:"rate"`    // requests a second of the window
}

// capacity shows what the target carries, with the cheapest tool that is there.
func (b *bench) capacity(ctx context.Context) (Capacity, error) {
	t := b.ours
	for _, p := range b.peers {
		if p.name == "wrk" {
			t = p
		}
	}
	before, err := b.target.Report()
	if err != nil {
		return Capacity{}, err
	}
	s, err := b.call(ctx, t, job{connections: connections, window: b.window}, target.Stretch{})
	if err != nil {
		return Capacity{}, err
	}
	n := float64(s.target.Requests)
	return Capacity{Rate: n / b.window.Seconds(), OnCPU: n / (s.target.CPU - before.CPU).Seconds()}, nil
}

// closed compares ours with every peer that sends as fast as its connections carry.
func (b *bench) closed(ctx context.Context) ([]Comparison, error) {
	able := b.loopPeers()
	p, err := b.pairs(ctx, "closed", job{connections: connections, window: b.window}, target.Stretch{}, able)
	return compare(p, able, 0, b.window), err
}

// loopPeers are those that are compared in a closed loop.
func (b *bench) loopPeers() []*tool {
	return having(b.peers, func(t *tool) bool { return t.loop })
}

// compare gathers the pairs of each peer, in the order of the peers.
func compare(pairs []pair, peers []*tool, rate int, window time.Duration) []Comparison {
	var out []Comparison
	for _, t := range peers {
		of := slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return p.peer != t.name })
		if len(of) == 0 {
			continue
		}
		c := Comparison{
			Peer: t.name, Rate: rate,
			Ratio:  spreadOf(each(of, func(p pair) float64 { return p.ours.perCPU() / p.theirs.perCPU() })),
			Ours:   figure(each(of, func(p pair) sample { return p.ours }), window),
			Theirs: figure(each(of, func(p pair) sample { return p.theirs }), window),
		}
		if rate > 0 {
			late := spreadOf(each(of, func(p pair) float64 { return p.ours.late(rate) / p.theirs.late(rate) }))
			c.Late = &late
		}
		out = append(out, c)
	}
	return out
}

func figure(samples []sample, window time.Duration) Figure {
	return Figure{
		PerCPU: spreadOf(each(samples, sample.perCPU)).Median,
		Rate:   spreadOf(each(samples, func(s sample) float64 { return float64(s.target.Requests) / window.Seconds() })).Median,
	}
}

// each applies f to all.
func each[T, V any](all []T, f func(T) V) []V {
	out := make([]V, len(all))
	for i, one := range all {
		out[i] = f(one)
	}
	return out
}

// having gives those for which ok holds.
func having(tools []*tool, ok func(*tool) bool) []*tool {
	var out []*tool
	for _, t := range tools {
		if ok(t) {
			out = append(out, t)
		}
	}
	return out
}
