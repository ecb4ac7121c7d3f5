package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
)

// How long the cells of a trial are under load, and the baseline that shows how long
// the warm-up must be: at least so long, and four times the declared warm-up.
const (
	trialWarmup = time.Second
	trialWindow = 2 * time.Second
	trialPhase  = time.Second
	leastSearch = 20 * time.Second
	mostSearch  = 2 * time.Minute
)

// trial runs each cell of a matrix once, briefly, and then the baseline as long as it
// takes to see when it becomes steady. Nothing of it is kept.
type trial struct {
	*app
	dir   string
	place *ownPlace
}

// try measures the matrix on trial.
func (a *app) try(ctx context.Context, m *experiment.Matrix, shareHost bool) (report.TrialView, error) {
	unlock, err := lockHosts(a.locks, hostsOf([]*experiment.Matrix{m}, os.Getenv("DOCKER_HOST")), shareHost)
	if err != nil {
		return report.TrialView{}, err
	}
	defer unlock()
	dir, err := newTrialDirs().make(ctx, a.log)
	if err != nil {
		return report.TrialView{}, err
	}
	defer os.RemoveAll(dir)
	place, err := newOwnPlace(m.Runner == experiment.RunnerDocker, a.log)
	if err != nil {
		return report.TrialView{}, err
	}
	t := &trial{app: a, dir: dir, place: place}
	v := report.TrialView{Metric: m.Judge.Metric, Options: a.tables()}
	a.interrupts.gently()
	cells, err := t.conduct(ctx, brieflyOf(m), "cells.db")
	if err != nil {
		return v, err
	}
	for _, cell := range m.Cells() { // in the order of the plan, not of the trial
		for _, o := range cells {
			if o.Run.Cell == cell.Key {
				v.Rows = append(v.Rows, trialRow(o, m.Judge.Metric))
			}
		}
	}
	if m.Load.None || m.Load.Phases != nil || m.Load.External != nil {
		return v, nil
	}
	if v.Blind = !slices.ContainsFunc(v.Rows, func(r report.TrialRow) bool {
		return r.Cell.Role == experiment.RoleBaseline && r.State == experiment.StateOK
	}); v.Blind {
		return v, nil
	}
	declared, search, err := searchFor(m)
	if err != nil {
		return v, err
	}
	long, err := t.conduct(ctx, baselineFor(m, search), "warmup.db")
	if err != nil {
		return v, err
	}
	v.Declared = declared
	for _, o := range long {
		v.Warmups = append(v.Warmups, warmupOf(o.Outcome, search))
	}
	return v, nil
}

// recorded is a run of a trial.
type recorded struct {
	experiment.Outcome
	findings []experiment.Finding
}

// recorder keeps the outcomes of runs beside the store.
type recorder struct {
	experiment.Store
	runs []recorded
}

// EndRun implements experiment.Store.
func (r *recorder) EndRun(ctx context.Context, o experiment.Outcome, findings []experiment.Finding) error {
	r.runs = append(r.runs, recorded{o, findings})
	return r.Store.EndRun(ctx, o, findings)
}

// conduct executes a matrix in a database that is thrown away.
func (t *trial) conduct(ctx context.Context, m *experiment.Matrix, file string) ([]recorded, error) {
	store, err := db.Open(ctx, filepath.Join(t.dir, file), db.Options{Now: t.now, Log: t.log})
	if err != nil {
		return nil, err
	}
	defer func() {
		if _, err := store.Close(context.WithoutCancel(ctx)); err != nil {
			t.log.Error("close the database", "err", err)
		}
	}()
	owner, err := experiment.ThisOwner(store.ID())
	if err != nil {
		return nil, err
	}
	c, err := t.newConductor(m, owner.String())
	if err != nil {
		return nil, err
	}
	kept := &recorder{Store: store}
	show := newProgress(t.err, m.Judge.Metric)
	defer show.close()
	defer t.place.restore(t.log)
	c.Store, c.Pin, c.Free, c.Events = kept, t.place.pin, freeFor(store.Path(), m), show.on
	result, err := c.Conduct(ctx, conduct.Request{
		Matrix: m, AcceptShared: true, Drain: t.interrupts.stopping.Done(), Secrets: t.valuesOf(m),
		Invocation: t.invocation(owner.String(), false),
	})
	if err := errors.Join(err, stopped(result)); err != nil {
		return nil, err
	}
	return kept.runs, nil
}

// brieflyOf is the matrix with one round of short runs, without control.
func brieflyOf(m *experiment.Matrix) *experiment.Matrix {
	out := *m
	out.Control, out.Repeat = false, experiment.RepeatPlan{Rounds: 1, Seed: m.Repeat.Seed}
	return withLoads(&out, func(l experiment.LoadSpec) experiment.LoadSpec {
		l.Ramp = experiment.Literal("0s")
		l.Warmup = experiment.WarmupSpec{For: shorter(l.Warmup.For, trialWarmup)}
		l.Measure = experiment.MeasureSpec{For: shorter(l.Measure.For, trialWindow)}
		phases := make([]experiment.PhaseSpec, len(l.Phases))
		for i, p := range l.Phases {
			p.For, p.Ramp = shorter(p.For, trialPhase), experiment.Template{}
			phases[i] = p
		}
		if l.Phases != nil {
			l.Phases = phases
		}
		return l
	})
}

// baselineFor is the matrix with nothing but the baseline of its first stage, without
// warm-up and for a long window.
func baselineFor(m *experiment.Matrix, window time.Duration) *experiment.Matrix {
	out := *m
	out.Control, out.Repeat = false, experiment.RepeatPlan{Rounds: 1, Seed: m.Repeat.Seed}
	out.Design = experiment.Design{Kind: experiment.ChosenCells, Across: m.Design.Across}
	if len(m.Design.Stages) > 0 {
		out.Design.Stages = m.Design.Stages[:1]
	}
	return withLoads(&out, func(l experiment.LoadSpec) experiment.LoadSpec {
		l.Warmup = experiment.WarmupSpec{For: experiment.Literal("0s")}
		l.Measure = experiment.MeasureSpec{For: experiment.Literal(window.String())}
		return l
	})
}

// withLoads changes the load of a matrix and of its variants. One that another
// generator drives stays as it is: that takes its time.
func withLoads(m *experiment.Matrix, change func(experiment.LoadSpec) experiment.LoadSpec) *experiment.Matrix {
	native := change
	change = func(l experiment.LoadSpec) experiment.LoadSpec {
		if l.External != nil {
			return l
		}
		return native(l)
	}
	m.Load = change(m.Load)
	variants := make([]experiment.Variant, len(m.Variants))
	for i, v := range m.Variants {
		v.Load = change(v.Load)
		variants[i] = v
	}
	m.Variants = variants
	return m
}

// shorter gives a declared length if it is no longer than most.
func shorter(declared experiment.Template, most time.Duration) experiment.Template {
	if text, ok := declared.Literal(); ok {
		if d, err := experiment.ParseDuration(text); err == nil && d > 0 && d <= most {
			return declared
		}
	}
	return experiment.Literal(most.String())
}

// searchFor gives the declared warm-up of the baseline, and how long to look for the
// one that it needs.
func searchFor(m *experiment.Matrix) (declared, search time.Duration, err error) {
	p, err := m.Plan(m.Cells()[0])
	if err != nil {
		return 0, 0, err
	}
	declared = p.Load.MaxWarmup()
	return declared, min(max(leastSearch, 4*declared), mostSearch), nil
}

func trialRow(o recorded, metric string) report.TrialRow {
	row := report.TrialRow{Cell: o.Plan.Cell, State: o.Run.State, Reason: o.Run.Reason}
	for _, x := range o.Observations {
		if strings.HasSuffix(x.Metric, ".ready_seconds") && !strings.HasPrefix(x.Metric, experiment.GeneratorName+".") {
			row.Ready = max(row.Ready, x.Value)
		}
	}
	row.Value, row.HasValue = o.Observed(metric)
	row.Errors, row.HasErrors = o.Observed("error_rate")
	for _, f := range o.findings {
		if f.Severity != experiment.SeverityNote {
			row.Findings = append(row.Findings, fmt.Sprintf("%s: %s", f.Code, f.Message))
		}
	}
	return row
}

// warmupOf finds how long the rate of successes and their median latency took to
// become steady.
func warmupOf(o experiment.Outcome, window time.Duration) report.TrialWarmup {
	w := report.TrialWarmup{Condition: o.Plan.Cell.Condition, Window: window}
	failed := map[int64]float64{}
	for _, p := range o.Series {
		if p.Service == "" && p.Metric == "failed" {
			failed[p.AtMS] = p.Value
		}
	}
	var rate, median []float64
	for _, p := range o.Series {
		switch {
		case p.Service != "" || p.AtMS < 0 || p.AtMS >= window.Milliseconds():
		case p.Metric == "done":
			rate = append(rate, p.Value-failed[p.AtMS])
		case p.Metric == "latency_p50":
			median = append(median, p.Value)
		}
	}
	width := o.Plan.Load.SliceWidth()
	w.Steady = true
	for _, slices := range [][]float64{rate, median} {
		cut, steady := analysis.Warmup(slices)
		w.Steady = w.Steady && steady
		w.Needed = max(w.Needed, time.Duration(cut)*width)
	}
	return w
}
