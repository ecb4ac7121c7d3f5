//go:build linux

package main

import "fmt"

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
	}
	return out
}

func paceGoals(paces []Pace) []Goal {
	var out []Goal
	theirs := map[int]Pace{}
	for _, p := range paces {
		if p.Tool == reference {
			theirs[p.Rate] = p
		}
	}
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
		if r, ok := theirs[p.Rate]; ok {
			out = append(out, Goal{
				Name: at + "lateness p99", Want: fmt.Sprintf("at most %g of %s's", lateShare, reference),
				Measured: fmt.Sprintf("%.3f", p.Lateness.Median/r.Lateness.Median), Met: p.Lateness.Median <= lateShare*r.Lateness.Median,
			})
		}
		if p.Rate == bunchedRate {
			out = append(out, Goal{Name: at + "share bunched", Want: fmt.Sprintf("at most %g", mostBunched), Measured: p.Bunched.String(), Met: p.Bunched.Median <= mostBunched})
		}
	}
	return out
}
