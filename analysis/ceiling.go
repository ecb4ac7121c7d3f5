package analysis

import "github.com/ceteris/ceteris/experiment"

// Rung is a step of a ladder: one rate, what came of it, and at which cost.
type Rung struct {
	Offered   float64 // 1/s
	Achieved  float64 // 1/s
	Dropped   float64 // share of the arrivals
	Errors    float64 // share of the requests
	Median    float64 // response time, s; 0 if it is not known
	Tail      float64 // a high quantile of it, s; 0 if it is not known
	Generator float64 // processor time of the generator, share of what it may use; 0 if it is not known
	Missed    bool    // a declared limit is exceeded
	Failed    bool    // the subject failed; nothing was achieved
}

// LadderRule says when a rung is sustained.
type LadderRule struct {
	Achieved  float64 // share of offered, at least
	Dropped   float64 // at most
	Errors    float64 // at most
	Generator float64 // below; 0: no limit
	Moved     float64 // a quantile has moved at so many times the smallest of the lower rungs
}

// DefaultLadderRule gives the rule that applies unless another is declared.
func DefaultLadderRule() LadderRule {
	return LadderRule{Achieved: 0.97, Dropped: 0.02, Errors: 0.001, Generator: experiment.DefaultGeneratorCPU, Moved: 4}
}

// Broken says why a rung is not sustained; empty if it is.
func (r LadderRule) Broken(g Rung) string {
	switch {
	case g.Failed:
		return "failed"
	case r.busy(g):
		return "generator"
	case g.Dropped > r.Dropped:
		return "dropped"
	case g.Errors > r.Errors:
		return "errors"
	case g.Achieved < r.Achieved*g.Offered:
		return "achieved"
	case g.Missed:
		return "objective"
	default:
		return ""
	}
}

func (r LadderRule) busy(g Rung) bool { return r.Generator > 0 && g.Generator >= r.Generator }

// LadderStatus is how a ladder ended.
type LadderStatus string

// The statuses. Only a ceiling that was found is a property of the subject.
const (
	LadderFound         LadderStatus = "found"
	LadderNotReached    LadderStatus = "not-reached"    // every rung is sustained: the ceiling is above the last
	LadderBelow         LadderStatus = "below-ladder"   // the first rung is not sustained
	LadderClientLimited LadderStatus = "client-limited" // where it breaks the generator is at its own limit
	LadderNonMonotone   LadderStatus = "non-monotone"   // a rung is sustained above one that is not
)

// Ceiling is what a ladder shows. Rungs are given by their positions; -1: none.
type Ceiling struct {
	Sustained   int // the last before the first that is broken
	Broken      int // the first that is not sustained
	TailFirst   int // the first whose tail has moved
	MedianFirst int // the first whose median has moved
	Plateau     float64
	Reached     bool // there is a plateau: mean of achieved over the broken rungs
	Status      LadderStatus
}

// FindCeiling looks at one whole ladder, the lowest rung first. ErrNoData without
// rungs, ErrNotFinite.
func FindCeiling(rungs []Rung, rule LadderRule) (Ceiling, error) {
	if len(rungs) == 0 {
		return Ceiling{}, ErrNoData
	}
	for _, g := range rungs {
		if err := checkFinite([]float64{g.Offered, g.Achieved, g.Dropped, g.Errors, g.Median, g.Tail, g.Generator}); err != nil {
			return Ceiling{}, err
		}
	}
	c := Ceiling{Sustained: -1, Broken: -1, Status: LadderNotReached}
	passed, sum, n := false, 0.0, 0.0 // passed: a rung above the first break is sustained
	for i, g := range rungs {
		switch {
		case rule.Broken(g) != "":
			if c.Broken < 0 {
				c.Broken = i
			}
			if !g.Failed {
				sum, n = sum+g.Achieved, n+1
			}
		case c.Broken < 0:
			c.Sustained = i
		default:
			passed = true
		}
	}
	if n > 0 {
		c.Plateau, c.Reached = sum/n, true
	}
	switch {
	case c.Broken < 0:
	case rule.busy(rungs[c.Broken]):
		c.Status = LadderClientLimited
	case passed:
		c.Status = LadderNonMonotone
	case c.Sustained < 0:
		c.Status = LadderBelow
	default:
		c.Status = LadderFound
	}
	c.TailFirst = rule.moved(rungs, func(g Rung) float64 { return g.Tail })
	c.MedianFirst = rule.moved(rungs, func(g Rung) float64 { return g.Median })
	return c, nil
}

// moved gives the first rung whose quantile is several times the smallest of the
// lower ones: low rungs that a short warm-up inflates hide nothing.
func (r LadderRule) moved(rungs []Rung, quantile func(Rung) float64) int {
	smallest := 0.0
	for i, g := range rungs {
		v := quantile(g)
		if v <= 0 {
			continue
		}
		if smallest > 0 && v > r.Moved*smallest {
			return i
		}
		if smallest == 0 || v < smallest {
			smallest = v
		}
	}
	return -1
}
