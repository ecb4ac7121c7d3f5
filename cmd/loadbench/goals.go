//go:build linux

package main

import (
	"fmt"
	"math"
	"slices"
)

// Goal is what the generator is to reach, and what was measured of it.
type Goal struct {
	Name     string `json:"name"`
	Want     string `json:"want"`
	Measured string `json:"measured"`
	Met      bool   `json:"met"`
}

// least is the ratio to a peer in a closed loop that is wanted: at least one tenth more
// than every peer written in Go, with some peers wanted more.
func least(peer string) (ratio float64, wanted bool) {
	switch peer {
	case "wrk":
		return 0.9, true
	case "k6":
		return 6, true
	case "vegeta":
		return 3, true
	case "fortio", "bombardier", "hey":
		return 1.1, true
	default:
		return 0, false
	}
}

const (
	targetRate    = 60_000 // requests a second that the target's core is to carry
	openRatio     = 2      // to the reference peer: no more than half of its processor time
	leastAchieved = 0.999
	mostLateness  = 0.0005 // p99, s
	lateShare     = 0.1    // of the lateness of the reference peer
	mostBunched   = 0.2
	bunchedRate   = 5000 // 1/s at which bunching is a goal
)

// notMeasured stands in the place of what was measured where a peer was missing, or lost.
const notMeasured = "not measured"

// goals judges what was asked for by what was measured, by medians. A goal of which
// nothing was measured is not met.
func goals(o Outcome, asked options) []Goal {
	out := []Goal{{
		Name: "target", Want: fmt.Sprintf("carries at least %d/s on its core", targetRate),
		Measured: fmt.Sprintf("%.0f/s by its processor time, %.0f/s served", o.Target.OnCPU, o.Target.Rate), Met: o.Target.OnCPU >= targetRate,
	}}
	if slices.Contains(asked.modes, modeClosed) {
		out = append(out, closedGoals(o.Closed, asked)...)
	}
	if o.Open != nil {
		out = append(out, costGoals(o.Open.Costs, asked)...)
		out = append(out, paceGoals(o.Open.Paces, asked)...)
	}
	if o.Stall != nil {
		out = append(out, stallGoals(*o.Stall)...)
	}
	if o.Connections != nil {
		out = append(out, crowdGoals(*o.Connections)...)
	}
	return out
}

func closedGoals(all []Comparison, asked options) []Goal {
	var out []Goal
	for _, t := range peers() {
		ratio, wanted := least(t.name)
		if !wanted || !asked.compares(t.name) {
			continue
		}
		g := Goal{Name: "closed, requests by processor time", Want: fmt.Sprintf("at least %g of %s", ratio, t.name), Measured: notMeasured}
		if c, ok := comparison(all, t.name, 0); ok {
			g.Measured, g.Met = c.Ratio.String(), c.Ratio.Median >= ratio
		}
		out = append(out, g)
	}
	return out
}

// comparison finds the one with a peer at a rate, if it was made.
func comparison(all []Comparison, peer string, rate int) (Comparison, bool) {
	i := slices.IndexFunc(all, func(c Comparison) bool { return c.Peer == peer && c.Rate == rate })
	if i < 0 {
		return Comparison{}, false
	}
	return all[i], true
}

func costGoals(costs []Comparison, asked options) []Goal {
	if !asked.compares(reference) {
		return nil
	}
	var out []Goal
	for _, rate := range asked.rates {
		c, ok := comparison(costs, reference, rate)
		if isCostRate(rate) {
			g := Goal{Name: fmt.Sprintf("open at %d/s, requests by processor time", rate), Want: fmt.Sprintf("at least %d of %s", openRatio, reference), Measured: notMeasured}
			if ok {
				g.Measured, g.Met = c.Ratio.String(), c.Ratio.Median >= openRatio
			}
			out = append(out, g)
		}
		g := Goal{Name: fmt.Sprintf("open at %d/s, lateness p99", rate), Want: fmt.Sprintf("never above %g of %s's", lateShare, reference), Measured: notMeasured}
		if ok && c.Late != nil {
			g.Measured, g.Met = c.Late.format("%.3f"), c.Late.Max <= lateShare
		}
		out = append(out, g)
	}
	return out
}

// paceGoals judges how ours kept each rate. It was not measured where all peers of its
// pairs were lost.
func paceGoals(paces []Pace, asked options) []Goal {
	var out []Goal
	for _, rate := range asked.rates {
		at := fmt.Sprintf("open at %d/s, ", rate)
		all := []Goal{
			{Name: at + "achieved by offered", Want: fmt.Sprintf("at least %g", leastAchieved), Measured: notMeasured},
			{Name: at + "lateness p99", Want: fmt.Sprintf("at most %s", milliseconds(mostLateness)), Measured: notMeasured},
			{Name: at + "share bunched", Want: fmt.Sprintf("at most %g", mostBunched), Measured: notMeasured},
		}
		if i := slices.IndexFunc(paces, func(p Pace) bool { return p.Tool == ours && p.Rate == rate }); i >= 0 {
			p := paces[i]
			all[0].Measured, all[0].Met = p.Achieved.exact(), p.Achieved.Min >= leastAchieved
			all[1].Measured, all[1].Met = p.Lateness.milliseconds(), p.Lateness.Median <= mostLateness
			all[2].Measured, all[2].Met = p.Bunched.String(), p.Bunched.Median <= mostBunched
		}
		if rate != bunchedRate {
			all = all[:2]
		}
		out = append(out, all...)
	}
	return out
}

const (
	nearTruth    = 0.02 // relative
	crowdSending = 1.0  // s
	crowdPeak    = 60 << 20
	mostReady    = 0.015 // s
)

// stallGoals judges what ours says of the stall.
func stallGoals(s Stalls) []Goal {
	var out []Goal
	for _, one := range s.Tools {
		if one.Tool != ours {
			continue
		}
		for _, name := range told() {
			said, ok := one.Says[name]
			off := said/one.Truth[name] - 1
			out = append(out, Goal{
				Name: "stall, " + name, Want: fmt.Sprintf("within %g%% of the truth", 100*nearTruth),
				Measured: fmt.Sprintf("%s of %s, off by %.2f%%", milliseconds(said), milliseconds(one.Truth[name]), 100*off),
				Met:      ok && math.Abs(off) <= nearTruth,
			})
		}
	}
	d := s.Drops
	return append(out, Goal{
		Name: "stall, drops", Want: "exact",
		Measured: fmt.Sprintf("%d dropped, %d sent; %d of %d arrived", d.Dropped, d.Sent, d.Arrived, d.Scheduled), Met: d.exact(),
	})
}

// crowdGoals judges many connections.
func crowdGoals(c Crowds) []Goal {
	var out []Goal
	for _, one := range c.Crowds {
		at := fmt.Sprintf("%d connections, ", one.Connections)
		works := one.Working == one.Connections && one.Failed == 0 && one.Exact
		out = append(out, Goal{
			Name: at + "all work", Want: "all send, none fails, counted alike",
			Measured: fmt.Sprintf("%d sent, %d requests failed", one.Working, one.Failed), Met: works,
		})
		switch one.Connections {
		case connections:
			out = append(out, Goal{
				Name: at + "first requests sent", Want: "within " + milliseconds(mostReady) + " of the start",
				Measured: one.Sending.milliseconds(), Met: works && one.Sending.Median <= mostReady,
			})
		case many:
			out = append(
				out,
				Goal{Name: at + "open and sending", Want: fmt.Sprintf("within %g s of the start", crowdSending), Measured: one.Sending.String() + " s", Met: works && one.Sending.Median <= crowdSending},
				Goal{Name: at + "memory", Want: fmt.Sprintf("at most %d MiB", crowdPeak>>20), Measured: one.Peak.scaled(1.0/(1<<20)).format("%.1f") + " MiB", Met: one.Peak.Max <= crowdPeak},
			)
		}
	}
	r := c.Refused
	return append(out, Goal{
		Name: fmt.Sprintf("%d connections with %d descriptors", many, fewFiles), Want: "an error before the first request",
		Measured: fmt.Sprintf("exit %d after %d requests: %s", r.Code, r.Requests, r.Said), Met: r.Code > 0 && r.Requests == 0 && r.Said != "",
	})
}
