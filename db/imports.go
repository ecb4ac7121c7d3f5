package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ceteris/ceteris/experiment"
)

// outcomeImported is that of an invocation which made runs of files.
const outcomeImported = "imported"

// Imported finds the sweep of imported runs with the hash; 0 if there is none.
func (r reading) Imported(ctx context.Context, hash string) (int64, error) {
	var id int64
	err := r.pool.QueryRowContext(ctx, `SELECT id FROM sweeps WHERE hash = ? AND runner = ?`, hash, experiment.RunnerImported).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("find imported sweep: %w", err)
	}
	return id, nil
}

// Import stores runs that were measured elsewhere, in one transaction: all of them or
// none. The sweep of the hash begins, or grows to the cells of spec. It gives the ids of
// the runs in their order. The error wraps experiment.ErrAlreadyImported where a file
// makes a second run of the sweep, and, without spec.Replace, where a run of the same cell
// and round is there.
func (d *DB) Import(ctx context.Context, spec experiment.ImportSpec) (sweep int64, runs []int64, err error) {
	err = d.write(ctx, func(tx *sql.Tx) error {
		begin := experiment.SweepSpec{Matrix: spec.Matrix, Hash: spec.Hash, Cells: spec.Cells, Rounds: 1, Invocation: spec.Invocation}
		head, err := newestOfHash(ctx, tx, spec.Hash, 0)
		switch {
		case err != nil:
			return err
		case head.ID == 0:
			head, err = d.insertSweep(ctx, tx, begin)
		default:
			err = growSweep(ctx, tx, head.ID, begin)
		}
		if err != nil {
			return err
		}
		sweep = head.ID
		invocation, err := d.openInvocation(ctx, tx, sweep, begin)
		if err != nil {
			return err
		}
		if runs, err = d.importRuns(ctx, tx, sweep, invocation, spec); err != nil {
			return err
		}
		return d.endImport(ctx, tx, sweep, invocation)
	})
	if err != nil {
		return 0, nil, fmt.Errorf("import into sweep %s: %w", spec.Matrix.Name, err)
	}
	return sweep, runs, nil
}

// endImport ends the invocation, and counts the rounds: as many as a run stands in are
// planned.
func (d *DB) endImport(ctx context.Context, tx *sql.Tx, sweep, invocation int64) error {
	if _, err := tx.ExecContext(ctx, `UPDATE invocations SET ended = ?, outcome = ? WHERE id = ?`, d.now().UnixNano(), outcomeImported, invocation); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE sweeps SET rounds = (SELECT count(DISTINCT round) FROM runs WHERE sweep = ?1 AND state IN ('ok', 'invalid')) WHERE id = ?1`, sweep)
	return err
}

// growSweep puts the factors, levels and cells of spec in the place of those that are
// there. Cells that are keep their rows, by which runs know them.
func growSweep(ctx context.Context, tx *sql.Tx, sweep int64, spec experiment.SweepSpec) error {
	texts, err := jsonTexts(spec.Matrix, spec.Matrix.Judge)
	if err != nil {
		return err
	}
	for _, statement := range []string{
		`DELETE FROM levels WHERE sweep = ?1`,
		`DELETE FROM factors WHERE sweep = ?1`,
		`DELETE FROM cell_settings WHERE cell IN (SELECT id FROM cells WHERE sweep = ?1)`,
		`UPDATE cells SET position = -1 - position, key = 'of cell ' || id WHERE sweep = ?1`, // out of the way of the new ones
	} {
		if _, err := tx.ExecContext(ctx, statement, sweep); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE sweeps SET matrix = ?, settings = ? WHERE id = ?`, texts[0], texts[1], sweep); err != nil {
		return err
	}
	if err := insertFactors(ctx, tx, sweep, spec.Matrix); err != nil {
		return err
	}
	for i, c := range spec.Cells {
		if err := growCell(ctx, tx, sweep, i, c); err != nil {
			return fmt.Errorf("store cell %s: %w", c.Key, err)
		}
	}
	return nil
}

// growCell moves a cell to its new place, or adds it. In a sweep without stages and
// conditions the label names a cell.
func growCell(ctx context.Context, tx *sql.Tx, sweep int64, position int, c experiment.Cell) error {
	var id int64
	err := tx.QueryRowContext(ctx, `UPDATE cells SET position = ?, key = ? WHERE sweep = ? AND label = ? RETURNING id`,
		position, c.Key, sweep, c.Label()).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		_, err = insertCell(ctx, tx, sweep, position, c, false)
		return err
	}
	if err != nil {
		return err
	}
	return insertCellSettings(ctx, tx, id, c)
}

func (d *DB) importRuns(ctx context.Context, tx *sql.Tx, sweep, invocation int64, spec experiment.ImportSpec) ([]int64, error) {
	cells, err := cellIDs(ctx, tx, sweep)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, r := range spec.Runs {
		cell, err := cells.id(r.Run.Cell)
		if err != nil {
			return nil, err
		}
		attempt, err := makeRoom(ctx, tx, cell, r.Outcome, spec.Replace)
		if err != nil {
			return nil, err
		}
		r.Run.Attempt = attempt
		id, err := d.importRun(ctx, tx, findingOn{sweep: sweep, cell: cell}, invocation, r)
		if err != nil {
			return nil, fmt.Errorf("store the run of %s: %w", r.Import.File, err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// makeRoom supersedes the run that stands for the cell and round, if it may, and gives
// the number of the attempt. A measurement counts once: its file must not stand
// elsewhere in the sweep.
func makeRoom(ctx context.Context, tx *sql.Tx, cell int64, o experiment.Outcome, replace bool) (int, error) {
	var run, round int64
	var label, file string
	var here bool
	err := tx.QueryRowContext(ctx, `SELECT r.id, c.label, r.round, r.cell = ?2 AND r.round = ?3 AS here
		FROM imports i JOIN runs r ON r.id = i.run JOIN cells c ON c.id = r.cell
		WHERE i.sha256 = ?1 AND r.state <> 'superseded' AND r.sweep = (SELECT sweep FROM cells WHERE id = ?2) AND NOT (?4 AND here)`,
		o.Import.SHA256, cell, o.Run.Round, replace).Scan(&run, &label, &round, &here)
	switch {
	case err == nil:
		err := fmt.Errorf("%w: %s (SHA-256 %.12s) is run %d, %s in round %d", experiment.ErrAlreadyImported, o.Import.File, o.Import.SHA256, run, label, round)
		if here {
			return 0, experiment.WithHint(err, "--replace reads it anew")
		}
		return 0, experiment.WithHint(err, "one measurement makes one run: if it stands in the wrong place, put the right file there by --replace")
	case !errors.Is(err, sql.ErrNoRows):
		return 0, err
	}
	err = tx.QueryRowContext(ctx, `SELECT r.id, c.label, i.file FROM runs r JOIN imports i ON i.run = r.id JOIN cells c ON c.id = r.cell
		WHERE r.cell = ? AND r.round = ? AND r.state <> 'superseded'`, cell, o.Run.Round).Scan(&run, &label, &file)
	switch {
	case err == nil && !replace:
		return 0, experiment.WithHint(fmt.Errorf("%w: %s in round %d is run %d, of %s", experiment.ErrAlreadyImported, label, o.Run.Round, run, file),
			"--replace supersedes that run, --round puts the file into another round")
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE runs SET state = 'superseded', reason = rtrim(state || ': ' || reason, ': ')
		WHERE cell = ? AND round = ? AND state <> 'superseded'`, cell, o.Run.Round); err != nil {
		return 0, err
	}
	var attempt int
	err = tx.QueryRowContext(ctx, `SELECT coalesce(max(attempt), 0) + 1 FROM runs WHERE cell = ? AND round = ?`, cell, o.Run.Round).Scan(&attempt)
	return attempt, err
}

// importRun stores one run. When it was measured is NULL where its tool does not tell.
func (d *DB) importRun(ctx context.Context, tx *sql.Tx, on findingOn, invocation int64, j experiment.JudgedRun) (int64, error) {
	r := j.Run
	texts, err := jsonTexts(detailsOf(j.Outcome))
	if err != nil {
		return 0, err
	}
	var began, ended any
	if !r.Began.IsZero() {
		began, ended = r.Began.UnixNano(), r.Ended.UnixNano()
	}
	added, err := tx.ExecContext(ctx, `INSERT INTO runs (sweep, invocation, cell, round, attempt, state, reason, config_hash, began, ended, window_ns, details)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		on.sweep, invocation, on.cell, r.Round, r.Attempt, r.State, r.Reason, r.ConfigHash, began, ended, positive(int64(j.Result.Window)), texts[0])
	if err != nil {
		return 0, err
	}
	if on.run, err = added.LastInsertId(); err != nil {
		return 0, err
	}
	j.Run.ID = on.run
	i := j.Import
	_, err = tx.ExecContext(ctx, `INSERT INTO imports (run, imported, reader, tool, format, file, sha256, size, skip_ns, window_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		on.run, d.now().UnixNano(), i.Reader, j.Result.Tool, j.Result.Format, i.File, i.SHA256, i.Size, int64(i.Skip), int64(i.Window))
	if err != nil {
		return 0, err
	}
	return on.run, insertOutcome(ctx, tx, on, j.Outcome, j.Findings)
}
