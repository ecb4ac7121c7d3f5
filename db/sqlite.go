//go:build cgo

package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"syscall"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// connector opens connections of the SQLite driver with a hook of their own,
// without registering a driver name.
type connector struct {
	drv *sqlite3.SQLiteDriver
	dsn string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.drv.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.drv }

// pool opens the file at the absolute path. Connections with walls can do
// nothing but read, and know the functions.
func pool(path, pragmas string, walls bool, funcs ...SQLFunc) *sql.DB {
	drv := &sqlite3.SQLiteDriver{}
	if walls {
		drv.ConnectHook = func(c *sqlite3.SQLiteConn) error {
			readOnlyHook(c)
			return register(c, funcs)
		}
	}
	return newPool(connector{drv: drv, dsn: dsn(path, pragmas)})
}

// faultOf tells what SQLite answered.
func faultOf(err error) fault {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return faultOther
	}
	if e.SystemErrno == syscall.ENOSPC || e.SystemErrno == syscall.EDQUOT {
		return faultDiskFull
	}
	switch e.Code {
	case sqlite3.ErrNotADB:
		return faultNoSQLite
	case sqlite3.ErrCorrupt:
		return faultDamaged
	case sqlite3.ErrFull:
		return faultDiskFull
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return faultBusy
	case sqlite3.ErrCantOpen:
		return faultCannotOpen
	case sqlite3.ErrReadonly:
		return faultReadOnly
	case sqlite3.ErrAuth:
		return faultDenied
	default:
		return faultOther
	}
}
