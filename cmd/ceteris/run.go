package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

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
	rounds       rounds
	fresh        bool
	runner       string
	acceptShared bool
	shareHost    bool
	format       string
}

func (o *runOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(&o.rounds, "rounds", "planned rounds; more than before extends the sweep (default as the matrix says)")
	fs.BoolVar(&o.fresh, "new", false, "start another sweep of the same matrix instead of continuing the newest")
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
	if err := checkRunner(o.runner); err != nil {
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
	return a.each(ctx, files, func(i int) error {
		if i > 0 && o.format == string(report.Text) {
			fmt.Fprintln(a.out)
		}
		defer place.restore(a.log) // the next matrix is placed on all cores again
		err := a.runOne(ctx, o, matrices[i], store, place)
		a.log.Info("matrix done", "matrix", matrices[i].Name, "err", err)
		return err
	})
}

// loadAll reads and checks all matrices. Nothing has begun yet: the first signal
// ends it.
func (a *app) loadAll(ctx context.Context, o runOptions, files []string) ([]*experiment.Matrix, error) {
	stopping, cancel := context.WithCancel(ctx)
	defer cancel()
	defer a.interrupts.onFirst(cancel)()
	matrices := make([]*experiment.Matrix, len(files))
	err := a.each(stopping, files, func(i int) (err error) {
		matrices[i], err = a.load(stopping, files[i], o.runner, true)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return nil, stopped(conduct.Result{Ended: conduct.EndedAborted})
	case a.interrupts.stopping.Err() != nil:
		return nil, stopped(conduct.Result{Ended: conduct.EndedDrained})
	default:
		return matrices, err
	}
}

// each does something with every file; one that fails does not stop the next. The
// errors of several are printed as they come, and the gravest decides the exit code.
func (a *app) each(ctx context.Context, files []string, do func(i int) error) error {
	if len(files) == 1 {
		return do(0)
	}
	var codes []int
	for i, file := range files {
		err := do(i)
		switch {
		case ctx.Err() != nil:
			return err
		case err == nil:
			continue
		}
		if _, named := errors.AsType[*experiment.FieldError](err); !named { // that names its file by itself
			err = fmt.Errorf("%s: %w", file, err)
		}
		printError(a.err, err)
		codes = append(codes, exitCode(ctx, err))
	}
	if code := gravest(codes); code != exitOK {
		return &endError{code: code}
	}
	return nil
}

// gravest gives the exit code of several ends, 0 for none. A code that is not
// ranked still is no success.
func gravest(codes []int) int {
	for _, code := range []int{exitAborted, exitFault, exitCannotMeasure, exitMatrix, exitUsage, exitEarly, exitWorse} {
		if slices.Contains(codes, code) {
			return code
		}
	}
	return slices.Max(append(codes, exitOK))
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

// checkRunner checks --runner; empty is its absence.
func checkRunner(name string) error {
	if slices.Contains([]string{"", experiment.RunnerAuto, experiment.RunnerDocker, experiment.RunnerProcess}, name) {
		return nil
	}
	return &usageError{fmt.Errorf("--runner %s: want auto, docker or process", name)}
}

// load reads and checks a matrix and resolves its runner. Images that are needed
// to choose it are pulled, or only looked for.
func (a *app) load(ctx context.Context, file, runner string, pull bool) (*experiment.Matrix, error) {
	m, err := matrixfile.Load(file)
	if err != nil {
		return nil, err
	}
	name, err := a.chooseRunner(ctx, m, runner, pull)
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

// runOne executes one matrix and prints its table.
func (a *app) runOne(ctx context.Context, o runOptions, m *experiment.Matrix, store *db.DB, place *ownPlace) error {
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
		Store: store, Generator: generator, LinkProxy: linkProxy, Log: a.log, Now: a.now, Events: a.logged(show.on),
		Pin: place.pin,
	}
	result, err := c.Conduct(ctx, conduct.Request{
		Matrix: m, Rounds: int(o.rounds), New: o.fresh, AcceptShared: o.acceptShared, Drain: a.interrupts.stopping.Done(),
		Invocation: experiment.Invocation{Began: a.now(), Owner: owner.String(), Command: os.Args, Version: version, ShareHost: o.shareHost},
	})
	show.close()
	if err != nil {
		return err
	}
	if result.Sweep == 0 {
		return stopped(result)
	}
	return a.conclude(context.WithoutCancel(ctx), store, result, report.Format(o.format))
}

// conclude prints the comparison table of a sweep as it is stored, and says
// whether all of it counts.
func (a *app) conclude(ctx context.Context, store reading, result conduct.Result, format report.Format) error {
	r, err := storedReport(ctx, store, result.Sweep)
	if err != nil {
		return err
	}
	if err := report.Comparison(a.out, r, format); err != nil {
		return experiment.WithHint(fmt.Errorf("print the table: %w", err),
			fmt.Sprintf("everything is stored: ceteris compare %d", result.Sweep))
	}
	if err := stopped(result); err != nil {
		return err
	}
	if why, last := r.Incomparable(); why != "" {
		if last != "" {
			why += ", at last by: " + last
		}
		return &endError{exitEarly, errors.New("nothing can be compared: " + why)}
	}
	if result.Missing > 0 {
		return &endError{exitEarly, fmt.Errorf("runs that the infrastructure failed twice and that are missing: %d; run again to repeat their rounds", result.Missing)}
	}
	invalid := 0
	for _, run := range r.Sweep.Runs {
		if run.State == experiment.StateInvalid {
			invalid++
		}
	}
	if invalid > 0 {
		return &endError{exitEarly, fmt.Errorf("runs that are invalid and count for nothing: %d; see the findings", invalid)}
	}
	return nil
}

// stopped says why an invocation ended before the sweep was done, if it did.
func stopped(r conduct.Result) error {
	kept := "what was measured is kept; run again to go on"
	if r.Sweep == 0 {
		kept = "nothing was begun"
	}
	switch r.Ended {
	case conduct.EndedAborted:
		return &endError{exitAborted, errors.New("aborted: " + kept)}
	case conduct.EndedDrained:
		return &endError{exitEarly, errors.New("stopped as asked: " + kept)}
	case conduct.EndedInfrastructure:
		return &endError{exitEarly, errors.New("five infrastructure failures in a row: mend the host; " + kept)}
	default:
		return nil
	}
}
