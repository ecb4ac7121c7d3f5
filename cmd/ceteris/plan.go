package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

type planOptions struct {
	runner string
	rounds rounds
	try    bool
	share  bool
	power  bool
	pilot  string
	format string
}

func newPlanCommand(a *app) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "plan MATRIX",
		Short: "Print cells, order, expected duration and warnings; start nothing",
		Long: `Print what run would do with a matrix: cells, order, expected duration and disk, warnings.
Nothing is started, unless --try asks for each cell to be run once.

--power says instead how many rounds are needed to show the minimum effect, and what
the planned rounds can show, with the noise of the newest sweep of this matrix that has
at least 3 rounds, or of --pilot. Without any it shows what assumed noise would mean.`,
		Example: "  ceteris plan matrices/coupon-lookup.yaml\n  ceteris plan --power matrices/coupon-lookup.yaml",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.plan(cmd.Context(), o, args[0]) },
	}
	cmd.Flags().StringVar(&o.runner, "runner", "", "docker, process or auto, instead of the matrix's choice")
	cmd.Flags().BoolVar(&o.try, "try", false, "run each cell once, briefly, and propose the common warm-up; nothing of it is kept")
	cmd.Flags().BoolVar(&o.share, "share-host", false, "try although another ceteris measures on this host")
	cmd.Flags().BoolVar(&o.power, "power", false, "say what rounds can show, and how many are needed")
	cmd.Flags().StringVar(&o.pilot, "pilot", "", "sweep of which --power takes the noise (default the newest of this matrix)")
	cmd.Flags().Var(&o.rounds, "rounds", "planned rounds (default as the matrix says; not for one that says until)")
	formatFlag(cmd, &o.format, report.Formats()...)
	return cmd
}

func (a *app) plan(ctx context.Context, o planOptions, file string) error {
	if err := errors.Join(checkRunner(o.runner), o.checkPower()); err != nil {
		return err
	}
	m, err := a.load(ctx, file, o.runner, false)
	if err != nil {
		return err
	}
	if err := o.rounds.fits(m); err != nil {
		return err
	}
	if o.rounds > 0 {
		m.Repeat.Rounds = int(o.rounds)
	}
	if o.power {
		return a.power(ctx, m, o)
	}
	runner, err := a.newRunner(m.Runner, "")
	if err != nil {
		return err
	}
	host, err := runner.Check(ctx)
	if err != nil {
		return err
	}
	if err := a.complete(m, host); err != nil {
		return err
	}
	missing, err := missingImages(ctx, runner, m)
	if err != nil {
		return err
	}
	v := report.PlanView{Matrix: m, Cells: m.Cells(), Hash: m.Hash(), Options: a.tables()}
	if v.Placement, err = experiment.Place(m.Place, host.Cores, true); err != nil {
		return err
	}
	if _, err := experiment.Place(m.Place, host.Cores, false); err != nil {
		v.Warnings = append(v.Warnings, "run refuses without --accept-shared: "+err.Error())
	}
	v.Order = schedule(v.Cells, m.Repeat.Rounds, m.Repeat.Seed)
	for _, w := range m.Warnings() {
		v.Warnings = append(v.Warnings, w.Error())
	}
	for _, image := range missing {
		v.Warnings = append(v.Warnings, "image "+image+" is not on the engine: run pulls it")
	}
	limits, err := unapplied(m, v.Cells, host)
	if err != nil {
		return err
	}
	v.Warnings = append(v.Warnings, limits...)
	descriptors, err := manyConnections(m, v.Cells)
	if err != nil {
		return err
	}
	v.Warnings = append(v.Warnings, descriptors...)
	if err := a.estimate(ctx, &v); err != nil {
		return err
	}
	if !o.try {
		return report.Plan(a.out, v, report.Format(o.format))
	}
	return a.planAndTry(ctx, v, o)
}

// planAndTry prints the plan for people, and what a trial of it has shown. A cell that
// gives no valid run is an error.
func (a *app) planAndTry(ctx context.Context, v report.PlanView, o planOptions) error {
	f := report.Format(o.format)
	if f == report.Text || f == report.Markdown {
		if err := report.Plan(a.out, v, f); err != nil {
			return err
		}
		fmt.Fprintln(a.out)
	}
	t, err := a.try(ctx, v.Matrix, o.share)
	if err != nil {
		return err
	}
	if err := report.Trial(a.out, t, f); err != nil {
		return err
	}
	if failed := t.Failed(); len(failed) > 0 {
		return &endError{exitEarly, fmt.Errorf("cells that gave no valid run on trial: %s", strings.Join(failed, ", "))}
	}
	return nil
}

// missingImages names the images that a run would pull first.
func missingImages(ctx context.Context, r experiment.Runner, m *experiment.Matrix) ([]string, error) {
	engine, ok := r.(interface {
		Missing(ctx context.Context, all []experiment.Service) ([]string, error)
	})
	if !ok {
		return nil, nil
	}
	images, err := imagesOf(m)
	if err != nil {
		return nil, err
	}
	return engine.Missing(ctx, images)
}

// estimate adds the expected duration and size, and what would shorten it most.
func (a *app) estimate(ctx context.Context, v *report.PlanView) error {
	c, err := a.earlierCosts(ctx, v.Matrix)
	if err != nil {
		v.Warnings = append(v.Warnings, "earlier runs tell nothing: "+err.Error())
	}
	f := newForecast(v.Matrix, c)
	if v.Duration, err = f.of(v.Cells, v.Matrix.Repeat.Rounds, unchanged); err != nil {
		return err
	}
	v.Least = v.Duration
	if v.Matrix.Repeat.Until != experiment.StopFixed {
		if v.Least, err = f.of(v.Cells, experiment.FirstLook, unchanged); err != nil {
			return err
		}
	}
	v.DiskBytes, v.Basis = int64(len(v.Order))*c.bytes, c.basis()
	v.Cut, err = f.cut(v.Cells)
	return err
}

// unapplied warns of limits that will not be in force.
func unapplied(m *experiment.Matrix, cells []experiment.Cell, host experiment.Host) ([]string, error) {
	var out []string
	for _, cell := range cells {
		p, err := m.Plan(cell)
		if err != nil {
			return nil, err
		}
		for _, s := range p.Launched() {
			for _, limit := range host.Enforces.Missing(s.Limits) {
				warning := "limit-not-applied: " + limit + " of " + s.Name + " is not enforced by runner " + m.Runner
				if !slices.Contains(out, warning) {
					out = append(out, warning)
				}
			}
		}
	}
	return out, nil
}

// usualDescriptors is how many file descriptors a process may have on many hosts, unless
// it asks for more.
const usualDescriptors = 1000

// manyConnections warns of loads under which the subject needs more file descriptors than
// services usually have.
func manyConnections(m *experiment.Matrix, cells []experiment.Cell) ([]string, error) {
	most := map[string]int{}
	for _, cell := range cells {
		p, err := m.Plan(cell)
		if err != nil {
			return nil, err
		}
		most[p.Load.Service] = max(most[p.Load.Service], p.Load.Connections)
	}
	var out []string
	for _, service := range slices.Sorted(maps.Keys(most)) {
		if n := most[service]; n > usualDescriptors {
			out = append(out, fmt.Sprintf("connections: the load opens up to %d, and %s needs as many file descriptors, over all its replicas: see its own limit (ulimit -n)", n, service))
		}
	}
	return out, nil
}

// schedule gives all runs in their order: stages one after another, each with rounds
// of its own.
func schedule(cells []experiment.Cell, rounds int, seed uint64) []experiment.Run {
	var stages []string
	by := map[string][]experiment.Cell{}
	for _, c := range cells {
		if by[c.Stage] == nil {
			stages = append(stages, c.Stage)
		}
		by[c.Stage] = append(by[c.Stage], c)
	}
	var runs []experiment.Run
	for _, stage := range stages {
		runs = append(runs, experiment.Schedule(by[stage], rounds, seed)...)
	}
	return runs
}
