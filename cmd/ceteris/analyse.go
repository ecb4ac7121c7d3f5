package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

type analyseOptions struct {
	confidence    confidence
	minimumEffect fraction
	errorRate     fraction
	metric        string
	without       []string
	acceptRounds  bool
	format        string
}

func (o *analyseOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(&o.confidence, "confidence", "of the intervals, as 0.99, instead of the matrix's")
	fs.Var(&o.minimumEffect, "minimum-effect", "smallest effect that matters, as 5%, instead of the matrix's")
	fs.Var(&o.errorRate, "error-rate", "share of failed requests above which a cell is distrusted, as 2%, instead of the matrix's")
	fs.StringVar(&o.metric, "metric", "", "the primary metric, instead of the matrix's")
	fs.StringArrayVar(&o.without, "without", nil, "leave out cells, as pool=8,threads=4 (labels as in the table; may be given again)")
	fs.BoolVar(&o.acceptRounds, "accept-rounds", false, "judge the rounds that there are as if no more were planned")
}

func newAnalyseCommand(a *app) *cobra.Command {
	var o analyseOptions
	cmd := &cobra.Command{
		Use:   "analyse [SWEEP]",
		Short: "Judge a sweep again by other settings, and keep the results",
		Long: `Judge a sweep again by other settings, and keep the results.

The runs stay as they are: only what is made of them is replaced. Whatever is not given
is as the matrix declares it, so that a call without flags judges as declared. Results
name the settings and the version of the analysis that made them. Another ceteris run
judges by the matrix again, that is by its judge section as it then is.

A cell that is left out is as if it had never been run: one that is much noisier than
the others widens the interval of each. To pick cells by what they show is to choose the
result; the table says what was left out.`,
		Example: "  ceteris analyse latest --minimum-effect 5%\n  ceteris analyse coupon-lookup --without pool_size=1\n  ceteris analyse coupon-lookup",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.analyse(cmd.Context(), o, args) },
	}
	o.addFlags(cmd.Flags())
	formatFlag(cmd, &o.format, report.Formats()...)
	return cmd
}

// fraction is the value of a flag that takes a share; none is its absence.
type fraction struct {
	value float64
	given bool
}

// Set implements pflag.Value.
func (f *fraction) Set(text string) error {
	x, err := experiment.ParseFraction(text)
	if err == nil && x < 0 {
		err = errors.New("want 0 or more")
	}
	*f = fraction{x, true}
	return err
}

func (f *fraction) String() string {
	if !f.given {
		return ""
	}
	return strconv.FormatFloat(f.value, 'g', -1, 64)
}

// Type implements pflag.Value.
func (*fraction) Type() string { return "share" }

func (a *app) analyse(ctx context.Context, o analyseOptions, args []string) error {
	// The reader refuses what is no database of ours; the writer would make one.
	r, err := a.openReader(ctx)
	if err != nil {
		return err
	}
	if err := r.Close(); err != nil {
		return err
	}
	store, closeStore, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	id, err := resolve(ctx, store, sweepNamed(args))
	if err != nil {
		return err
	}
	sweep, err := store.LoadSweep(ctx, id)
	if err != nil {
		return err
	}
	set, err := o.settings(sweep)
	if err != nil {
		return err
	}
	results, err := analysis.New().Analyse(sweep, set)
	if err != nil {
		return fmt.Errorf("analyse: %w", err)
	}
	results.Findings = guard.New().JudgeSweep(sweep, results, set)
	if err := store.ReplaceResults(ctx, id, results); err != nil {
		return err
	}
	a.log.Info("judged again", "sweep", id, "settings", results.SettingsHash)
	rep, err := storedReport(ctx, store, id)
	if err != nil {
		return err
	}
	rep.Options = a.tables()
	return report.Comparison(a.out, rep, report.Format(o.format))
}

// settings gives those of the matrix with what the flags change.
func (o *analyseOptions) settings(s experiment.Sweep) (experiment.Settings, error) {
	set := s.Settings
	if o.confidence != 0 {
		set.Confidence = float64(o.confidence)
	}
	if o.minimumEffect.given {
		set.MinimumEffect = o.minimumEffect.value
	}
	if o.errorRate.given {
		set.ErrorRate = o.errorRate.value
	}
	if o.metric != "" {
		if err := checkMetric(o.metric, s); err != nil {
			return set, err
		}
		set.Metric = o.metric
	}
	set.AcceptRounds = o.acceptRounds
	for _, text := range o.without {
		set.Without = append(set.Without, labelsIn(text, s)...)
	}
	slices.Sort(set.Without)
	set.Without = slices.Compact(set.Without)
	if err := analysis.CheckWithout(s, set.Without); err != nil {
		return set, &usageError{fmt.Errorf("--without: %w", err)}
	}
	return set, nil
}

// labelsIn gives the labels of a list. That of a corner holds commas itself.
func labelsIn(text string, s experiment.Sweep) []string {
	if slices.ContainsFunc(s.Cells, func(c experiment.Cell) bool { return c.Label() == text }) {
		return []string{text}
	}
	labels := strings.Split(text, ",")
	for i := range labels {
		labels[i] = strings.TrimSpace(labels[i])
	}
	return labels
}
