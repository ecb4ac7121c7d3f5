package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
)

type exportOptions struct {
	format string
	output string
}

func (o *exportOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&o.output, "output", "o", "", "write to this file instead of standard output")
}

func newExportCommand(a *app) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:     "export [SWEEP]",
		Short:   "Write the comparison table for a document, a sheet or a program",
		Long:    "Write the comparison table of a sweep (default: latest) as Markdown, CSV or JSON.",
		Example: "  ceteris export --format csv -o lookup.csv coupon-lookup",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.export(cmd.Context(), o, args) },
	}
	o.addFlags(cmd.Flags())
	formatFlag(cmd, &o.format, report.Markdown, report.CSV, report.JSON)
	return cmd
}

func (a *app) export(ctx context.Context, o exportOptions, args []string) error {
	return a.withSweep(ctx, args, func(r *db.Reader, id int64) error {
		rep, err := storedReport(ctx, r, id)
		if err != nil {
			return err
		}
		if o.output == "" {
			return report.Comparison(a.out, rep, report.Format(o.format))
		}
		// The file appears whole or not at all.
		var whole bytes.Buffer
		if err := report.Comparison(&whole, rep, report.Format(o.format)); err != nil {
			return err
		}
		if err := os.WriteFile(o.output, whole.Bytes(), 0o644); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		return nil
	})
}
