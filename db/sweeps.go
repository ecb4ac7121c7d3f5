package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// BeginSweep continues the newest sweep of the matrix's hash that follows the same
// sweep in a peel (or none, as spec.PeelParent says), or begins one: where there is
// none such, or when spec.New. It opens an invocation either way. Invocations that
// never ended are marked as died: there is one writer.
func (d *DB) BeginSweep(ctx context.Context, spec experiment.SweepSpec) (experiment.SweepHead, error) {
	if spec.Matrix == nil || spec.Hash == "" || len(spec.Cells) == 0 || spec.Rounds < 1 {
		return experiment.SweepHead{}, errors.New("begin sweep: it has no matrix, no hash, no cells or no rounds")
	}
	var head experiment.SweepHead
	err := d.write(ctx, func(tx *sql.Tx) error {
		var err error
		head, err = newestOfHash(ctx, tx, spec.Hash, spec.PeelParent)
		switch {
		case err != nil:
			return err
		case head.ID == 0 || spec.New:
			head, err = d.insertSweep(ctx, tx, spec)
		default:
			head.Continued = true
			err = refreshSweep(ctx, tx, spec, &head)
		}
		if err != nil {
			return err
		}
		head.Invocation, err = d.openInvocation(ctx, tx, head.ID, spec)
		return err
	})
	if err != nil {
		return experiment.SweepHead{}, fmt.Errorf("begin sweep %s: %w", spec.Matrix.Name, err)
	}
	return head, nil
}

// newestOfHash finds the newest sweep of a hash that follows parent in a peel; 0: that
// follows none.
func newestOfHash(ctx context.Context, tx *sql.Tx, hash string, parent int64) (experiment.SweepHead, error) {
	head := experiment.SweepHead{Hash: hash}
	err := tx.QueryRowContext(ctx, `SELECT id, serial, rounds FROM sweeps WHERE hash = ? AND peel_parent IS ? ORDER BY serial DESC LIMIT 1`, hash, positive(parent)).
		Scan(&head.ID, &head.Serial, &head.Rounds)
	if errors.Is(err, sql.ErrNoRows) {
		return head, nil
	}
	return head, err
}

func (d *DB) insertSweep(ctx context.Context, tx *sql.Tx, spec experiment.SweepSpec) (experiment.SweepHead, error) {
	head := experiment.SweepHead{Hash: spec.Hash, Rounds: spec.Rounds}
	m := spec.Matrix
	texts, err := jsonTexts(m, m.Judge, spec.Placement, spec.Host, orEmpty(m.Declared()), m.Repeat.Stopping)
	if err != nil {
		return head, err
	}
	err = tx.QueryRowContext(ctx, `INSERT INTO sweeps
		(hash, serial, name, question, runner, seed, rounds, matrix, source, file, sha256, settings, placement, host, declared, stopping, peel_parent, began)
		VALUES (?1, (SELECT coalesce(max(serial), 0) + 1 FROM sweeps WHERE hash = ?1), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		RETURNING id, serial`,
		spec.Hash, m.Name, m.Question, m.Runner, strconv.FormatUint(m.Repeat.Seed, 10), spec.Rounds,
		texts[0], m.Origin.Source, m.Origin.File, m.Origin.SHA256, texts[1], texts[2], texts[3], texts[4], texts[5],
		positive(spec.PeelParent), d.stamp(spec.Invocation.Began)).Scan(&head.ID, &head.Serial)
	if err != nil {
		return head, err
	}
	if err := insertFactors(ctx, tx, head.ID, m); err != nil {
		return head, err
	}
	return head, insertCells(ctx, tx, head.ID, spec)
}

func insertFactors(ctx context.Context, tx *sql.Tx, sweep int64, m *experiment.Matrix) error {
	for i, f := range m.Factors {
		_, err := tx.ExecContext(ctx, `INSERT INTO factors (sweep, position, name, unit, condition) VALUES (?, ?, ?, ?, ?)`,
			sweep, i, f.Name, f.Unit, slices.Contains(m.Design.Across, f.Name))
		if err != nil {
			return fmt.Errorf("store factor %s: %w", f.Name, err)
		}
		for k, l := range f.Levels {
			_, err := tx.ExecContext(ctx, `INSERT INTO levels (sweep, factor, position, level, baseline, unset) VALUES (?, ?, ?, ?, ?, ?)`,
				sweep, i, k, l.Text, k == f.Baseline, l.Unset)
			if err != nil {
				return fmt.Errorf("store level %s of %s: %w", l.Text, f.Name, err)
			}
		}
	}
	return nil
}

// insertCells stores the cells that are run and, after them, those that stand for
// ladders.
func insertCells(ctx context.Context, tx *sql.Tx, sweep int64, spec experiment.SweepSpec) error {
	for i, c := range spec.Cells {
		if _, err := insertCell(ctx, tx, sweep, i, c, false); err != nil {
			return fmt.Errorf("store cell %s: %w", c.Key, err)
		}
	}
	for i, l := range spec.Ladders {
		if err := insertLadder(ctx, tx, sweep, len(spec.Cells)+i, l, spec.Cells); err != nil {
			return fmt.Errorf("store ladder %s: %w", l.Cell.Key, err)
		}
	}
	return nil
}

func insertCell(ctx context.Context, tx *sql.Tx, sweep int64, position int, c experiment.Cell, summary bool) (int64, error) {
	r, err := tx.ExecContext(ctx, `INSERT INTO cells (sweep, position, key, stage, role, factor, level, condition, label, summary)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		sweep, position, c.Key, c.Stage, c.Role, offBaseline(c, c.Factor), offBaseline(c, c.Level), c.Condition, c.Label(), summary)
	if err != nil {
		return 0, err
	}
	id, err := r.LastInsertId()
	if err != nil {
		return 0, err
	}
	return id, insertCellSettings(ctx, tx, id, c)
}

func insertCellSettings(ctx context.Context, tx *sql.Tx, id int64, c experiment.Cell) error {
	for i, s := range c.Settings {
		_, err := tx.ExecContext(ctx, `INSERT INTO cell_settings (cell, position, factor, level, off) VALUES (?, ?, ?, ?, ?)`,
			id, i, s.Factor, s.Level, slices.Contains(c.Off, s))
		if err != nil {
			return err
		}
	}
	return nil
}

func insertLadder(ctx context.Context, tx *sql.Tx, sweep int64, position int, l experiment.Ladder, cells []experiment.Cell) error {
	id, err := insertCell(ctx, tx, sweep, position, l.Cell, true)
	if err != nil {
		return err
	}
	for i, key := range l.Rungs {
		c := slices.IndexFunc(cells, func(c experiment.Cell) bool { return c.Key == key })
		if c < 0 {
			return fmt.Errorf("the sweep has no cell %s", key)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO rungs (ladder, position, cell, rung) SELECT ?, ?, id, ? FROM cells WHERE sweep = ? AND key = ?`,
			id, i, rungOf(cells[c], l.Cell), sweep, key)
		if err != nil {
			return err
		}
	}
	return nil
}

// rungOf gives the level that a cell has of the condition which the ladder lacks.
func rungOf(c, ladder experiment.Cell) string {
	for _, s := range c.Settings {
		if _, ok := ladder.Lookup(s.Factor); !ok {
			return s.Level
		}
	}
	return ""
}

// offBaseline is NULL for baseline and control. A level may be the empty text.
func offBaseline(c experiment.Cell, text string) any {
	if c.Role == experiment.RoleBaseline || c.Role == experiment.RoleControl {
		return nil
	}
	return text
}

// refreshSweep takes over what is no part of a sweep's identity.
func refreshSweep(ctx context.Context, tx *sql.Tx, spec experiment.SweepSpec, head *experiment.SweepHead) error {
	m := spec.Matrix
	texts, err := jsonTexts(m, m.Judge, orEmpty(m.Declared()), m.Repeat.Stopping)
	if err != nil {
		return err
	}
	var met bool // and by this very rule, judged by these settings
	err = tx.QueryRowContext(ctx, `SELECT met AND stopping = ? AND settings = ? FROM sweeps WHERE id = ?`, texts[3], texts[1], head.ID).Scan(&met)
	if err != nil {
		return err
	}
	if met = met && spec.Rounds == m.Repeat.AtMost; !met { // or more rounds are asked for
		head.Rounds = max(head.Rounds, spec.Rounds)
	}
	_, err = tx.ExecContext(ctx, `UPDATE sweeps SET name = ?, question = ?, matrix = ?, source = ?, file = ?, sha256 = ?, settings = ?, declared = ?, stopping = ?, met = ?, rounds = ? WHERE id = ?`,
		m.Name, m.Question, texts[0], m.Origin.Source, m.Origin.File, m.Origin.SHA256, texts[1], texts[2], texts[3], met, head.Rounds, head.ID)
	if err != nil {
		return err
	}
	var images string
	err = tx.QueryRowContext(ctx, `SELECT images FROM invocations WHERE sweep = ? ORDER BY id DESC LIMIT 1`, head.ID).Scan(&images)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(images), &head.Images)
}

// FinishRounds makes a sweep that met its rule one of so many rounds: pending runs of
// later ones are dropped, and no more are planned when it is continued, unless the rule
// or the settings by which it is judged are others then, or another number is asked for.
func (d *DB) FinishRounds(ctx context.Context, sweep int64, rounds int) error {
	err := d.write(ctx, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, `UPDATE sweeps SET rounds = ?, met = 1 WHERE id = ?`, rounds, sweep)
		if err := exactlyOne(r, err); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM runs WHERE sweep = ? AND round > ? AND state = 'pending'`, sweep, rounds)
		return err
	})
	if err != nil {
		return fmt.Errorf("finish sweep %d after %d rounds: %w", sweep, rounds, err)
	}
	return nil
}

const outcomeDied = "failed: died"

func (d *DB) openInvocation(ctx context.Context, tx *sql.Tx, sweep int64, spec experiment.SweepSpec) (int64, error) {
	if _, err := tx.ExecContext(ctx, `UPDATE invocations SET outcome = ? WHERE outcome IS NULL`, outcomeDied); err != nil {
		return 0, err
	}
	i := spec.Invocation
	texts, err := jsonTexts(i.Command, spec.Placement, spec.Host, spec.Images)
	if err != nil {
		return 0, err
	}
	r, err := tx.ExecContext(ctx, `INSERT INTO invocations (sweep, began, owner, command, version, share_host, placement, host, images)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		sweep, d.stamp(i.Began), i.Owner, texts[0], i.Version, i.ShareHost, texts[1], texts[2], texts[3])
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// EndInvocation stores how an invocation ended.
func (d *DB) EndInvocation(ctx context.Context, i experiment.Invocation) error {
	err := d.write(ctx, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, `UPDATE invocations SET ended = ?, outcome = ? WHERE id = ?`, d.stamp(i.Ended), i.Outcome, i.ID)
		return exactlyOne(r, err)
	})
	if err != nil {
		return fmt.Errorf("end invocation %d: %w", i.ID, err)
	}
	return nil
}

var errNoRow = errors.New("there is none such")

// exactlyOne turns a change that met no row into an error.
func exactlyOne(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := r.RowsAffected()
	if err == nil && n == 0 {
		return errNoRow
	}
	return err
}

// stamp gives the moment, or now if it is not set, in ns.
func (d *DB) stamp(t time.Time) int64 {
	if t.IsZero() {
		t = d.now()
	}
	return t.UnixNano()
}

func jsonTexts(values ...any) ([]string, error) {
	texts := make([]string, len(values))
	for i, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("encode %T: %w", v, err)
		}
		texts[i] = string(b)
	}
	return texts, nil
}
