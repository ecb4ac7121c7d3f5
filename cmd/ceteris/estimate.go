package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

// What a run costs beside its load where no earlier run tells: starting and removing
// everything, waiting for each service, and what it leaves in the database.
const (
	besideProcess = 500 * time.Millisecond
	besideDocker  = 2 * time.Second
	readyProcess  = 50 * time.Millisecond // each service
	readyDocker   = 500 * time.Millisecond
	bytesPerRun   = 20 << 10
)

// Earlier runs that are looked at, and how many make the size of a file tell: less,
// and it is that of empty tables.
const (
	earlierRuns  = 40
	tellingBytes = 20
)

// costs are what a run costs beside its load.
type costs struct {
	beside, ready time.Duration // of a run, and of each service
	bytes         int64
	runs          int // earlier ones behind beside; 0: by default
}

func defaultCosts(runner string) costs {
	if runner == experiment.RunnerDocker {
		return costs{beside: besideDocker, ready: readyDocker, bytes: bytesPerRun}
	}
	return costs{beside: besideProcess, ready: readyProcess, bytes: bytesPerRun}
}

// basis says what the costs rest on.
func (c costs) basis() string {
	if c.runs > 0 {
		return fmt.Sprintf("%s a run beside its load, as in %d earlier runs", report.Duration(c.beside), c.runs)
	}
	return fmt.Sprintf("assumed: %s a run and %s a service beside the load", report.Duration(c.beside), report.Duration(c.ready))
}

// besideLoad is how long runs of a matrix took without what their load was to take:
// from its first slice to the end of the window, or, where phases may follow that, to
// the last slice. The end of what was still under way is thus beside the load, and so is
// all of a load of which nobody knows before how long it takes.
const besideLoad = `
SELECT count(*), avg(took - ? * max(window - first * 1000000, ? * (last - first) * 1000000))
FROM (
    SELECT r.ended - r.began AS took, coalesce(r.window_ns, 0) AS window,
           min(0, coalesce((SELECT min(p.at_ms) FROM series p WHERE p.run = r.id AND p.service = ''), 0)) AS first,
           coalesce((SELECT max(p.at_ms) FROM series p WHERE p.run = r.id AND p.service = ''), 0) AS last
    FROM runs r
    JOIN sweeps s ON s.id = r.sweep
    WHERE s.name = ? AND s.runner = ? AND r.state = 'ok' AND r.ended IS NOT NULL
    ORDER BY r.id DESC
    LIMIT ?
)`

// earlierCosts takes the costs from the database, as far as it tells. There need not
// be one.
func (a *app) earlierCosts(ctx context.Context, m *experiment.Matrix) (costs, error) {
	c := defaultCosts(m.Runner)
	file, err := os.Stat(a.config.DB)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	r, err := a.openReader(ctx)
	if err != nil {
		return c, err
	}
	defer r.Close()
	row := func(query string, args ...any) ([]any, error) {
		_, rows, err := r.Query(ctx, query, args...)
		if err != nil {
			return nil, err
		}
		for row, err := range rows {
			return row, err
		}
		return nil, nil
	}
	all, err := row(`SELECT count(*) FROM runs WHERE ended IS NOT NULL`)
	if err != nil {
		return c, err
	}
	if n, ok := all[0].(int64); ok && n >= tellingBytes {
		c.bytes = file.Size() / n
	}
	known, phases := 1, 0
	if m.Load.External != nil && m.Load.Measure.For.IsZero() {
		known = 0
	}
	if m.Load.Phases != nil {
		phases = 1
	}
	taken, err := row(besideLoad, known, phases, m.Name, m.Runner, earlierRuns)
	if err != nil {
		return c, err
	}
	if n, ok := taken[0].(int64); ok && n > 0 {
		if mean, ok := taken[1].(float64); ok && mean >= 0 {
			c.beside, c.ready, c.runs = time.Duration(mean), 0, int(n)
		}
	}
	return c, nil
}

// forecast tells how long cells of a matrix take.
type forecast struct {
	m     *experiment.Matrix
	costs costs
	plans map[string]cellCost // by settings
}

type cellCost struct {
	load     experiment.Load
	services int
}

func newForecast(m *experiment.Matrix, c costs) *forecast {
	return &forecast{m: m, costs: c, plans: map[string]cellCost{}}
}

// of is the time for all rounds of the cells, under a changed load.
func (f *forecast) of(cells []experiment.Cell, rounds int, change func(*experiment.Load)) (time.Duration, error) {
	var sum time.Duration
	for _, c := range cells {
		p, err := f.plan(c)
		if err != nil {
			return 0, err
		}
		load := p.load
		if load.External == nil { // what another generator does, its command says
			change(&load)
		}
		sum += f.costs.beside + time.Duration(p.services)*f.costs.ready
		if !untold(load) || f.costs.runs == 0 {
			sum += loadTime(load)
		}
	}
	return sum * time.Duration(rounds), nil
}

func (f *forecast) plan(c experiment.Cell) (cellCost, error) {
	var key strings.Builder
	for _, s := range c.Settings {
		fmt.Fprintf(&key, "%q", s.Level)
	}
	if p, ok := f.plans[key.String()]; ok {
		return p, nil
	}
	p, err := f.m.Plan(c)
	if err != nil {
		return cellCost{}, err
	}
	cost := cellCost{p.Load, len(p.Services)}
	f.plans[key.String()] = cost
	return cost, nil
}

// untold reports whether a load ends when another generator does, and nobody says when
// that is.
func untold(l experiment.Load) bool { return l.External != nil && l.Measure == 0 }

// loadTime is what a load is expected to take. A warm-up of open length is taken in
// the middle; fixed work at its rate, or at its longest where no rate is known; and
// another generator at its longest where it is not said when its window ends.
func loadTime(l experiment.Load) time.Duration {
	switch {
	case l.None:
		return 0
	case untold(l):
		return l.External.Within
	case l.Phases != nil:
		var sum time.Duration
		for _, p := range l.Phases {
			sum += p.For
		}
		return sum
	}
	warmup := l.Warmup
	if l.Steady > 0 {
		warmup = (l.Warmup + l.Steady) / 2
	}
	window := l.Measure
	if l.Work > 0 && l.Open != nil && l.Open.Rate > 0 {
		window = min(window, time.Duration(float64(l.Work)/l.Open.Rate*float64(time.Second)))
	}
	return l.Ramp + warmup + window
}

func unchanged(*experiment.Load) {}

// leastRounds is the smallest number that gives an interval.
const leastRounds = 3

// cut finds the one change that makes the forecast shortest; nil if none does.
func (f *forecast) cut(cells []experiment.Cell) (*report.Cut, error) {
	now, err := f.of(cells, f.m.Repeat.Rounds, unchanged)
	if err != nil {
		return nil, err
	}
	best := report.Cut{Duration: now}
	try := func(change string, cells []experiment.Cell, rounds int, load func(*experiment.Load)) error {
		d, err := f.of(cells, rounds, load)
		if err == nil && d < best.Duration {
			best = report.Cut{Change: change, Duration: d}
		}
		return err
	}
	rounds := f.m.Repeat.Rounds
	fewer, least := "%d rounds instead of %d", leastRounds
	if f.m.Repeat.Until != experiment.StopFixed {
		fewer, least = "at most %d rounds instead of %d", experiment.FirstLook
	}
	err = errors.Join(
		try(fmt.Sprintf(fewer, least, rounds), cells, min(rounds, least), unchanged),
		try("a warm-up half as long", cells, rounds, func(l *experiment.Load) { l.Warmup, l.Steady = l.Warmup/2, l.Steady/2 }),
		try("a window half as long", cells, rounds, halfWindow),
	)
	for _, c := range f.lesser() {
		left := c.m.Cells()
		if slices.ContainsFunc(left, func(c experiment.Cell) bool { return len(c.Off) > 0 }) { // else nothing is asked any more
			err = errors.Join(err, try(c.change, left, rounds, unchanged))
		}
	}
	if err != nil || best.Change == "" {
		return nil, err
	}
	return &best, nil
}

func halfWindow(l *experiment.Load) {
	l.Measure, l.Work = l.Measure/2, l.Work/2
	l.Phases = slices.Clone(l.Phases)
	for i := range l.Phases {
		if l.Phases[i].Measure {
			l.Phases[i].For /= 2
		}
	}
}

// lesserMatrix has fewer cells than another.
type lesserMatrix struct {
	change string
	m      experiment.Matrix
}

// lesser gives what is left of the matrix without its control, without the factor of
// most levels, and with each condition at one level. A ladder keeps its rungs: one
// alone shows no ceiling.
func (f *forecast) lesser() []lesserMatrix {
	var out []lesserMatrix
	if f.m.Control {
		m := *f.m
		m.Control = false
		out = append(out, lesserMatrix{"no control", m})
	}
	most := -1
	for i, fa := range f.m.Factors {
		switch {
		case fa.Name == f.m.Rung():
		case slices.Contains(f.m.Design.Across, fa.Name):
			out = append(out, lesserMatrix{fmt.Sprintf("the condition %s at %s alone", fa.Name, fa.Levels[fa.Baseline].Text), f.at(i)})
		case most < 0 || len(fa.Levels) > len(f.m.Factors[most].Levels):
			most = i
		}
	}
	if most >= 0 {
		out = append(out, lesserMatrix{"no factor " + f.m.Factors[most].Name, f.at(most)})
	}
	return out
}

// at leaves a factor its baseline alone.
func (f *forecast) at(factor int) experiment.Matrix {
	m := *f.m
	m.Factors = slices.Clone(m.Factors)
	fa := m.Factors[factor]
	fa.Levels, fa.Baseline = []experiment.Level{fa.Levels[fa.Baseline]}, 0
	m.Factors[factor] = fa
	return m
}
