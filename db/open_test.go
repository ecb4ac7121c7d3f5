package db

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

func TestOpenRefuses(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	file := func(name, body string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	made := func(name string, statements ...string) string {
		path := filepath.Join(dir, name)
		p := pool(path, "", false)
		defer p.Close()
		for _, s := range statements {
			if _, err := p.ExecContext(ctx, s); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	newer := filepath.Join(dir, "newer.db")
	d := openAt(t, newer)
	if _, err := d.pool.ExecContext(ctx, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path, says string
		is               error
		reader           bool // refused to readers too
	}{
		{name: "no path", path: "", says: "the database has no path", reader: true},
		{name: "a directory", path: dir, says: "is a directory, not a file", reader: true},
		{name: "no directory", path: filepath.Join(dir, "none", "x.db"), says: "there is no directory " + filepath.Join(dir, "none"), reader: true},
		{name: "a device", path: "/dev/null", says: "is no regular file"},
		{name: "text", path: file("text.db", strings.Repeat("no database\n", 100)), says: "text.db is not a SQLite database", reader: true},
		{name: "another program's tables", path: made("foreign.db", `CREATE TABLE t (x)`), says: "foreign.db is the SQLite database of another program", reader: true},
		{name: "another program's id", path: made("id.db", `PRAGMA application_id = 7`), says: "is the SQLite database of another program", reader: true},
		{name: "newer", path: newer, says: "its schema is version 9999", is: experiment.ErrSchemaNewer, reader: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(ctx, c.path, Options{})
			checkRefusal(t, err, c.says, c.is)
			if c.reader {
				_, err = OpenReadOnly(ctx, c.path)
				checkRefusal(t, err, c.says, c.is)
			}
		})
	}
}

// TestWrongPath: another path is meant, or else something is broken.
func TestWrongPath(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	damaged := filepath.Join(dir, "damaged.db")
	d := openAt(t, damaged)
	begin(t, d, 1)
	if _, err := d.Close(ctx); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, append(whole[:4096:4096], make([]byte, len(whole)-4096)...), 0o600); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop.db")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		filepath.Join(dir, "none.db"): true, filepath.Join(dir, "none", "x.db"): true, filepath.Join(damaged, "x.db"): true,
		dir: true, empty: true, damaged: false, loop: false, filepath.Join(dir, strings.Repeat("x", 300)): false,
	} {
		_, err := OpenReadOnly(ctx, path)
		if _, wrong := errors.AsType[*WrongPathError](err); err == nil || wrong != want {
			t.Errorf("%s: got %v, want it to be of the path: %v", path, err, want)
		}
	}
}

func checkRefusal(t *testing.T, err error, says string, is error) {
	t.Helper()
	switch {
	case err == nil:
		t.Error("no error")
	case !strings.Contains(err.Error(), says):
		t.Errorf("%q does not say %q", err, says)
	case strings.Contains(err.Error(), "\n"):
		t.Errorf("more than one line: %q", err)
	case is != nil && !errors.Is(err, is):
		t.Errorf("%v does not wrap %v", err, is)
	}
}

func TestForeignFileStaysUntouched(t *testing.T) {
	ctx := context.Background()
	path := testPath(t)
	p := pool(path, "", false)
	if _, err := p.ExecContext(ctx, `CREATE TABLE t (x)`); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if _, err := Open(ctx, path, Options{}); err == nil {
		t.Fatal("no error")
	}
	p = pool(path, "", false)
	defer p.Close()
	var tables string
	if err := p.QueryRowContext(ctx, `SELECT group_concat(name) FROM sqlite_master`).Scan(&tables); err != nil || tables != "t" {
		t.Errorf("it now holds %s, %v", tables, err)
	}
}

func TestPathsWithSpecialCharacters(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"a b.db", "what?.db", "50%25.db", "no#1.db", "a&mode=memory.db", "file:x.db", ":memory:", "ü.db", "plus+.db"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			d := openAt(t, path)
			begin(t, d, 1)
			if _, err := d.Close(ctx); err != nil {
				t.Fatal(err)
			}
			entries, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(entries) != 1 || entries[0].Name() != name {
				t.Fatalf("the directory holds %v, %v", entries, err)
			}
			if all, err := readAt(t, path).Sweeps(ctx); err != nil || len(all) != 1 {
				t.Errorf("%d sweeps, %v", len(all), err)
			}
		})
	}
}

func TestMigratingAgainChangesNothing(t *testing.T) {
	ctx := context.Background()
	path := testPath(t)
	var ids, schemas []string
	for range 2 {
		d := openAt(t, path)
		var schema string
		if err := d.pool.QueryRowContext(ctx, `SELECT group_concat(sql, ';') FROM sqlite_master`).Scan(&schema); err != nil {
			t.Fatal(err)
		}
		ids, schemas = append(ids, d.ID()), append(schemas, schema)
		if single, err := d.Close(ctx); err != nil || !single {
			t.Fatalf("close: single %v, %v", single, err)
		}
	}
	if ids[0] != ids[1] || len(ids[0]) != 16 {
		t.Errorf("ids %q", ids)
	}
	if schemas[0] != schemas[1] {
		t.Error("the schema changed")
	}
	other := openAt(t, filepath.Join(t.TempDir(), "other.db"))
	if other.ID() == ids[0] {
		t.Error("two files have one id")
	}
}

func TestCreationThatWasCutShort(t *testing.T) {
	path := testPath(t)
	p := pool(path, "", false)
	defer p.Close()
	if _, err := p.ExecContext(t.Context(), `CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
		INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)`); err != nil {
		t.Fatal(err)
	}
	_, err := OpenReadOnly(t.Context(), path)
	checkRefusal(t, err, "it holds nothing yet", nil)
	begin(t, openAt(t, path), 1)
}

func TestPragmasOnEveryConnection(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	var all []*sql.Conn
	for range 4 {
		c, err := d.pool.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		all = append(all, c)
	}
	for i, c := range all {
		for pragma, want := range map[string]string{"foreign_keys": "1", "journal_mode": "wal", "busy_timeout": "5000", "synchronous": "2", "application_id": "1129599571"} {
			var got string
			if err := c.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
				t.Errorf("connection %d: %s is %s, want %s, %v", i, pragma, got, want, err)
			}
		}
		if _, err := c.ExecContext(ctx, `INSERT INTO cell_settings (cell, position, factor, level) VALUES (99, 0, 'x', 'y')`); err == nil {
			t.Errorf("connection %d: a row without its parent was accepted", i)
		}
	}
}

func TestUnwritableDirectory(t *testing.T) {
	path := asOther(t)
	if err := os.Chmod(filepath.Dir(path), 0o555); err != nil {
		t.Fatal(err)
	}
	out, err := childAsOther(t, "open", path)
	if err == nil || !strings.Contains(out, "may not be written by this user") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestMissingDatabaseToReaders(t *testing.T) {
	_, err := OpenReadOnly(t.Context(), filepath.Join(t.TempDir(), "none.db"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "there is no database") {
		t.Errorf("%v", err)
	}
}
