package db

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/ceteris/ceteris/experiment"
)

// insertChanges stores the changes of effects. The earlier place may be a cell of
// another sweep.
func insertChanges(ctx context.Context, tx *sql.Tx, sweep int64, cells cellIndex, all []experiment.Change) error {
	insert, err := tx.PrepareContext(ctx, `INSERT INTO changes
		(sweep, kind, metric, secondary, cell, from_cell, factor, level, scale, effect_before, effect_after, estimate, low, high, confidence,
		eq_low, eq_high, p, p_adjusted, n, method, verdict, reason, material, flags, state)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	others := map[int64]cellIndex{0: cells, sweep: cells}
	for _, h := range all {
		cell, err := cells.id(h.Cell)
		if err != nil {
			return fmt.Errorf("change of %s: %w", h.Metric, err)
		}
		if others[h.FromSweep] == nil {
			if others[h.FromSweep], err = cellIDs(ctx, tx, h.FromSweep); err != nil {
				return fmt.Errorf("change of %s: %w", h.Metric, err)
			}
		}
		from, err := others[h.FromSweep].id(h.From)
		if err != nil {
			return fmt.Errorf("change of %s: %w", h.Metric, err)
		}
		texts, err := jsonTexts(orEmpty(h.Flags))
		if err != nil {
			return err
		}
		_, err = insert.ExecContext(ctx, sweep, h.Kind, h.Metric, h.Secondary, cell, from, h.Factor, h.Level, h.Scale, h.Before, h.After,
			h.Estimate, h.Low, h.High, h.Confidence, h.EqLow, h.EqHigh, h.P, h.PAdjusted, h.N, textOrNull(h.Method), h.Verdict, h.Reason,
			textOrNull(h.Material), texts[0], h.State)
		if err != nil {
			return fmt.Errorf("change of %s in cell %s: %w", h.Metric, h.Cell, err)
		}
	}
	return nil
}

func scanChange(scan func(...any) error) (experiment.Change, error) {
	var h experiment.Change
	var flags string
	err := scan(&h.Kind, &h.Metric, &h.Secondary, &h.Cell, &h.From, &h.FromSweep, &h.Factor, &h.Level, &h.Scale, &h.Before, &h.After,
		&h.Estimate, &h.Low, &h.High, &h.EqLow, &h.EqHigh, &h.Confidence, &h.P, &h.PAdjusted, &h.N, &h.Method, &h.Verdict, &h.Reason,
		&h.Material, &flags, &h.State)
	if err != nil {
		return h, err
	}
	return h, fromJSON(jsonInto{flags, &h.Flags})
}
