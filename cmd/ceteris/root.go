package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ceteris/ceteris/analysis/report"
)

// app is what every command is given.
type app struct {
	out        io.Writer // results
	err        *screen   // everything else
	interrupts *interrupts
	now        func() time.Time
	locks      []string // directories for locks of hosts
	config     config
	secrets    map[string]string // values that matrices take from the environment, by name
	log        *slog.Logger
}

func newRootCommand(a *app, stdin io.Reader) *cobra.Command {
	var dbPath string
	var verbose bool
	root := &cobra.Command{
		Use:   "ceteris",
		Short: "Which setting changes what, by how much, and can I believe it?",
		Long: `ceteris runs load experiments that vary one setting at a time.

A matrix file declares services, a load, a baseline and factors. Each run gets
fresh containers or processes and a watched load generator; runs repeat in
shuffled rounds; every cell is judged against the baseline with intervals and
corrected tests; everything is kept in one SQLite file.`,
		Example:       "  ceteris run matrices/quickstart.yaml",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			level := slog.LevelWarn
			if verbose {
				level = slog.LevelDebug
			}
			a.log = slog.New(a.err.hide.handler(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level})))
			cfg, err := loadConfig(".", os.Getenv, dbPath)
			a.config = cfg
			return err
		},
	}
	root.PersistentFlags().StringVar(&dbPath, "db", "", "database file (default $CETERIS_DB, else db: in .ceteris.yaml, else ceteris.db)")
	root.PersistentFlags().BoolVarP(&verbose, "verbose", "v", false, "say more on standard error")
	root.SetIn(stdin)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())}
	})
	root.AddCommand(
		newRunCommand(a), newPlanCommand(a), newListCommand(a), newStatusCommand(a), newCompareCommand(a), newAnalyseCommand(a), newCalibrateCommand(a),
		newExportCommand(a), newSQLCommand(a), newDoctorCommand(a), newCleanCommand(a), newImportCommand(a), newInitCommand(a), newCompletionCommand(a),
	)
	root.SetHelpCommand(newHelpCommand())
	root.CompletionOptions.DisableDefaultCmd = true
	for _, cmd := range append(root.Commands(), root) {
		if strings.Contains(cmd.Use, "SWEEP") {
			cmd.ValidArgsFunction = a.completeSweeps
		}
		if check := cmd.Args; check != nil {
			cmd.Args = func(cmd *cobra.Command, args []string) error {
				if err := check(cmd, args); err != nil {
					return &usageError{fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())}
				}
				return nil
			}
		}
	}
	return root
}

// formatFlag binds --format with its allowed values, the default first.
func formatFlag(cmd *cobra.Command, target *string, allowed ...report.Format) {
	names := make([]string, len(allowed))
	for i, f := range allowed {
		names[i] = string(f)
	}
	want := strings.Join(names, ", ")
	cmd.Flags().StringVar(target, "format", names[0], "output format: "+want)
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)) // fails only for an unknown flag
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if slices.Contains(names, *target) {
			return nil
		}
		return &usageError{fmt.Errorf("--format %s: want one of %s", *target, want)}
	}
}
