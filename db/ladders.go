package db

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/ceteris/ceteris/experiment"
)

func insertLadderResults(ctx context.Context, tx *sql.Tx, sweep int64, cells cellIndex, all []experiment.LadderResult) error {
	for _, l := range all {
		if err := insertLadderResult(ctx, tx, sweep, cells, l); err != nil {
			return fmt.Errorf("ladder %s: %w", l.Cell, err)
		}
	}
	return nil
}

func insertLadderResult(ctx context.Context, tx *sql.Tx, sweep int64, cells cellIndex, l experiment.LadderResult) error {
	ladder, err := cells.id(l.Cell)
	if err != nil {
		return err
	}
	var rungs [4]any
	for i, key := range []experiment.CellKey{l.Sustained, l.Broken, l.TailFirst, l.MedianFirst} {
		if rungs[i], err = cells.optional(key); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO ladders (ladder, sweep, status, tail, sustained, broken, tail_first, median_first, above, state)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		ladder, sweep, textOrNull(l.Status), l.Tail, rungs[0], rungs[1], rungs[2], rungs[3], l.Above, l.State)
	if err != nil {
		return err
	}
	for i, r := range l.Rungs {
		cell, err := cells.id(r.Cell)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO judged_rungs (ladder, position, cell, n, broken) VALUES (?, ?, ?, ?, ?)`,
			ladder, i, cell, r.N, textOrNull(r.Broken))
		if err != nil {
			return fmt.Errorf("rung %s: %w", r.Cell, err)
		}
	}
	return nil
}

func loadLadderResults(ctx context.Context, q querier, sweep int64) ([]experiment.LadderResult, error) {
	all, err := collect(ctx, q, "ladders.sql", func(scan func(...any) error) (experiment.LadderResult, error) {
		var l experiment.LadderResult
		return l, scan(&l.Cell, &l.Status, &l.Tail, &l.Sustained, &l.Broken, &l.TailFirst, &l.MedianFirst, &l.Above, &l.State)
	}, sweep)
	if err != nil {
		return nil, err
	}
	type rung struct {
		ladder experiment.CellKey
		experiment.RungResult
	}
	rungs, err := collect(ctx, q, "judged_rungs.sql", func(scan func(...any) error) (rung, error) {
		var r rung
		return r, scan(&r.ladder, &r.Cell, &r.N, &r.Broken)
	}, sweep)
	if err != nil {
		return nil, err
	}
	of := make(map[experiment.CellKey]*experiment.LadderResult, len(all))
	for i := range all {
		of[all[i].Cell] = &all[i]
	}
	for _, r := range rungs {
		of[r.ladder].Rungs = append(of[r.ladder].Rungs, r.RungResult)
	}
	return all, nil
}
