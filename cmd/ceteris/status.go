package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
)

func newStatusCommand(a *app) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "status [SWEEP]",
		Short:   "Show how far a sweep is, what is left, and what was found so far",
		Example: "  ceteris status latest",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.status(cmd.Context(), report.Format(format), args)
		},
	}
	formatFlag(cmd, &format, report.Formats()...)
	return cmd
}

func (a *app) status(ctx context.Context, format report.Format, args []string) error {
	return a.withSweep(ctx, args, func(r *db.Reader, id int64) error {
		sweep, err := r.Outline(ctx, id)
		if err != nil {
			return err
		}
		findings, err := storedFindings(ctx, r, id)
		if err != nil {
			return err
		}
		all, err := r.Sweeps(ctx)
		if err != nil {
			return err
		}
		v := report.StatusView{Sweep: sweep, Findings: findings, Options: a.tables()}
		for _, s := range all {
			if s.ID == id {
				v.Line = sweepLine(s)
			}
		}
		return report.Status(a.out, v, format)
	})
}
