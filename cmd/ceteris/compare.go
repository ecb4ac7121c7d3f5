package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	metric     string
	failOn     string
	format     string
}

func (o *compareOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(&o.confidence, "confidence", "compute again with this confidence, as 0.99; nothing is written")
	fs.StringVar(&o.metric, "metric", "", "compute again with this metric as the primary one; nothing is written")
	fs.StringVar(&o.failOn, "fail-on", "", "exit with 6 if a cell is proven: worse; of two sweeps that is so without it")
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
		Use:   "compare [SWEEP] | OLD_SWEEP NEW_SWEEP",
		Short: "Print the cells of a sweep against its baseline, or a sweep against an older one",
		Long: `Print the cells of a sweep against its baseline, or a sweep against an older one.

SWEEP is an id, the first six or more digits of a hash, the name of a matrix
(its newest sweep), or latest (the default).

Of two sweeps, cells of equal settings are set against each other, and what else
differs is listed: host, images, versions, matrix. The two share no rounds, so that
intervals are wider than inside a sweep, and whatever changed on the host between them
counts as a change of the subject. There is no verdict across different hosts, and none
before both are done. The exit code is 6 if the new sweep is proven worse in a cell by
the primary metric, or fails in one in which the old did not; the baseline and the
control count as any other cell, for it is about the two sweeps. It is 5 if nothing can
be compared, or verdicts are still to come; so it is with --fail-on. A cell that fails is
a result, and no reason for another code than 0 beside its own baseline.`,
		Example: "  ceteris compare\n  ceteris compare coupon-lookup --confidence 0.99\n  ceteris compare 3 latest",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.failOn != "" && o.failOn != string(experiment.VerdictWorse) {
				return &usageError{fmt.Errorf("--fail-on %s: want worse", o.failOn)}
			}
			if len(args) == 2 {
				return a.versus(cmd.Context(), o, args[0], args[1])
			}
			return a.compare(cmd.Context(), o, args)
		},
	}
	o.addFlags(cmd.Flags())
	formatFlag(cmd, &o.format, report.Formats()...)
	return cmd
}

func (a *app) compare(ctx context.Context, o compareOptions, args []string) error {
	return a.withSweep(ctx, args, func(r *db.Reader, id int64) error {
		rep, err := storedReport(ctx, r, id)
		if err != nil {
			return err
		}
		if o.confidence != 0 || o.metric != "" {
			set, err := o.settings(inForce(rep), rep.Sweep)
			if err != nil {
				return err
			}
			if err := recompute(&rep, set); err != nil {
				return err
			}
		}
		rep.Options = a.tables()
		if err := report.Comparison(a.out, rep, report.Format(o.format)); err != nil {
			return err
		}
		switch {
		case o.failOn == "":
			return nil
		case provenWorse(rep):
			return &endError{exitWorse, errors.New("a cell is worse than the baseline, and that is proven")}
		case slices.ContainsFunc(rep.Results.Comparisons, func(c experiment.Comparison) bool { return !c.Secondary && c.Verdict == experiment.VerdictPending }):
			return &endError{exitEarly, errors.New("there is no verdict yet: rounds are still to come")}
		default:
			return nil
		}
	})
}

// inForce gives the settings by which the results of a sweep are judged; those of its
// matrix, where there are none yet.
func inForce(rep report.Report) experiment.Settings {
	if rep.Results.Settings.Metric == "" {
		return rep.Sweep.Settings
	}
	return rep.Results.Settings
}

// settings changes what the flags say. The metric must have been observed in one of the
// sweeps.
func (o *compareOptions) settings(set experiment.Settings, sweeps ...experiment.Sweep) (experiment.Settings, error) {
	if o.confidence != 0 {
		set.Confidence = float64(o.confidence)
	}
	if o.metric != "" {
		if err := checkMetric(o.metric, sweeps...); err != nil {
			return set, err
		}
		set.Metric = o.metric
	}
	return set, nil
}

// checkMetric refuses a metric that no run of the sweeps has observed.
func checkMetric(name string, sweeps ...experiment.Sweep) error {
	seen := map[string]bool{}
	for _, s := range sweeps {
		for _, r := range s.Runs {
			for _, x := range r.Observations {
				seen[x.Metric] = seen[x.Metric] || x.Phase == experiment.PhaseMeasure
			}
		}
		if len(s.Ladders) > 0 {
			seen[experiment.MetricCeiling] = true
		}
	}
	if seen[name] {
		return nil
	}
	err := fmt.Errorf("--metric %s: no run has observed it", name)
	if near := experiment.Suggest(name, slices.Sorted(maps.Keys(seen))); near != "" {
		err = fmt.Errorf("%w (did you mean %s?)", err, near)
	}
	return &usageError{err}
}

// recompute judges the raw runs again with other settings.
func recompute(rep *report.Report, set experiment.Settings) error {
	results, err := analysis.New().Analyse(rep.Sweep, set)
	if err != nil {
		return fmt.Errorf("analyse: %w", err)
	}
	results.Findings = guard.New().JudgeSweep(rep.Sweep, results, set)
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
