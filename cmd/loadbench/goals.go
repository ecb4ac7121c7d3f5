//go:build linux

package main

import (
	"fmt"
	"math"
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

// goals judges what was measured, by medians.
func goals(o Outcome) []Goal {
	out := []Goal{{
		Name: "target", Want: fmt.Sprintf("carries at least %d/s on its core", targetRate),
		Measured: fmt.Sprintf("%.0f/s by its processor time, %.0f/s served", o.Target.OnCPU, o.Target.Rate), Met: o.Target.OnCPU >= targetRate,
	}}
	for _, c := range o.Closed {
		if ratio, ok := least(c.Peer); ok {
			out = append(out, Goal{
				Name: "closed, requests by processor time", Want: fmt.Sprintf("at least %g of %s", ratio, c.Peer),
				Measured: c.Ratio.String(), Met: c.Ratio.Median >= ratio,
			})
		}
	}
	if o.Open != nil {
		out = append(out, costGoals(o.Open.Costs)...)
		out = append(out, paceGoals(o.Open.Paces)...)
	}
	if o.Stall != nil {
		out = append(out, stallGoals(*o.Stall)...)
	}
	if o.Connections != nil {
		out = append(out, crowdGoals(*o.Connections)...)
	}
	return out
}

func costGoals(costs []Comparison) []Goal {
	var out []Goal
	for _, c := range costs {
		if c.Peer == reference && isCostRate(c.Rate) {
			out = append(out, Goal{
				Name: fmt.Sprintf("open at %d/s, requests by processor time", c.Rate), Want: fmt.Sprintf("at least %d of %s", openRatio, c.Peer),
				Measured: c.Ratio.String(), Met: c.Ratio.Median >= openRatio,
			})
		}
		if c.Peer == reference && c.Late != nil {
			out = append(out, Goal{
				Name: fmt.Sprintf("open at %d/s, lateness p99", c.Rate), Want: fmt.Sprintf("never above %g of %s's", lateShare, c.Peer),
				Measured: c.Late.format("%.3f"), Met: c.Late.Max <= lateShare,
			})
		}
	}
	return out
}

func paceGoals(paces []Pace) []Goal {
	var out []Goal
	for _, p := range paces {
		if p.Tool != ours {
			continue
		}
		at := fmt.Sprintf("open at %d/s, ", p.Rate)
		out = append(
			out,
			Goal{Name: at + "achieved by offered", Want: fmt.Sprintf("at least %g", leastAchieved), Measured: p.Achieved.exact(), Met: p.Achieved.Min >= leastAchieved},
			Goal{Name: at + "lateness p99", Want: fmt.Sprintf("at most %s", milliseconds(mostLateness)), Measured: p.Lateness.milliseconds(), Met: p.Lateness.Median <= mostLateness},
		)
		if p.Rate == bunchedRate {
			out = append(out, Goal{Name: at + "share bunched", Want: fmt.Sprintf("at most %g", mostBunched), Measured: p.Bunched.String(), Met: p.Bunched.Median <= mostBunched})
		}
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
