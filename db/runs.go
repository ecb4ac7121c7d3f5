package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Reschedule applies the changes of a plan in one transaction.
func (d *DB) Reschedule(ctx context.Context, sweep int64, plan experiment.Reschedule) error {
	err := d.write(ctx, func(tx *sql.Tx) error {
		for _, id := range plan.Interrupted {
			r, err := tx.ExecContext(ctx, `UPDATE runs SET state = 'interrupted', ended = ? WHERE id = ? AND sweep = ? AND state = 'running'`,
				d.now().UnixNano(), id, sweep)
			if err := exactlyOne(r, err); err != nil {
				return fmt.Errorf("mark run %d as interrupted, which was running: %w", id, err)
			}
		}
		for _, o := range plan.Salvaged {
			if err := insertSeries(ctx, tx, o); err != nil {
				return fmt.Errorf("what was heard of run %d: %w", o.Run.ID, err)
			}
			if err := insertArtifacts(ctx, tx, o.Run.ID, o.Artifacts); err != nil {
				return fmt.Errorf("what was heard of run %d: %w", o.Run.ID, err)
			}
		}
		for _, run := range plan.Superseded {
			r, err := tx.ExecContext(ctx, `UPDATE runs SET state = 'superseded', reason = ? WHERE id = ? AND sweep = ? AND state NOT IN ('pending', 'running')`,
				run.Reason, run.ID, sweep)
			if err := exactlyOne(r, err); err != nil {
				return fmt.Errorf("mark run %d as superseded, which was over: %w", run.ID, err)
			}
		}
		for _, id := range plan.Drop {
			r, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE id = ? AND sweep = ? AND state = 'pending'`, id, sweep)
			if err := exactlyOne(r, err); err != nil {
				return fmt.Errorf("drop run %d, which was pending: %w", id, err)
			}
		}
		return addRuns(ctx, tx, sweep, plan.Add)
	})
	if err != nil {
		return fmt.Errorf("reschedule sweep %d: %w", sweep, err)
	}
	return nil
}

// addRuns inserts planned runs; runs that are skipped from the start keep their
// state and reason.
func addRuns(ctx context.Context, tx *sql.Tx, sweep int64, runs []experiment.Run) error {
	cells, err := cellIDs(ctx, tx, sweep)
	if err != nil {
		return err
	}
	for _, r := range runs {
		cell, err := cells.id(r.Cell)
		if err != nil {
			return err
		}
		if r.State != experiment.StateSkipped {
			r.State = experiment.StatePending
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO runs (sweep, invocation, cell, round, attempt, state, reason, config_hash) VALUES (?, ?, ?, ?, ?, ?, ?, '')`,
			sweep, positive(r.Invocation), cell, r.Round, max(r.Attempt, 1), r.State, r.Reason)
		if err != nil {
			return fmt.Errorf("add run of cell %s in round %d: %w", r.Cell, r.Round, err)
		}
	}
	return nil
}

// cellIndex maps the cells of a sweep to their rows.
type cellIndex map[experiment.CellKey]int64

func cellIDs(ctx context.Context, q querier, sweep int64) (cellIndex, error) {
	rows, err := q.QueryContext(ctx, `SELECT key, id FROM cells WHERE sweep = ?`, sweep)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	cells := cellIndex{}
	for rows.Next() {
		var key experiment.CellKey
		var id int64
		if err := rows.Scan(&key, &id); err != nil {
			return nil, err
		}
		cells[key] = id
	}
	if len(cells) == 0 && rows.Err() == nil {
		return nil, fmt.Errorf("sweep %d: %w", sweep, experiment.ErrUnknownSweep)
	}
	return cells, rows.Err()
}

func (c cellIndex) id(key experiment.CellKey) (int64, error) {
	id, ok := c[key]
	if !ok {
		return 0, fmt.Errorf("the sweep has no cell %s", key)
	}
	return id, nil
}

// optional is NULL for no cell.
func (c cellIndex) optional(key experiment.CellKey) (any, error) {
	if key == "" {
		return nil, nil
	}
	return c.id(key)
}

// Runs gives all runs of a sweep, in order of their ids.
func (r reading) Runs(ctx context.Context, sweep int64) ([]experiment.Run, error) {
	return r.runs(ctx, "runs.sql", sweep)
}

// Pending gives the runs that are planned and have not begun, in order: round by
// round, as they were added.
func (r reading) Pending(ctx context.Context, sweep int64) ([]experiment.Run, error) {
	return r.runs(ctx, "pending.sql", sweep)
}

func (r reading) runs(ctx context.Context, query string, sweep int64) ([]experiment.Run, error) {
	runs, err := collect(ctx, r.pool, query, scanRun, sweep)
	if err != nil {
		return nil, fmt.Errorf("read runs of sweep %d: %w", sweep, err)
	}
	return runs, nil
}

func scanRun(scan func(...any) error) (experiment.Run, error) {
	var r experiment.Run
	var began, ended sql.Null[int64]
	err := scan(&r.ID, &r.Sweep, &r.Invocation, &r.Cell, &r.Round, &r.Attempt, &r.Seq, &r.State, &r.Reason, &r.ConfigHash, &began, &ended)
	r.Began, r.Ended = moment(began), moment(ended)
	return r, err
}

// moment is the zero time for NULL.
func moment(ns sql.Null[int64]) time.Time {
	if !ns.Valid {
		return time.Time{}
	}
	return time.Unix(0, ns.V).UTC()
}

var errNotPending = errors.New("it is not pending")

// BeginRun marks a pending run as running and gives it its place in the executed
// order. A run without invocation belongs to the sweep's newest.
func (d *DB) BeginRun(ctx context.Context, run experiment.Run) (experiment.Run, error) {
	run.Began = time.Unix(0, d.stamp(run.Began)).UTC()
	run.State = experiment.StateRunning
	err := d.write(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `UPDATE runs SET state = 'running', began = ?,
			invocation = coalesce(?, (SELECT max(id) FROM invocations i WHERE i.sweep = runs.sweep)),
			seq = (SELECT coalesce(max(seq), 0) + 1 FROM runs o WHERE o.sweep = runs.sweep AND o.seq IS NOT NULL)
			WHERE id = ? AND state = 'pending' RETURNING sweep, invocation, seq`,
			run.Began.UnixNano(), positive(run.Invocation), run.ID).Scan(&run.Sweep, &run.Invocation, &run.Seq)
		if errors.Is(err, sql.ErrNoRows) {
			return errNotPending
		}
		return err
	})
	if err != nil {
		return experiment.Run{}, fmt.Errorf("begin run %d: %w", run.ID, err)
	}
	return run, nil
}

// positive is NULL for an id that is not set.
func positive(id int64) any {
	if id <= 0 {
		return nil
	}
	return id
}
