package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
)

// reading is what the commands that only look need of a database.
type reading interface {
	LoadSweep(ctx context.Context, sweep int64) (experiment.Sweep, error)
	Results(ctx context.Context, sweep int64) (experiment.Results, error)
	Findings(ctx context.Context, sweep int64) ([]db.StoredFinding, error)
}

// openReader opens the database for reading; it never creates one. Statements may call
// the functions.
func (a *app) openReader(ctx context.Context, funcs ...db.SQLFunc) (*db.Reader, error) {
	r, err := db.OpenReadOnly(ctx, a.config.DB, funcs...)
	return r, wrongDatabase(err)
}

// wrongDatabase makes a path to no database of ours a wrong call: another --db
// mends it. A file that is damaged, or cannot be read, is none.
func wrongDatabase(err error) error {
	if _, ok := errors.AsType[*db.WrongPathError](err); ok {
		return &usageError{err}
	}
	return err
}

// withSweep opens the database and finds the sweep that an argument names.
func (a *app) withSweep(ctx context.Context, args []string, use func(*db.Reader, int64) error) error {
	r, err := a.openReader(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	id, err := resolve(ctx, r, sweepNamed(args))
	if err != nil {
		return err
	}
	return use(r, id)
}

// sweepNamed gives the argument that names a sweep.
func sweepNamed(args []string) string {
	if len(args) == 0 {
		return "latest"
	}
	return args[0]
}

type resolver interface {
	Resolve(ctx context.Context, ref string) (int64, error)
}

// resolve finds the sweep that an argument names.
func resolve(ctx context.Context, r resolver, ref string) (int64, error) {
	if ref == "" {
		return 0, fmt.Errorf("%w: the name is empty", experiment.ErrUnknownSweep)
	}
	return r.Resolve(ctx, ref)
}

// storedReport gathers what is stored of a sweep.
func storedReport(ctx context.Context, r reading, id int64) (report.Report, error) {
	sweep, err := r.LoadSweep(ctx, id)
	if err != nil {
		return report.Report{}, err
	}
	results, err := r.Results(ctx, id)
	if err != nil {
		return report.Report{}, err
	}
	findings, err := storedFindings(ctx, r, id)
	if err != nil {
		return report.Report{}, err
	}
	return report.Report{Sweep: sweep, Results: results, Findings: findings}, nil
}

func storedFindings(ctx context.Context, r reading, id int64) ([]experiment.Finding, error) {
	stored, err := r.Findings(ctx, id)
	findings := make([]experiment.Finding, len(stored))
	for i, f := range stored {
		findings[i] = f.Finding
	}
	return findings, err
}
