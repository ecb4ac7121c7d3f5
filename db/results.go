package db

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/ceteris/ceteris/experiment"
)

// ReplaceResults replaces all results of a sweep, their findings among them, in one
// transaction. Findings that were stored with a run stay.
func (d *DB) ReplaceResults(ctx context.Context, sweep int64, r experiment.Results) error {
	err := d.write(ctx, func(tx *sql.Tx) error {
		cells, err := cellIDs(ctx, tx, sweep)
		if err != nil {
			return err
		}
		if err := deleteResults(ctx, tx, sweep); err != nil {
			return err
		}
		if err := d.insertAnalysis(ctx, tx, sweep, r); err != nil {
			return err
		}
		if err := insertIntervals(ctx, tx, sweep, cells, r.Intervals); err != nil {
			return err
		}
		if err := insertComparisons(ctx, tx, sweep, cells, r.Comparisons); err != nil {
			return err
		}
		if err := insertChanges(ctx, tx, sweep, cells, r.Changes); err != nil {
			return err
		}
		if err := insertResponses(ctx, tx, sweep, cells, r.Responses); err != nil {
			return err
		}
		if err := insertLadderResults(ctx, tx, sweep, cells, r.Ladders); err != nil {
			return err
		}
		return insertSweepFindings(ctx, tx, sweep, cells, r.Findings)
	})
	if err != nil {
		return fmt.Errorf("store results of sweep %d: %w", sweep, err)
	}
	return nil
}

func deleteResults(ctx context.Context, tx *sql.Tx, sweep int64) error {
	for _, rows := range []string{
		`judged_rungs WHERE ladder IN (SELECT ladder FROM ladders WHERE sweep = ?)`,
		`ladders WHERE sweep = ?`, `responded WHERE sweep = ?`, `changes WHERE sweep = ?`, `compared WHERE sweep = ?`, `intervals WHERE sweep = ?`,
		`analyses WHERE sweep = ?`, `findings WHERE sweep = ? AND judged = 'sweep'`,
	} {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+rows, sweep); err != nil {
			return err
		}
	}
	return nil
}

func (d *DB) insertAnalysis(ctx context.Context, tx *sql.Tx, sweep int64, r experiment.Results) error {
	texts, err := jsonTexts(orEmpty(r.Notes), r.Settings, r.Stop)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO analyses (sweep, analysed, rounds_done, planned, notes, settings, stop, settings_hash, analysis_version)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		sweep, d.now().UnixNano(), r.RoundsDone, r.Planned, texts[0], texts[1], texts[2], r.SettingsHash, r.Version)
	return err
}

func insertIntervals(ctx context.Context, tx *sql.Tx, sweep int64, cells cellIndex, all []experiment.Interval) error {
	insert, err := tx.PrepareContext(ctx, `INSERT INTO intervals
		(sweep, cell, metric, unit, n, estimate, low, high, confidence, method, median, minimum, maximum, cv, run_values, flags, state)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, i := range all {
		cell, err := cells.id(i.Cell)
		if err != nil {
			return fmt.Errorf("interval of %s: %w", i.Metric, err)
		}
		texts, err := jsonTexts(orEmpty(i.Values), orEmpty(i.Flags))
		if err != nil {
			return err
		}
		_, err = insert.ExecContext(ctx, sweep, cell, i.Metric, i.Unit, i.N, i.Estimate, i.Low, i.High, i.Confidence, textOrNull(i.Method),
			i.Median, i.Min, i.Max, i.CV, texts[0], texts[1], i.State)
		if err != nil {
			return fmt.Errorf("interval of %s in cell %s: %w", i.Metric, i.Cell, err)
		}
	}
	return nil
}

func insertComparisons(ctx context.Context, tx *sql.Tx, sweep int64, cells cellIndex, all []experiment.Comparison) error {
	insert, err := tx.PrepareContext(ctx, `INSERT INTO compared
		(sweep, cell, metric, secondary, scale, estimate, low, high, confidence, eq_low, eq_high, p, p_adjusted, n, method,
		verdict, reason, material, rounds_needed, flags, state)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, k := range all {
		cell, err := cells.id(k.Cell)
		if err != nil {
			return fmt.Errorf("comparison of %s: %w", k.Metric, err)
		}
		texts, err := jsonTexts(orEmpty(k.Flags))
		if err != nil {
			return err
		}
		_, err = insert.ExecContext(ctx, sweep, cell, k.Metric, k.Secondary, k.Scale, k.Estimate, k.Low, k.High, k.Confidence, k.EqLow, k.EqHigh,
			k.P, k.PAdjusted, k.N, textOrNull(k.Method), k.Verdict, k.Reason, textOrNull(k.Material), k.RoundsNeeded, texts[0], k.State)
		if err != nil {
			return fmt.Errorf("comparison of %s in cell %s: %w", k.Metric, k.Cell, err)
		}
	}
	return nil
}

func insertSweepFindings(ctx context.Context, tx *sql.Tx, sweep int64, cells cellIndex, all []experiment.Finding) error {
	for _, f := range all {
		var cell int64
		if f.Cell != "" {
			var err error
			if cell, err = cells.id(f.Cell); err != nil {
				return fmt.Errorf("finding %s: %w", f.Code, err)
			}
		}
		if err := insertFinding(ctx, tx, "sweep", findingOn{sweep, f.Run, cell}, f); err != nil {
			return err
		}
	}
	return nil
}

// textOrNull is NULL for the empty text.
func textOrNull[T ~string](s T) any {
	if s == "" {
		return nil
	}
	return string(s)
}

// orEmpty makes a nil slice an empty JSON array instead of null.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
