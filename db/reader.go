package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/ceteris/ceteris/experiment"
)

// reading is what DB and Reader have in common. Its methods may be called from
// several goroutines.
type reading struct{ pool *sql.DB }

// Reader reads a database and cannot change it: the file is opened read-only,
// nothing can be attached, and statements that do more than read are refused.
type Reader struct {
	reading
	path  string
	copy  string // directory of a private copy; empty without one
	funcs []SQLFunc
}

var errEmpty = errors.New("it holds nothing yet")

// OpenReadOnly opens the database at path for reading, also while a sweep is
// being written into it. The error is a *WrongPathError if there is none of ours;
// it wraps fs.ErrNotExist if there is no file and experiment.ErrSchemaNewer if a
// newer ceteris wrote it. Statements of Query may call the functions.
func OpenReadOnly(ctx context.Context, path string, funcs ...SQLFunc) (*Reader, error) {
	path, err := realPath(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, experiment.WithHint(wrongPath("there is no database %s: %w", path, fs.ErrNotExist), "run a matrix first, or name another file by --db")
	case err != nil:
		return nil, fmt.Errorf("database %s: %w", path, err)
	case info.IsDir():
		return nil, wrongPath("database %s is a directory, not a file", path)
	case !info.Mode().IsRegular(): // a pipe would block for ever
		return nil, wrongPath("database %s is no regular file", path)
	}
	r := &Reader{path: path, funcs: funcs, reading: reading{pool: pool(path, readPragmas, true, funcs...)}}
	err = r.check(ctx)
	if needsCopy(path, err) {
		err = r.openCopy(ctx)
	}
	if err != nil {
		return nil, errors.Join(explain(path, err), r.Close())
	}
	return r, nil
}

// openCopy replaces the pool by one on a private copy.
func (r *Reader) openCopy(ctx context.Context) error {
	if err := r.pool.Close(); err != nil {
		return err
	}
	dir, err := copyDatabase(r.path)
	if err != nil {
		return err
	}
	r.copy = dir
	r.pool = pool(filepath.Join(dir, copyName), readPragmas, true, r.funcs...)
	return r.check(ctx)
}

// check refuses files that this version cannot read.
func (r *Reader) check(ctx context.Context) error {
	if err := checkOurs(ctx, r.pool); err != nil {
		return err
	}
	newest, err := newestVersion()
	if err != nil {
		return err
	}
	var tables int64
	if err := r.pool.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name IN ('goose_db_version', 'identity')`).Scan(&tables); err != nil {
		return err
	}
	if tables < 2 {
		return experiment.WithHint(errEmpty, "run a matrix first")
	}
	var have int64
	if err := r.pool.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version`).Scan(&have); err != nil {
		return err
	}
	switch {
	case have > newest:
		return schemaNewer(have, newest)
	case have < newest:
		return experiment.WithHint(fmt.Errorf("its schema is version %d, this ceteris reads %d", have, newest), "the next ceteris run on it brings it up to date")
	}
	return nil
}

// Path is the file, absolute, symbolic links resolved.
func (r *Reader) Path() string { return r.path }

// Close ends the reader.
func (r *Reader) Close() error {
	err := r.pool.Close()
	if r.copy != "" {
		err = errors.Join(err, os.RemoveAll(r.copy))
	}
	return err
}

// Query runs a statement of the user that reads. It gives the names of the
// columns and the rows one by one; values are nil, int64, float64, string or
// []byte. Rows must be ranged over once, to the end or to a break: they hold a
// connection. An error of a row ends the rows.
func (r *Reader) Query(ctx context.Context, text string, args ...any) ([]string, iter.Seq2[[]any, error], error) {
	rows, err := r.pool.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, nil, refusal(err)
	}
	columns, err := rows.Columns()
	if err != nil {
		return nil, nil, err // the rows are closed already: no other error is possible
	}
	return columns, each(rows, len(columns)), nil
}

// each gives the rows, and closes them.
func each(rows *sql.Rows, columns int) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		defer rows.Close()
		for rows.Next() {
			row := make([]any, columns)
			into := make([]any, columns)
			for i := range row {
				into[i] = &row[i]
			}
			err := rows.Scan(into...)
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, refusal(err))
		}
	}
}

// refusal gives advice beside the error of a statement that was refused.
func refusal(err error) error {
	if f := faultOf(err); f == faultDenied || f == faultReadOnly {
		return experiment.WithHint(fmt.Errorf("refused, the database is open for reading only: %w", err),
			"SELECT, WITH, VALUES, EXPLAIN and the pragmas that describe the schema are allowed")
	}
	return err
}
