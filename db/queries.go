package db

import (
	"context"
	"database/sql"
	"embed"
)

//go:embed queries/*.sql
var queryFiles embed.FS

// query gives the text of queries/NAME.
func query(name string) string {
	b, err := queryFiles.ReadFile("queries/" + name)
	if err != nil {
		panic("db: " + err.Error()) // a broken invariant: names are constants, files are embedded
	}
	return string(b)
}

// querier is a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// collect reads every row of queries/NAME.
func collect[T any](ctx context.Context, q querier, name string, scan func(func(...any) error) (T, error), args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query(name), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
