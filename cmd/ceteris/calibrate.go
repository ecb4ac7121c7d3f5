package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

// Defaults of a calibration: four comparisons in as many rounds as are recommended.
const (
	defaultCopies      = 4
	defaultCalibration = 10 // rounds
	defaultBlock       = 5
	fewestBlock        = 3
)

func newCalibrateCommand(a *app) *cobra.Command {
	o := runOptions{command: "calibrate", rounds: defaultCalibration, peelStages: defaultPeelStages}
	var c calibrateOptions
	cmd := &cobra.Command{
		Use:   "calibrate MATRIX",
		Short: "Run the baseline against itself: how often is a difference found where there is none?",
		Long: `Run the baseline against itself: how often is a difference found where there is none,
and how small an effect can this host show?

The sweep has several identical cells, the baseline of the matrix, and is conducted, and
goes on where it was stopped, as any other. Then disjoint pairs of cells, in blocks of
rounds, go through the same code as a sweep. What came out is kept with the host, and
quoted by later sweeps on it. More --rounds extend it; other --copies are another sweep.`,
		Example: "  ceteris calibrate matrices/quickstart.yaml\n  ceteris calibrate --copies 8 --rounds 50 matrices/coupon-lookup.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(o); err != nil {
				return err
			}
			o.repeat = flagsToRepeat(cmd.Flags())
			o.remake = func(m *experiment.Matrix) (*experiment.Matrix, error) { return m.Identical(c.copies) }
			o.show = showCalibration(c.block)
			return a.run(cmd.Context(), o, args)
		},
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	fs := cmd.Flags()
	fs.IntVar(&c.copies, "copies", defaultCopies, "identical cells; each two of them are compared with nothing else")
	fs.Var(&o.rounds, "rounds", "planned rounds; more than before extends the sweep")
	fs.IntVar(&c.block, "block", defaultBlock, "rounds of each comparison, as many as your sweeps have")
	fs.BoolVar(&o.fresh, "new", false, "start another calibration instead of continuing the newest")
	o.addPlaceFlags(fs)
	formatFlag(cmd, &o.format, report.Formats()...)
	return cmd
}

type calibrateOptions struct{ copies, block int }

func (c calibrateOptions) check(o runOptions) error {
	switch {
	case c.copies < 2 || c.copies > experiment.MaxCopies:
		return &usageError{fmt.Errorf("--copies %d: want 2 to %d", c.copies, experiment.MaxCopies)}
	case c.block < fewestBlock:
		return &usageError{fmt.Errorf("--block %d: want %d or more", c.block, fewestBlock)}
	case c.block > int(o.rounds):
		return &usageError{fmt.Errorf("--block %d: no more than the %d of --rounds", c.block, o.rounds)}
	}
	return nil
}

// showCalibration prints a sweep of identical cells, and keeps what it showed. One that is
// not done yet is no calibration.
func showCalibration(block int) func(context.Context, *night, io.Writer, report.Report) error {
	return func(ctx context.Context, n *night, w io.Writer, r report.Report) error {
		if r.Results.RoundsDone < r.Sweep.Rounds {
			fmt.Fprintf(n.err, "ceteris: a calibration is what all %d rounds show\n", r.Sweep.Rounds)
			return nil
		}
		c, err := analysis.Calibrate(r.Sweep, r.Sweep.Settings, block)
		if err != nil {
			return &endError{exitEarly, err}
		}
		if err := n.store.StoreCalibration(ctx, c); err != nil {
			return err
		}
		m, _ := r.Sweep.Metric(c.Metric)
		m.Scale = c.Scale
		return report.Calibration(w, c, m, report.Format(n.o.format), n.tables())
	}
}
