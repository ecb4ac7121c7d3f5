package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
)

type compareOptions struct {
	confidence confidence
	failOn     string
	format     string
}

func (o *compareOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(&o.confidence, "confidence", "compute again with this confidence, as 0.99; nothing is written")
	fs.StringVar(&o.failOn, "fail-on", "", "exit with 6 if a cell is proven: worse")
}

// confidence is the value of --confidence; 0 is its absence.
type confidence float64

// Set implements pflag.Value.
func (c *confidence) Set(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0.5 && x <= 0.9999) { // NaN is neither
		return errors.New("want 0.5 to 0.9999")
	}
	*c = confidence(x)
	return nil
}

func (c *confidence) String() string { return strconv.FormatFloat(float64(*c), 'g', -1, 64) }

// Type implements pflag.Value.
func (*confidence) Type() string { return "float" }

func newCompareCommand(a *app) *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare [SWEEP]",
		Short: "Print the cells of a sweep against its baseline",
		Long: `Print the cells of a sweep against its baseline.

SWEEP is an id, the first six or more digits of a hash, the name of a matrix
(its newest sweep), or latest (the default).`,
		Example: "  ceteris compare\n  ceteris compare coupon-lookup --confidence 0.99",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.compare(cmd.Context(), o, args) },
	}
	o.addFlags(cmd.Flags())
	formatFlag(cmd, &o.format, report.Formats()...)
	return cmd
}

func (a *app) compare(ctx context.Context, o compareOptions, args []string) error {
	if o.failOn != "" && o.failOn != string(experiment.VerdictWorse) {
		return &usageError{fmt.Errorf("--fail-on %s: want worse", o.failOn)}
	}
	return a.withSweep(ctx, args, func(r *db.Reader, id int64) error {
		rep, err := storedReport(ctx, r, id)
		if err != nil {
			return err
		}
		if o.confidence != 0 {
			if err := recompute(&rep, float64(o.confidence)); err != nil {
				return err
			}
		}
		rep.Options = a.tables()
		if err := report.Comparison(a.out, rep, report.Format(o.format)); err != nil {
			return err
		}
		if o.failOn != "" && provenWorse(rep) {
			return &endError{exitWorse, errors.New("a cell is worse than the baseline, and that is proven")}
		}
		return nil
	})
}

// recompute judges the raw runs again with another confidence.
func recompute(rep *report.Report, confidence float64) error {
	rep.Sweep.Settings.Confidence = confidence
	results, err := analysis.New().Analyse(rep.Sweep, rep.Sweep.Settings)
	if err != nil {
		return fmt.Errorf("analyse: %w", err)
	}
	results.Findings = guard.New().JudgeSweep(rep.Sweep, results, rep.Sweep.Settings)
	ofRuns := rep.Findings[:0:0]
	for _, f := range rep.Findings {
		if f.Run != 0 {
			ofRuns = append(ofRuns, f)
		}
	}
	rep.Results, rep.Findings = results, append(ofRuns, results.Findings...)
	return nil
}

// provenWorse looks at the cells of which something is varied: the control is a
// second baseline, and what it shows is about the host.
func provenWorse(rep report.Report) bool {
	control := map[experiment.CellKey]bool{}
	for _, c := range rep.Sweep.Cells {
		control[c.Key] = c.Role == experiment.RoleControl
	}
	for _, l := range rep.Sweep.Ladders {
		control[l.Cell.Key] = l.Cell.Role == experiment.RoleControl
	}
	for _, c := range rep.Results.Comparisons {
		if !c.Secondary && !control[c.Cell] && c.Verdict == experiment.VerdictWorse && c.Material == experiment.MaterialProven {
			return true
		}
	}
	return false
}
