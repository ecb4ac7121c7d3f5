package db

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/pressly/goose/v3"

	"github.com/ceteris/ceteris/experiment"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// applicationID marks a file as ours ("CTRS"); the first migration sets it.
const applicationID = 0x43545253

var errForeign = errors.New("is the SQLite database of another program")

// migrate brings the file to the newest version. Migrations only go forward.
func migrate(ctx context.Context, p *sql.DB, log *slog.Logger) error {
	if err := checkOurs(ctx, p); err != nil {
		return err
	}
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return err
	}
	m, err := goose.NewProvider(goose.DialectSQLite3, p, files, goose.WithDisableGlobalRegistry(true), goose.WithSlog(log))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	have, newest, err := m.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if have > newest {
		return schemaNewer(have, newest)
	}
	applied, err := m.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	for _, a := range applied {
		log.DebugContext(ctx, "migrated", "migration", a.Source.Path, "took", a.Duration)
	}
	return nil
}

// checkOurs tells a new or own file from that of another program, which must not
// be touched. The table of versions alone is a creation that was cut short.
func checkOurs(ctx context.Context, p *sql.DB) error {
	var app, others int64
	if err := p.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&app); err != nil {
		return err
	}
	if app == applicationID {
		return nil
	}
	err := p.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE tbl_name NOT IN ('goose_db_version', 'sqlite_sequence')`).Scan(&others)
	if err != nil {
		return err
	}
	if app != 0 || others > 0 {
		return errForeign
	}
	return nil
}

// newestVersion is that of the newest embedded migration.
func newestVersion() (int64, error) {
	entries, err := migrationFiles.ReadDir("migrations")
	if err != nil {
		return 0, err
	}
	return goose.NumericComponent(entries[len(entries)-1].Name()) // sorted by name
}

func schemaNewer(have, newest int64) error {
	return experiment.WithHint(fmt.Errorf("%w: its schema is version %d, this ceteris knows up to %d", experiment.ErrSchemaNewer, have, newest),
		"use the ceteris that wrote it, or a newer one")
}
