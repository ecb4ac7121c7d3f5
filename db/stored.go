package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ceteris/ceteris/experiment"
)

// Results gives the stored results of a sweep; the zero value before the first
// analysis. Findings are those of the results, not those of single runs.
func (r reading) Results(ctx context.Context, sweep int64) (experiment.Results, error) {
	var out experiment.Results
	err := r.snapshot(ctx, func(tx *sql.Tx) error {
		var notes, settings, stop string
		err := tx.QueryRowContext(ctx, `SELECT rounds_done, planned, notes, settings, stop, settings_hash, analysis_version FROM analyses WHERE sweep = ?`, sweep).
			Scan(&out.RoundsDone, &out.Planned, &notes, &settings, &stop, &out.SettingsHash, &out.Version)
		if errors.Is(err, sql.ErrNoRows) {
			_, err = loadHead(ctx, tx, sweep) // an unknown sweep is an error
			return err
		}
		if err != nil {
			return err
		}
		if err := fromJSON(jsonInto{notes, &out.Notes}, jsonInto{settings, &out.Settings}, jsonInto{stop, &out.Stop}); err != nil {
			return err
		}
		if out.Intervals, err = collect(ctx, tx, "intervals.sql", scanInterval, sweep); err != nil {
			return err
		}
		if out.Comparisons, err = collect(ctx, tx, "comparisons.sql", scanComparison, sweep); err != nil {
			return err
		}
		if out.Changes, err = collect(ctx, tx, "changes.sql", scanChange, sweep); err != nil {
			return err
		}
		if out.Responses, err = collect(ctx, tx, "responses.sql", scanResponse, sweep); err != nil {
			return err
		}
		if out.Ladders, err = loadLadderResults(ctx, tx, sweep); err != nil {
			return err
		}
		out.Findings, err = collect(ctx, tx, "sweep_findings.sql", func(scan func(...any) error) (experiment.Finding, error) {
			f, err := scanFinding(scan)
			return f.Finding, err
		}, sweep)
		return err
	})
	if err != nil {
		return experiment.Results{}, fmt.Errorf("read results of sweep %d: %w", sweep, err)
	}
	return out, nil
}

func scanInterval(scan func(...any) error) (experiment.Interval, error) {
	var i experiment.Interval
	var values, flags string
	err := scan(&i.Cell, &i.Metric, &i.Unit, &i.N, &i.Estimate, &i.Low, &i.High, &i.Confidence, &i.Method,
		&i.Median, &i.Min, &i.Max, &i.CV, &values, &flags, &i.State)
	if err != nil {
		return i, err
	}
	return i, fromJSON(jsonInto{values, &i.Values}, jsonInto{flags, &i.Flags})
}

func scanComparison(scan func(...any) error) (experiment.Comparison, error) {
	var k experiment.Comparison
	var flags string
	err := scan(&k.Cell, &k.Metric, &k.Secondary, &k.Scale, &k.Estimate, &k.Low, &k.High, &k.EqLow, &k.EqHigh, &k.Confidence,
		&k.P, &k.PAdjusted, &k.N, &k.Method, &k.Verdict, &k.Reason, &k.Material, &k.RoundsNeeded, &flags, &k.State)
	if err != nil {
		return k, err
	}
	return k, fromJSON(jsonInto{flags, &k.Flags})
}
