package analysis

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func ceilingCase(in values) (values, error) {
	var rungs []Rung
	rule := LadderRule{}
	if in["achieved_fraction"] != nil {
		rule = LadderRule{
			Achieved: in.num("achieved_fraction"), Dropped: in.num("dropped_fraction"), Errors: in.num("error_fraction"),
			Generator: in.num("client_cpu_limit"), Moved: in.num("move_factor"),
		}
	}
	for _, s := range in["steps"].([]any) {
		step := values(s.(map[string]any))
		g := Rung{
			Offered: step.num("offered"), Achieved: stat.Mean(step.list("achieved"), nil), Dropped: step.num("dropped"), Errors: step.num("errors"),
			Median: step.num("p50_ms") / 1000, Tail: step.num("tail_ms") / 1000, Generator: step.num("client_cpu"),
		}
		if in["tail_limit_ms"] != nil {
			g.Missed = g.Tail > in.num("tail_limit_ms")/1000
		}
		rungs = append(rungs, g)
	}
	c, err := FindCeiling(rungs, rule)
	if err != nil {
		return values{}, err
	}
	at := func(i int) any {
		if i < 0 {
			return math.NaN()
		}
		return rungs[i].Offered
	}
	return values{
		"sustained": at(c.Sustained), "broken": at(c.Broken), "plateau": c.Plateau,
		"tail_first_at": at(c.TailFirst), "median_first_at": at(c.MedianFirst), "status": string(c.Status),
	}, nil
}

func TestAFailedRungHasNoPlateau(t *testing.T) {
	good := Rung{Offered: 100, Achieved: 100}
	c, err := FindCeiling([]Rung{good, {Offered: 200, Failed: true}}, DefaultLadderRule())
	if err != nil || c.Reached || c.Broken != 1 || c.Status != LadderFound {
		t.Errorf("got %+v, %v; want a break without a plateau", c, err)
	}
	if _, err := FindCeiling([]Rung{{Offered: math.NaN()}}, DefaultLadderRule()); err == nil {
		t.Error("a rung that is no number is taken")
	}
}
