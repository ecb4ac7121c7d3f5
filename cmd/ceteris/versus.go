package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
)

// versus sets a sweep against an older one.
func (a *app) versus(ctx context.Context, o compareOptions, oldRef, newRef string) error {
	return a.withSweep(ctx, []string{oldRef}, func(r *db.Reader, oldID int64) error {
		newID, err := resolve(ctx, r, newRef)
		if err != nil {
			return err
		}
		if oldID == newID {
			return &usageError{fmt.Errorf("%s and %s are the same sweep, %d", oldRef, newRef, oldID)}
		}
		old, err := sweepInForce(ctx, r, oldID)
		if err != nil {
			return err
		}
		now, err := sweepInForce(ctx, r, newID)
		if err != nil {
			return err
		}
		set, err := o.settings(now.Settings, old, now)
		if err != nil {
			return err
		}
		v, err := analysis.CompareSweeps(old, now, set)
		if err != nil {
			return err
		}
		rep := report.VersusReport{Old: old, New: now, Versus: v, Options: a.tables()}
		if err := report.Versus(a.out, rep, report.Format(o.format)); err != nil {
			return err
		}
		return verdictOf(v)
	})
}

// sweepInForce loads a sweep with the settings by which its results are judged.
func sweepInForce(ctx context.Context, r *db.Reader, id int64) (experiment.Sweep, error) {
	s, err := r.LoadSweep(ctx, id)
	if err != nil {
		return s, err
	}
	results, err := r.Results(ctx, id)
	s.Settings = inForce(report.Report{Sweep: s, Results: results})
	return s, err
}

// verdictOf is the end of a comparison of two sweeps.
func verdictOf(v analysis.Versus) error {
	has := func(verdicts ...experiment.Verdict) bool {
		return slices.ContainsFunc(v.Rows, func(r analysis.VersusRow) bool { return !r.Secondary && slices.Contains(verdicts, r.Verdict) })
	}
	judged := slices.ContainsFunc(v.Rows, func(r analysis.VersusRow) bool {
		return !r.Secondary && r.Verdict != experiment.VerdictNotTested && r.Verdict != experiment.VerdictInvalid
	})
	switch {
	case v.ProvenWorse():
		return &endError{exitWorse, errors.New("the new sweep is worse than the old one in a cell, and that is proven")}
	case len(v.Rows) == 0:
		return &endError{exitEarly, errors.New("nothing can be compared: no cell of one sweep has the settings of a cell of the other")}
	case v.Untested != "":
		return &endError{exitEarly, errors.New("nothing can be compared: " + v.Untested)}
	case has(experiment.VerdictPending):
		return &endError{exitEarly, errors.New("there is no verdict yet: rounds are still to come in one of the sweeps")}
	case !judged:
		return &endError{exitEarly, errors.New("nothing can be compared: no cell can be tested")}
	default:
		return nil
	}
}
