//go:build linux

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ceteris/ceteris/cmd/loadbench/target"
)

// Pace is how a tool kept a rate: medians, and spreads over its samples.
type Pace struct {
	Tool     string `json:"tool"`
	Rate     int    `json:"rate"`     // 1/s
	Achieved spread `json:"achieved"` // requests that came, by those offered
	Lateness spread `json:"lateness"` // p99, s
	Bunched  spread `json:"bunched"`  // share of arrivals within a tenth of the interval after the one before
}

// Open is the outcome of open loads.
type Open struct {
	Costs []Comparison `json:"costs"`
	Paces []Pace       `json:"paces"`
}

// reference is the peer against which the pace is a goal, at every rate. The others are
// asked at the rates alone at which processor time is one.
const reference = "vegeta"

func isCostRate(rate int) bool { return rate == 5000 || rate == 20000 }

// pacedPeers are those that are compared at a rate.
func (b *bench) pacedPeers(rate int) []*tool {
	return having(b.peers, func(t *tool) bool { return t.name == reference || t.paced && isCostRate(rate) })
}

// open compares ours at every rate with the peers that can keep one.
func (b *bench) open(ctx context.Context) (*Open, error) {
	out := &Open{}
	for _, rate := range b.rates {
		able := b.pacedPeers(rate)
		s := target.Stretch{Records: rate*int(b.window.Seconds()) + rate, Spin: true}
		pairs, err := b.pairs(ctx, fmt.Sprintf("open, %d/s", rate), job{connections: connections, rate: rate, window: b.window}, s, able)
		if err != nil {
			return out, err
		}
		out.Costs = append(out.Costs, compare(pairs, able, rate, b.window)...)
		out.Paces = append(out.Paces, paces(pairs, able, rate, b.window)...)
	}
	return out, nil
}

// paces gathers the samples of ours and of each peer.
func paces(pairs []pair, peers []*tool, rate int, window time.Duration) []Pace {
	by := map[string][]sample{}
	for _, p := range pairs {
		by[ours] = append(by[ours], p.ours)
		by[p.peer] = append(by[p.peer], p.theirs)
	}
	var out []Pace
	for _, name := range append([]string{ours}, each(peers, func(t *tool) string { return t.name })...) {
		if samples := by[name]; len(samples) > 0 {
			out = append(out, pace(name, samples, rate, window))
		}
	}
	return out
}

func pace(name string, samples []sample, rate int, window time.Duration) Pace {
	return Pace{
		Tool: name, Rate: rate,
		Achieved: spreadOf(each(samples, func(s sample) float64 {
			return float64(s.target.Requests) / (float64(rate) * window.Seconds())
		})),
		Lateness: spreadOf(each(samples, func(s sample) float64 { return s.late(rate) })),
		Bunched:  spreadOf(each(samples, func(s sample) float64 { return bunched(s.target.Records, rate) })),
	}
}
