package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/ceteris/ceteris/experiment"
)

// leastRise is by how much a load must rise from one condition to the next, before it
// is said what came of it.
const leastRise = 0.1

// flatLoad looks at cells that differ in how much load there is and in nothing else: the
// rungs of a ladder, and conditions whose levels are numbers of users.
func flatLoad() Guard {
	return Guard{
		Code:      "flat-load",
		Severity:  experiment.SeverityWarn,
		Threshold: 0.1,
		Unit:      experiment.UnitRatio,
		Help: "From one condition to the next the load rose, and throughput by less than this share of the rise. More users only wait: the subject, or what " +
			"is before it, is at its limit from there on, latency is the queue's, and a factor is compared at that limit and nowhere else. Rungs of a ladder that bring no more " +
			"are a note: to find them is what a ladder is for.",
		sweep: judgeFlatLoad,
	}
}

// rung is a cell under a load, a rate or a number of users, and what came of it.
type rung struct {
	cell             experiment.CellKey
	load, throughput float64
}

func judgeFlatLoad(s experiment.Sweep, _ experiment.Results, limit float64) []experiment.Finding {
	var all []experiment.Finding
	for _, l := range s.Ladders {
		var rungs []rung
		for _, key := range l.Rungs {
			offered, known := meanOf(s, key, "offered")
			rungs = added(rungs, s, key, offered, known)
		}
		if from, to, flat := flatStep(rungs, limit); flat && l.Cell.Role != experiment.RoleControl {
			all = append(all, flatFinding(experiment.SeverityNote, from, to, "requests/s offered"))
		}
	}
	for _, rungs := range byNumber(s) {
		if from, to, flat := flatStep(rungs, limit); flat && allWait(s, from, to) {
			all = append(all, flatFinding(experiment.SeverityWarn, from, to, "users"))
		}
	}
	return all
}

// added adds a rung, if its load and throughput are known.
func added(rungs []rung, s experiment.Sweep, cell experiment.CellKey, load float64, known bool) []rung {
	if throughput, ok := meanOf(s, cell, "throughput"); ok && known {
		return append(rungs, rung{cell, load, throughput})
	}
	return rungs
}

// flatStep finds the first rung that brings no more than the one below it.
func flatStep(rungs []rung, limit float64) (from, to rung, flat bool) {
	for i := 1; i < len(rungs); i++ {
		from, to = rungs[i-1], rungs[i]
		rise := to.load/from.load - 1
		if from.load > 0 && from.throughput > 0 && rise >= leastRise && to.throughput/from.throughput-1 < limit*rise {
			return from, to, true
		}
	}
	return from, to, false
}

func flatFinding(sev experiment.Severity, from, to rung, what string) experiment.Finding {
	f := measured(sev, "throughput", (to.throughput/from.throughput-1)/(to.load/from.load-1),
		"from %s to %s %s throughput went from %s/s to %s/s: more brings no more", number(from.load), number(to.load), what, number(from.throughput), number(to.throughput))
	f.Cell = to.cell
	return f
}

// byNumber gathers the cells that differ in a numeric condition alone, the smallest
// number first.
func byNumber(s experiment.Sweep) [][]rung {
	var out [][]rung
	for _, condition := range s.Across {
		at := map[string]int{}
		for _, c := range s.Cells {
			text, _ := c.Lookup(condition)
			n, err := strconv.ParseFloat(text, 64)
			if err != nil || c.Role == experiment.RoleControl {
				continue
			}
			others := slices.DeleteFunc(slices.Clone(c.Settings), func(set experiment.Setting) bool { return set.Factor == condition })
			group := fmt.Sprint(c.Stage, others)
			i, known := at[group]
			if !known {
				i = len(out)
				at[group] = i
				out = append(out, nil)
			}
			out[i] = added(out[i], s, c.Key, n, true)
		}
	}
	for _, rungs := range out {
		slices.SortFunc(rungs, func(a, b rung) int { return cmp.Compare(a.load, b.load) })
	}
	return out
}

// waitShare is how much of what a number rises by must be under way, to be users.
const waitShare = 0.9

// allWait tells users from other numbers: where more of them get no more done, each one
// that is added has a request under way all the time (Little's law; thinking takes as
// much of the others as before).
func allWait(s experiment.Sweep, from, to rung) bool {
	less, ok1 := meanOf(s, from.cell, "in_flight")
	more, ok2 := meanOf(s, to.cell, "in_flight")
	return ok1 && ok2 && more-less >= waitShare*(to.load-from.load) && more <= to.load*(2-waitShare)
}
