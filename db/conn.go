package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"net/url"
	"path/filepath"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// Pragmas stand in the DSN so that every connection of a pool gets them.
const (
	writePragmas = "_foreign_keys=on&_journal_mode=WAL&_busy_timeout=5000&_txlock=immediate&_synchronous=FULL"
	readPragmas  = "mode=ro&_foreign_keys=on&_busy_timeout=5000&_query_only=on"
	closePragmas = "_foreign_keys=on&_busy_timeout=500"
)

// connector opens connections of the SQLite driver with a hook of their own,
// without registering a driver name.
type connector struct {
	drv *sqlite3.SQLiteDriver
	dsn string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.drv.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.drv }

// pool opens a pool of connections to the file at the absolute path.
func pool(path, pragmas string, hook func(*sqlite3.SQLiteConn) error) *sql.DB {
	p := sql.OpenDB(connector{drv: &sqlite3.SQLiteDriver{ConnectHook: hook}, dsn: dsn(path, pragmas)})
	p.SetMaxOpenConns(4)
	p.SetMaxIdleConns(4)
	return p
}

// dsn names a file by URI, so that ?, # and % in the path stay part of it.
func dsn(path, pragmas string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: pragmas}
	return u.String()
}
