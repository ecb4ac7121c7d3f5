package db

import (
	"database/sql"
	"database/sql/driver"
	"net/url"
	"path/filepath"
)

// Pragmas stand in the DSN so that every connection of a pool gets them.
const (
	writePragmas = "_foreign_keys=on&_journal_mode=WAL&_busy_timeout=5000&_txlock=immediate&_synchronous=FULL"
	readPragmas  = "mode=ro&_foreign_keys=on&_busy_timeout=5000&_query_only=on"
	closePragmas = "_foreign_keys=on&_busy_timeout=500"
)

// newPool opens a pool of connections.
func newPool(c driver.Connector) *sql.DB {
	p := sql.OpenDB(c)
	p.SetMaxOpenConns(4)
	p.SetMaxIdleConns(4)
	return p
}

// dsn names a file by URI, so that ?, # and % in the path stay part of it.
func dsn(path, pragmas string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: pragmas}
	return u.String()
}

// fault is an answer of SQLite on which this package branches.
type fault int

const (
	faultOther fault = iota
	faultNoSQLite
	faultDamaged
	faultDiskFull
	faultBusy
	faultCannotOpen
	faultReadOnly
	faultDenied
)
