package fake

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/load"
)

// Generation is what a generator reports.
type Generation struct {
	Result experiment.LoadResult // Window and Parts are filled if zero
	// Cut ends the output when this phase would begin: the result is incomplete.
	// Empty: it is whole.
	Cut experiment.Phase
}

// Throughput is a clean result: so many successes a second, none failed. Counts
// are those of the load's window. The same holds in each measured phase that the load
// declares; named requests share it by their weights.
func Throughput(perSecond float64) Generation {
	return Generation{Result: experiment.LoadResult{Observations: rates("", "", perSecond)}}
}

func rates(prefix, suffix string, perSecond float64) []experiment.Observation {
	observe := func(metric string, value float64, unit experiment.Unit) experiment.Observation {
		return experiment.Observation{Metric: prefix + metric + suffix, Phase: experiment.PhaseMeasure, Value: value, Unit: unit}
	}
	return []experiment.Observation{
		observe("throughput", perSecond, experiment.UnitPerSecond),
		observe("offered", perSecond, experiment.UnitPerSecond),
		observe("sent", perSecond, experiment.UnitPerSecond),
		observe("error_rate", 0, experiment.UnitRatio),
		observe("unfinished", 0, experiment.UnitCount),
	}
}

// complete fills what follows from the load, as the real generator tells it: rates of
// each measured phase that it declares and of each named request, by weight.
func (g Generation) complete(l experiment.Load) Generation {
	r := &g.Result
	if r.Window == 0 {
		r.Window = l.Window()
	}
	if r.Parts == nil {
		r.Parts = load.Parts(l)
	}
	rate, ok := experiment.Observed(r.Observations, "throughput")
	if !ok {
		return g
	}
	r.Observations = slices.Clip(r.Observations)
	done := rate * r.Window.Seconds()
	if _, given := experiment.Observed(r.Observations, "requests_done"); !given {
		g.fill(experiment.Observation{Metric: "requests_done", Phase: experiment.PhaseMeasure, Value: done, Unit: experiment.UnitCount})
		if r.Statuses == nil {
			r.Statuses = map[string]int64{"200": int64(done)}
		}
	}
	prefixes := []string{""}
	if len(r.Parts) > 0 {
		prefixes = nil
		for _, p := range r.Parts {
			prefixes = append(prefixes, p.Name+":")
			g.fill(rates(p.Name+":", "", rate)...)
		}
	}
	for _, prefix := range prefixes {
		for _, q := range l.Requests {
			if q.Name != "" {
				g.fill(rates(prefix, "{"+q.Name+"}", rate*q.Weight/weights(l))...)
			}
		}
	}
	return g
}

// fill adds the observations that are not given.
func (g *Generation) fill(all ...experiment.Observation) {
	for _, o := range all {
		if _, given := experiment.Observed(g.Result.Observations, o.Metric); !given {
			g.Result.Observations = append(g.Result.Observations, o)
		}
	}
}

func weights(l experiment.Load) float64 {
	sum := 0.0
	for _, q := range l.Requests {
		sum += q.Weight
	}
	return sum
}

// plan gives the load of a generator from its variable: JSON, or the path of one of
// its files.
func plan(s experiment.Service, spec string) (experiment.Load, error) {
	if file, ok := strings.CutPrefix(spec, "@"); ok {
		texts, err := s.FileTexts()
		if err != nil {
			return experiment.Load{}, fmt.Errorf("read load: %w", err)
		}
		if spec, ok = texts[file]; !ok {
			return experiment.Load{}, fmt.Errorf("read load: there is no file %s", file)
		}
	}
	var l experiment.Load
	if err := json.Unmarshal([]byte(spec), &l); err != nil {
		return experiment.Load{}, fmt.Errorf("read load: %w", err)
	}
	return l, nil
}

// generate lets the service report as a generator does.
func (p *proc) generate(run Run, spec string) error {
	l, err := plan(p.service, spec)
	if err != nil {
		return err
	}
	g := Throughput(1000)
	if script := p.runner.script.Load; script != nil {
		run.Services = slices.Clone(run.Services)
		p.runner.ask(func() { g = script(run, l) })
	}
	g = g.complete(l)
	p.working.Go(func() {
		if p.report(l, g) {
			p.end(0, false)
		}
	})
	return nil
}

// report writes the protocol to the end, phases when they begin. It is false when
// the generator was stopped meanwhile.
func (p *proc) report(l experiment.Load, g Generation) bool {
	enc := load.NewEncoder(p.out.stdout())
	events := load.Timeline(p.began, l)
	steps := []func() error{func() error { return enc.Hello("fake") }}
	for _, e := range events {
		steps = append(steps, func() error { return enc.Phase(e.Phase, e.Part, e.At) })
	}
	for i, write := range steps {
		if i > 0 {
			if events[i-1].Phase == g.Cut {
				return true
			}
			if !p.until(events[i-1].At) {
				return false
			}
		}
		if write() != nil {
			return false
		}
	}
	last := events[len(events)-1].At
	return enc.Slices(last, g.Result.Series) == nil && enc.Result(g.Result) == nil && enc.End() == nil
}
