package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
)

type runOptions struct {
	rounds       rounds
	fresh        bool
	peel         bool
	peelStages   int
	runner       string
	acceptShared bool
	shareHost    bool
	until        string
	period       string
	format       string
	repeat       []string // the flags of this call that another one to go on with needs

	command string // of this call; empty: run
	// remake makes another matrix of each that is read; nil: as it is.
	remake func(*experiment.Matrix) (*experiment.Matrix, error)
	// show writes what a sweep came to; nil: the comparison table.
	show func(ctx context.Context, n *night, w io.Writer, r report.Report) error
}

func (o *runOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(&o.rounds, "rounds", "planned rounds; more than before extends the sweep (default as the matrix says; not for one that says until)")
	fs.BoolVar(&o.fresh, "new", false, "start another sweep of the same matrix instead of continuing the newest")
	fs.BoolVar(&o.peel, "peel", false, "peel off what masks: adopt the best level of the factor that matters most, sweep again, until nothing matters")
	fs.IntVar(&o.peelStages, "peel-stages", defaultPeelStages, "stages of --peel at most, each a sweep of its own")
	o.addPlaceFlags(fs)
	fs.StringVar(&o.until, "until", "", "begin no round after this time of day, as 07:00, or this RFC 3339 time")
	fs.StringVar(&o.period, "for", "", "begin no round after this long, as 8h")
}

// addPlaceFlags adds those that say where is measured, and beside whom.
func (o *runOptions) addPlaceFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.runner, "runner", "", "docker, process or auto, instead of the matrix's choice")
	fs.BoolVar(&o.acceptShared, "accept-shared", false, "measure although subject and generator share a core")
	fs.BoolVar(&o.shareHost, "share-host", false, "measure although another ceteris measures on this host")
}

func newRunCommand(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run MATRIX...",
		Short: "Run what is missing of a matrix, judge it, and print the comparison table",
		Long: `Run what is missing of each matrix, judge it, and print the comparison table.

A sweep that was stopped, however, goes on where it stood. The first interrupt or
termination finishes the run under way and keeps everything; the second aborts. A
hang-up stops nothing: what is said goes to a log beside the database, too.

Several matrices are all checked before the first begins; one that fails does not
stop the next. --until and --for end the call after a round.

--peel looks for what a bottleneck hides. It runs the matrix, adopts the best level of
the factor that matters most, and runs it again around the moved baseline, until no
level is shown to be better by the minimum effect or --peel-stages is reached. Each
stage is a sweep of its own, named peel-1, peel-2, ...; its table says how every effect
has changed since the stage before. Called again, it goes on where it stood.`,
		Example: "  ceteris run matrices/quickstart.yaml\n  ceteris run --rounds 10 matrices/coupon-lookup.yaml\n  ceteris run --peel matrices/coupon-as-found.yaml\n  ceteris run --until 07:00 matrices/coupon-lookup.yaml matrices/quickstart.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.repeat = flagsToRepeat(cmd.Flags())
			return a.run(cmd.Context(), o, args)
		},
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	o.addFlags(cmd.Flags())
	formatFlag(cmd, &o.format, report.Formats()...)
	return cmd
}

// run executes matrices one after another: all are read and checked before the
// first begins.
func (a *app) run(ctx context.Context, o runOptions, files []string) error {
	if err := checkRunner(o.runner); err != nil {
		return err
	}
	until, err := bound(o.until, o.period, a.now())
	if err != nil {
		return err
	}
	if err := o.checkPeel(); err != nil {
		return err
	}
	a.interrupts.gently()
	matrices, err := a.loadAll(ctx, o, files)
	if err != nil {
		return err
	}
	store, closeStore, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	unlock, err := lockHosts(a.locks, hostsOf(matrices, os.Getenv("DOCKER_HOST")), o.shareHost)
	if err != nil {
		return err
	}
	defer unlock()
	place, err := newOwnPlace(!slices.ContainsFunc(matrices, func(m *experiment.Matrix) bool { return m.Runner != experiment.RunnerDocker }), a.log)
	if err != nil {
		return err
	}
	n := &night{app: a, o: o, store: store, place: place, until: until}
	return n.measure(ctx, files, matrices)
}

// rounds is the value of --rounds; 0 is its absence.
type rounds int

// Set implements pflag.Value.
func (r *rounds) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > experiment.MaxRounds {
		return fmt.Errorf("want 1 to %d", experiment.MaxRounds)
	}
	*r = rounds(n)
	return nil
}

func (r *rounds) String() string { return strconv.Itoa(int(*r)) }

// Type implements pflag.Value.
func (*rounds) Type() string { return "int" }

// openStore opens the database for writing and locks it.
func (a *app) openStore(ctx context.Context) (store *db.DB, done func(), err error) {
	lock, err := db.Lock(a.config.DB)
	if err != nil {
		return nil, nil, wrongDatabase(err)
	}
	store, err = db.Open(ctx, a.config.DB, db.Options{Now: a.now, Log: a.log})
	if err != nil {
		return nil, nil, errors.Join(wrongDatabase(err), lock.Release())
	}
	log := a.logBeside(store.Path())
	return store, func() {
		defer log.Close()
		single, err := store.Close(context.WithoutCancel(ctx))
		if err == nil && !single {
			fmt.Fprintf(a.err, "ceteris: somebody reads %s: its log (-wal) stays beside it until the next run\n", a.config.DB)
		}
		if err := errors.Join(err, lock.Release()); err != nil {
			a.log.Error("close the database", "err", err)
		}
	}, nil
}
