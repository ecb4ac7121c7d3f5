package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/load/reader"
)

type importOptions struct {
	reader     string
	sweep      string
	cell       string
	baseline   string
	round      rounds
	metric     string
	skip       time.Duration
	window     time.Duration
	dryRun     bool
	replace    bool
	incomplete bool
	format     string
}

func (o *importOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.reader, "reader", "", "whose output it is: "+strings.Join(readerNames(), ", ")+" (default: the one that accepts it)")
	fs.StringVar(&o.sweep, "sweep", "", "name of the sweep of imported runs that begins or grows")
	fs.StringVar(&o.cell, "cell", "", "what was measured: baseline, control, factor=level, or a=x,b=y")
	fs.StringVar(&o.baseline, "baseline", "", "levels of the baseline, as a=x,b=y, where they are to be told")
	fs.Var(&o.round, "round", "round of the first file, the next is of the next (default: the round after the last of the cell)")
	fs.StringVar(&o.metric, "metric", "", "what the sweep is judged by from now on (default as it is, at first "+experiment.DefaultMetric+")")
	fs.DurationVar(&o.skip, "skip", 0, "leave out requests that began in the first part, as 10s: a warm-up; their responses that come later count")
	fs.DurationVar(&o.window, "window", 0, "leave out requests that began later than this after that, as 60s, and responses that come after it")
	fs.BoolVar(&o.dryRun, "dry-run", false, "say what was understood; nothing is written and no database is needed")
	fs.BoolVar(&o.replace, "replace", false, "supersede the run that stands for the same cell and round")
	fs.BoolVar(&o.incomplete, "incomplete", false, "keep what was cut off, too, as an invalid run that counts for nothing")
}

func newImportCommand(a *app) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Make runs of results that another load generator has written",
		Long: `Make runs of results that another load generator has written, to compare and ask like
measured ones.

A file is one run. Several files are one cell, in rounds one after another. The
sweep grows call by call: cells, factors and levels come as they are named, and it
is analysed anew each time. Round n of a cell is compared with round n of the
baseline, so give one number to what was measured side by side. - reads standard
input.

A file is kept with its run as it is, with all that its tool wrote into it: the results
of vegeta hold headers and bodies of responses.`,
		Example: `  ceteris import --dry-run summary.json
  ceteris import --sweep week --cell baseline monday.json tuesday.json wednesday.json
  ceteris import --sweep week --cell log_level=off --round 2 --reader k6 tuesday-off.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.importFiles(cmd.Context(), o, args, cmd.InOrStdin())
		},
	}
	o.addFlags(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("reader", cobra.FixedCompletions(readerNames(), cobra.ShellCompDirectiveNoFileComp)) // fails only for an unknown flag
	formatFlag(cmd, &o.format, report.Formats()...)
	return cmd
}

// readerNames lists the tools whose output is read.
func readerNames() []string { return slices.Sorted(maps.Keys(reader.All())) }

// importFiles reads all files before the first is stored.
func (a *app) importFiles(ctx context.Context, o importOptions, files []string, stdin io.Reader) error {
	choice, baseline, err := o.check(files)
	if err != nil {
		return err
	}
	var understood []report.ImportedFile
	var artifacts []experiment.Artifact
	for _, file := range files {
		in, artifact, err := o.read(file, stdin)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		understood, artifacts = append(understood, in), append(artifacts, artifact)
	}
	view := report.ImportView{Files: understood, Options: a.tables()}
	if !o.dryRun {
		if err := a.store(ctx, o, &view, artifacts, choice, baseline); err != nil {
			return err
		}
	}
	return report.Imports(a.out, view, report.Format(o.format))
}

// check looks at the flags before any file is opened.
func (o importOptions) check(files []string) (cell experiment.CellChoice, baseline []experiment.Setting, err error) {
	wrong := func(format string, args ...any) (experiment.CellChoice, []experiment.Setting, error) {
		return experiment.CellChoice{}, nil, &usageError{fmt.Errorf(format, args...)}
	}
	switch {
	case o.reader != "" && reader.All()[o.reader] == nil:
		return wrong("--reader %s: want one of %s", o.reader, strings.Join(readerNames(), ", "))
	case o.skip < 0 || o.window < 0:
		return wrong("--skip and --window are not negative")
	case slices.Contains(files, stdinName) && len(files) > 1 && slices.Contains(files[slices.Index(files, stdinName)+1:], stdinName):
		return wrong("- is standard input, which is read once")
	case o.baseline != "":
		if baseline, err = experiment.ParseSettings(o.baseline); err != nil {
			return wrong("--baseline: %w: want a=x,b=y", err)
		}
	}
	if o.cell != "" {
		if cell, err = experiment.ParseCell(o.cell); err != nil {
			return wrong("--cell: %w", err)
		}
	}
	switch {
	case o.dryRun:
	case o.sweep == "":
		return wrong("--sweep is missing: the name of the sweep that the runs are of (or --dry-run)")
	case o.cell == "":
		return wrong("--cell is missing: baseline, control, factor=level, or a=x,b=y")
	default:
		if _, err := experiment.NewImported(o.sweep); err != nil {
			return wrong("--sweep: %w", err)
		}
	}
	return cell, baseline, nil
}

// fileError is a file that does not hold what it should.
func fileError(file string, err error) error {
	out := &experiment.FieldError{At: experiment.Pos{File: file}, Err: err}
	if hint, ok := errors.AsType[*experiment.HintError](err); ok {
		out.Hint = hint.Hint
	}
	return out
}
