//go:build cgo

package db

import (
	"strings"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// recursive is SQLITE_RECURSIVE, which the driver does not name.
const recursive = 33

// readOnlyHook makes a connection unable to do more than read. mode=ro alone
// would still let it attach and write other files, and query_only can be
// switched off by whoever may run a pragma.
func readOnlyHook(c *sqlite3.SQLiteConn) {
	c.SetLimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
	c.RegisterAuthorizer(authorize)
}

// authorize allows reading, and nothing else that SQLite asks about; see
// sqlite3_set_authorizer. first and second depend on the action.
func authorize(action int, first, second, _ string) int {
	switch action {
	case sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, recursive, sqlite3.SQLITE_TRANSACTION:
		return sqlite3.SQLITE_OK
	case sqlite3.SQLITE_FUNCTION:
		if strings.EqualFold(second, "load_extension") {
			return sqlite3.SQLITE_DENY
		}
		return sqlite3.SQLITE_OK
	case sqlite3.SQLITE_PRAGMA:
		return authorizePragma(strings.ToLower(first), second)
	default:
		return sqlite3.SQLITE_DENY
	}
}

// authorizePragma allows pragmas that only describe. Those that name a table or
// a limit take an argument, the others would set something by it.
func authorizePragma(name, argument string) int {
	switch name {
	case "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo",
		"foreign_key_list", "foreign_key_check", "integrity_check", "quick_check":
		return sqlite3.SQLITE_OK
	case "application_id", "collation_list", "compile_options", "database_list", "encoding", "foreign_keys",
		"freelist_count", "function_list", "journal_mode", "page_count", "page_size", "query_only",
		"schema_version", "user_version":
		if argument == "" {
			return sqlite3.SQLITE_OK
		}
	}
	return sqlite3.SQLITE_DENY
}
