package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/experiment/matrixfile"
	"github.com/ceteris/ceteris/runners/load"
)

type runOptions struct {
	rounds       int
	fresh        bool
	runner       string
	acceptShared bool
	shareHost    bool
	format       string
}

func (o *runOptions) addFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.rounds, "rounds", 0, "planned rounds; more than before extends the sweep (default as the matrix says)")
	fs.BoolVar(&o.fresh, "new", false, "start another sweep of the same matrix instead of continuing the newest")
	fs.StringVar(&o.runner, "runner", "", "docker, process or auto, instead of the matrix's choice")
	fs.BoolVar(&o.acceptShared, "accept-shared", false, "measure on one core, shared by subject and generator")
	fs.BoolVar(&o.shareHost, "share-host", false, "measure although another ceteris measures on this host")
}

func newRunCommand(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run MATRIX...",
		Short: "Run what is missing of a matrix, judge it, and print the comparison table",
		Long: `Run what is missing of each matrix, judge it, and print the comparison table.

A sweep that was stopped, however, goes on where it stood. The first interrupt
finishes the run under way and keeps everything; the second aborts.`,
		Example: "  ceteris run matrices/quickstart.yaml\n  ceteris run --rounds 10 matrices/coupon-lookup.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), o, args) },
	}
	o.addFlags(cmd.Flags())
	formatFlag(cmd, &o.format, report.Formats()...)
	return cmd
}

// run executes matrices one after another: all are read and checked before the
// first begins, and one that fails does not stop the next.
func (a *app) run(ctx context.Context, o runOptions, files []string) error {
	if err := checkRounds(o.rounds); err != nil {
		return err
	}
	var matrices []*experiment.Matrix
	var faults error
	for _, file := range files {
		m, err := a.load(ctx, file, o.runner)
		faults = errors.Join(faults, err)
		matrices = append(matrices, m)
	}
	if faults != nil {
		return faults
	}
	store, closeStore, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	if !o.shareHost {
		unlock, err := lockHost()
		if err != nil {
			return err
		}
		defer unlock()
	}
	var outcomes []error
	for _, m := range matrices {
		err := a.runOne(ctx, o, m, store)
		if err != nil && len(matrices) > 1 {
			printError(a.err, fmt.Errorf("%s: %w", m.Name, err))
		}
		outcomes = append(outcomes, err)
	}
	return worst(ctx, outcomes)
}

// maxRounds bounds the rounds of a sweep.
const maxRounds = 1000

// checkRounds checks --rounds; 0 is its absence.
func checkRounds(n int) error {
	if n < 0 || n > maxRounds {
		return &usageError{fmt.Errorf("--rounds %d: want 1 to %d", n, maxRounds)}
	}
	return nil
}

// worst picks the outcome that decides the exit code of several matrices.
func worst(ctx context.Context, outcomes []error) error {
	for _, code := range []int{exitAborted, exitFault, exitCannotMeasure, exitMatrix, exitEarly} {
		for _, err := range outcomes {
			if err != nil && exitCode(ctx, err) == code {
				if len(outcomes) > 1 {
					return &endError{code: code} // said already
				}
				return err
			}
		}
	}
	return errors.Join(outcomes...)
}

// load reads and checks a matrix and resolves its runner.
func (a *app) load(ctx context.Context, file, runner string) (*experiment.Matrix, error) {
	if !slices.Contains([]string{"", experiment.RunnerAuto, experiment.RunnerDocker, experiment.RunnerProcess}, runner) {
		return nil, &usageError{fmt.Errorf("--runner %s: want auto, docker or process", runner)}
	}
	m, err := matrixfile.Load(file)
	if err != nil {
		return nil, err
	}
	name, err := a.chooseRunner(ctx, m, runner)
	if err != nil {
		return nil, err
	}
	m = m.ForRunner(name)
	return m, m.ValidateRunner()
}

// openStore opens the database for writing and locks it.
func (a *app) openStore(ctx context.Context) (store *db.DB, done func(), err error) {
	lock, err := db.Lock(a.config.DB)
	if err != nil {
		return nil, nil, err
	}
	store, err = db.Open(ctx, a.config.DB, db.Options{Now: a.now, Log: a.log})
	if err != nil {
		return nil, nil, errors.Join(err, lock.Release())
	}
	return store, func() {
		single, err := store.Close(context.WithoutCancel(ctx))
		if err == nil && !single {
			fmt.Fprintf(a.err, "ceteris: somebody reads %s: its log (-wal) stays beside it until the next run\n", a.config.DB)
		}
		if err := errors.Join(err, lock.Release()); err != nil {
			a.log.Error("close the database", "err", err)
		}
	}, nil
}

// runOne executes one matrix and prints its table.
func (a *app) runOne(ctx context.Context, o runOptions, m *experiment.Matrix, store *db.DB) error {
	owner, err := experiment.ThisOwner(store.ID())
	if err != nil {
		return err
	}
	generator, linkProxy, err := tools(m)
	if err != nil {
		return err
	}
	runner, err := a.newRunner(m.Runner, owner.String())
	if err != nil {
		return err
	}
	show := newProgress(a.err, m.Judge.Metric)
	c := &conduct.Conductor{
		Runner: runner, Probes: newProbes(m.Runner), Reader: load.Reader{}, Judge: guard.New(), Analyst: analysis.New(),
		Store: store, Generator: generator, LinkProxy: linkProxy, Log: a.log, Now: a.now, Events: show.on,
		Pin: func(cores experiment.CoreSet) error { return pinSelf(cores, m.Runner == experiment.RunnerDocker) },
	}
	result, err := c.Conduct(ctx, conduct.Request{
		Matrix: m, Rounds: o.rounds, New: o.fresh, AcceptShared: o.acceptShared, Drain: a.drain,
		Invocation: experiment.Invocation{Began: a.now(), Owner: owner.String(), Command: os.Args, Version: version, ShareHost: o.shareHost},
	})
	show.close()
	if err != nil {
		return err
	}
	if err := a.printStored(context.WithoutCancel(ctx), store, result.Sweep, report.Format(o.format)); err != nil {
		return err
	}
	return ended(result)
}

// printStored prints the comparison table of a sweep as it is stored.
func (a *app) printStored(ctx context.Context, store reading, sweep int64, format report.Format) error {
	r, err := storedReport(ctx, store, sweep)
	if err != nil {
		return err
	}
	return report.Comparison(a.out, r, format)
}

// ended turns how an invocation ended into the program's end.
func ended(r conduct.Result) error {
	switch r.Ended {
	case conduct.EndedAborted:
		return &endError{exitAborted, errors.New("aborted: what was measured is kept; run again to go on")}
	case conduct.EndedDrained:
		return &endError{exitEarly, errors.New("stopped as asked: what was measured is kept; run again to go on")}
	case conduct.EndedInfrastructure:
		return &endError{exitEarly, errors.New("five infrastructure failures in a row: what was measured is kept; mend the host, then run again to go on")}
	case conduct.EndedDone:
	}
	if n := r.Counts[experiment.StateInvalid]; n > 0 {
		return &endError{exitEarly, fmt.Errorf("%d runs are invalid and count for nothing: see the findings", n)}
	}
	return nil
}
