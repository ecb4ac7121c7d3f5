package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

type planOptions struct {
	runner string
	rounds rounds
	format string
}

func newPlanCommand(a *app) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:     "plan MATRIX",
		Short:   "Print cells, order, expected duration and warnings; start nothing",
		Long:    "Print what run would do with a matrix: cells, order, expected duration and disk, warnings. Nothing is started.",
		Example: "  ceteris plan matrices/coupon-lookup.yaml",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.plan(cmd.Context(), o, args[0]) },
	}
	cmd.Flags().StringVar(&o.runner, "runner", "", "docker, process or auto, instead of the matrix's choice")
	cmd.Flags().Var(&o.rounds, "rounds", "planned rounds (default as the matrix says)")
	formatFlag(cmd, &o.format, report.Formats()...)
	return cmd
}

func (a *app) plan(ctx context.Context, o planOptions, file string) error {
	if err := checkRunner(o.runner); err != nil {
		return err
	}
	m, err := a.load(ctx, file, o.runner, false)
	if err != nil {
		return err
	}
	if o.rounds > 0 {
		m.Repeat.Rounds = int(o.rounds)
	}
	runner, err := a.newRunner(m.Runner, "")
	if err != nil {
		return err
	}
	host, err := runner.Check(ctx)
	if err != nil {
		return err
	}
	missing, err := missingImages(ctx, runner, m)
	if err != nil {
		return err
	}
	v := report.PlanView{Matrix: m, Cells: m.Cells(), Hash: m.Hash()}
	if v.Placement, err = experiment.Place(m.Place, host.Cores, true); err != nil {
		return err
	}
	if _, err := experiment.Place(m.Place, host.Cores, false); err != nil {
		v.Warnings = append(v.Warnings, "run refuses without --accept-shared: "+err.Error())
	}
	v.Order = experiment.Schedule(v.Cells, m.Repeat.Rounds, m.Repeat.Seed)
	for _, w := range m.Warnings() {
		v.Warnings = append(v.Warnings, w.Error())
	}
	for _, image := range missing {
		v.Warnings = append(v.Warnings, "image "+image+" is not on the engine: run pulls it")
	}
	if err := estimate(&v, host); err != nil {
		return err
	}
	return report.Plan(a.out, v, report.Format(o.format))
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

// What a run costs beside its load: starting and removing everything, and what it
// leaves in the database. Measured on two cores with two services.
const (
	overheadProcess = 400 * time.Millisecond
	overheadDocker  = 3 * time.Second
	bytesPerRun     = 24 << 10
)

// estimate adds the expected duration and size, and which limits will not be in
// force.
func estimate(v *report.PlanView, host experiment.Host) error {
	overhead := overheadProcess
	if v.Matrix.Runner == experiment.RunnerDocker {
		overhead = overheadDocker
	}
	unapplied := map[string]bool{}
	for _, cell := range v.Cells {
		p, err := v.Matrix.Plan(cell)
		if err != nil {
			return err
		}
		one := p.Load.Ramp + p.Load.Warmup + p.Load.Measure + overhead
		v.Duration += one * time.Duration(v.Matrix.Repeat.Rounds)
		for _, s := range p.Services {
			for _, limit := range host.Enforces.Missing(s.Limits) {
				if key := s.Name + " " + limit; !unapplied[key] {
					unapplied[key] = true
					v.Warnings = append(v.Warnings, "limit-not-applied: "+limit+" of "+s.Name+" is not enforced by runner "+v.Matrix.Runner)
				}
			}
		}
	}
	v.DiskBytes = int64(len(v.Order)) * bytesPerRun
	return nil
}
