package db

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/ceteris/ceteris/experiment"
)

func insertResponses(ctx context.Context, tx *sql.Tx, sweep int64, cells cellIndex, all []experiment.Response) error {
	insert, err := tx.PrepareContext(ctx, `INSERT INTO responded
		(sweep, stage, condition, factor, metric, levels, trend, test, p, reason, knee, knee_before, knee_after, usl, usl_peak, best, smallest, state)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, r := range all {
		if err := insertResponse(ctx, insert, sweep, cells, r); err != nil {
			return fmt.Errorf("response of %s to %s: %w", r.Metric, r.Factor, err)
		}
	}
	return nil
}

func insertResponse(ctx context.Context, insert *sql.Stmt, sweep int64, cells cellIndex, r experiment.Response) error {
	best, err := cells.optional(r.Best)
	if err != nil {
		return err
	}
	smallest, err := cells.optional(r.Smallest)
	if err != nil {
		return err
	}
	texts, err := jsonTexts(orEmpty(r.Levels), r.USL)
	if err != nil {
		return err
	}
	var at, before, after, usl, peak any
	if k := r.Knee; k != nil {
		at, before, after = k.At, k.Before, k.After
	}
	if r.USL != nil {
		usl, peak = texts[1], r.USL.Peak
	}
	_, err = insert.ExecContext(ctx, sweep, r.Stage, r.Condition, r.Factor, r.Metric, texts[0], r.Trend, textOrNull(r.Test), r.P, r.Reason,
		at, before, after, usl, peak, best, smallest, r.State)
	return err
}

func scanResponse(scan func(...any) error) (experiment.Response, error) {
	var r experiment.Response
	var levels string
	var at, before, after sql.Null[float64]
	var usl sql.Null[string]
	err := scan(&r.Stage, &r.Condition, &r.Factor, &r.Metric, &levels, &r.Test, &r.Trend, &r.P, &r.Reason, &at, &before, &after, &usl,
		&r.Best, &r.Smallest, &r.State)
	if err != nil {
		return r, err
	}
	if at.Valid {
		r.Knee = &experiment.Knee{At: at.V, Before: before.V, After: after.V}
	}
	all := []jsonInto{{levels, &r.Levels}}
	if usl.Valid {
		all = append(all, jsonInto{usl.V, &r.USL})
	}
	return r, fromJSON(all...)
}
