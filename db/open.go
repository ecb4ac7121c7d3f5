package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Options of Open. The zero value is usable.
type Options struct {
	Now func() time.Time // stamps what is stored; time.Now if nil
	Log *slog.Logger     // migrations, at debug; silent if nil
}

// DB is the writer of a database. It implements experiment.Store; its reading
// methods are those of Reader, save Query.
type DB struct {
	reading
	path string // absolute
	id   string
	now  func() time.Time
	log  *slog.Logger
}

var _ experiment.Store = (*DB)(nil)

// Open creates the database at path or brings it to this version. The caller
// holds its Lock. Errors: a *WrongPathError where no database of ours can be, one
// that wraps experiment.ErrSchemaNewer for a file of a newer ceteris;
// experiment.ErrCannotRun on a network filesystem and a full disk;
// experiment.ErrLocked while another program holds the file; anything else is a
// fault.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	path, err := realPath(path)
	if err != nil {
		return nil, err
	}
	if err := checkWritable(path); err != nil {
		return nil, err
	}
	d := &DB{path: path, now: o.Now, log: o.Log, reading: reading{pool: pool(path, writePragmas, false)}}
	if err := d.prepare(ctx); err != nil {
		return nil, errors.Join(explain(path, err), d.pool.Close())
	}
	return d, nil
}

func (d *DB) prepare(ctx context.Context) error {
	if err := migrate(ctx, d.pool, d.log); err != nil {
		return err
	}
	return d.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO identity (one, id, created) VALUES (1, lower(hex(randomblob(8))), ?)
			ON CONFLICT DO NOTHING`, d.now().UnixNano())
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT id FROM identity`).Scan(&d.id)
	})
}

// ID is the random identity of the file, 16 hex digits. It stays when the file
// is moved or copied.
func (d *DB) ID() string { return d.id }

// Path is the file, absolute, symbolic links resolved.
func (d *DB) Path() string { return d.path }

// Checkpoint folds the write-ahead log into the file. Readers may hold it back;
// that is no error, the next one gets further.
func (d *DB) Checkpoint(ctx context.Context) error {
	_, err := d.pool.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
	switch {
	case diskFull(err):
		return outOfSpace(d.path, err)
	case err != nil:
		return fmt.Errorf("checkpoint %s: %w", d.path, err)
	}
	return nil
}

// Close ends the writer. A clean end leaves one plain file: the log is folded in
// and the journal mode goes back to DELETE, so that the file can be copied or
// mailed. When a reader holds the file it stays in WAL mode, with its -wal and
// -shm files, and single is false; that is no error.
func (d *DB) Close(ctx context.Context) (single bool, err error) {
	if err := d.pool.Close(); err != nil {
		return false, fmt.Errorf("close %s: %w", d.path, err)
	}
	last := pool(d.path, closePragmas, false)
	last.SetMaxOpenConns(1)
	single, err = leaveWAL(ctx, last)
	err = errors.Join(err, last.Close())
	switch {
	case diskFull(err): // the log keeps what does not fit
		return false, outOfSpace(d.path, err)
	case err != nil:
		return false, fmt.Errorf("close %s: %w", d.path, err)
	}
	return single, nil
}

func leaveWAL(ctx context.Context, p *sql.DB) (bool, error) {
	var busy, frames, folded int
	if err := p.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &folded); err != nil && faultOf(err) != faultBusy {
		return false, err
	}
	var mode string
	if err := p.QueryRowContext(ctx, `PRAGMA journal_mode = DELETE`).Scan(&mode); err != nil && faultOf(err) != faultBusy {
		return false, err
	}
	return mode == "delete", nil
}

// write runs f in one transaction. The transaction takes the write lock at once
// (_txlock=immediate), so that it never fails half way for want of it. On a full
// disk nothing of it stays, and the error wraps experiment.ErrDiskFull and
// experiment.ErrCannotRun.
func (d *DB) write(ctx context.Context, f func(*sql.Tx) error) error {
	err := d.transact(ctx, f)
	if diskFull(err) {
		return outOfSpace(d.path, err)
	}
	return err
}

func (d *DB) transact(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := d.pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback() // fails where SQLite has done so by itself, as on a full disk
		return err
	}
	return tx.Commit()
}
