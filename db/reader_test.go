package db

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// asOther gives the path of a database in a directory that any user may pass.
func asOther(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	for _, dir := range []string{filepath.Dir(base), base} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(base, "d")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	path := filepath.Join(dir, "test.db")
	if err := os.Mkdir(otherTemp(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(otherTemp(path), 0o777); err != nil { // whatever the umask
		t.Fatal(err)
	}
	return path
}

// otherTemp is the directory for temporary files of childAsOther.
func otherTemp(path string) string { return filepath.Join(filepath.Dir(filepath.Dir(path)), "tmp") }

// childAsOther runs a child that is bound by the permissions of files: root is
// not, so it becomes nobody.
func childAsOther(t *testing.T, name, path string) (string, error) {
	t.Helper()
	c := child(t, name, path)
	c.Env = append(c.Env, "TMPDIR="+otherTemp(path))
	if os.Geteuid() == 0 {
		exe := filepath.Join(filepath.Dir(filepath.Dir(path)), "exe")
		if err := keep(c.Path, exe); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(exe, 0o755); err != nil {
			t.Fatal(err)
		}
		c.Path, c.Dir = exe, "/"
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := c.CombinedOutput()
	return string(out), err
}

func TestReaderRefusesAllButReading(t *testing.T) {
	ctx := context.Background()
	path := testPath(t)
	d := openAt(t, path)
	begin(t, d, 1)
	r := readAt(t, path)
	other := filepath.Join(t.TempDir(), "other.db")
	for _, q := range []string{
		"INSERT INTO sweeps DEFAULT VALUES",
		"UPDATE sweeps SET name = 'x'",
		"DELETE FROM runs",
		"DROP TABLE runs",
		"CREATE TABLE t (x)",
		"CREATE TEMP TABLE t (x)",
		"CREATE VIEW v AS SELECT 1",
		"ALTER TABLE runs ADD COLUMN x",
		"REINDEX",
		"ANALYZE",
		"VACUUM",
		"VACUUM INTO '" + other + "'",
		"ATTACH '" + other + "' AS o",
		"ATTACH ':memory:' AS o",
		"DETACH main",
		"PRAGMA query_only = 0",
		"PRAGMA query_only(0)",
		"PRAGMA QUERY_ONLY = off",
		"PRAGMA query_only = 0; DELETE FROM runs",
		"SELECT 1; DELETE FROM runs",
		"PRAGMA journal_mode = DELETE",
		"PRAGMA wal_checkpoint(TRUNCATE)",
		"PRAGMA writable_schema = 1",
		"PRAGMA temp_store_directory = '/tmp'",
		"PRAGMA application_id = 1",
		"PRAGMA user_version = 1",
		"PRAGMA optimize",
		"SELECT * FROM pragma_journal_mode('delete')",
		"SELECT * FROM pragma_query_only(0)",
		"PRAGMA main.query_only = 0",
		"EXPLAIN DELETE FROM runs",
		"SELECT load_extension('x')",
		"SELECT writefile('" + other + "', 'x')",
		"CREATE VIRTUAL TABLE t USING fts3(x)",
		"SAVEPOINT s",
		"WITH x AS (SELECT 1) DELETE FROM runs",
		"REPLACE INTO identity (one, id, created) VALUES (1, 'x', 0)",
	} {
		if err := readAll(ctx, r, q); err == nil {
			t.Errorf("%s: not refused", q)
		}
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("a file was written")
	}
	for _, q := range []string{
		"SELECT * FROM confidence_intervals",
		"EXPLAIN QUERY PLAN SELECT * FROM series",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n",
		"VALUES (1), (2)",
		"SELECT value FROM json_each('[1,2]')",
		"SELECT name FROM pragma_table_info('runs')",
		"SELECT name, row_number() OVER (ORDER BY id) FROM sweeps",
		"PRAGMA table_info(runs)",
		"PRAGMA integrity_check",
		"PRAGMA query_only",
	} {
		if err := readAll(ctx, r, q); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	if all, err := d.Runs(ctx, 1); err != nil || len(all) != 5 {
		t.Errorf("%d runs are left, %v", len(all), err)
	}
}

// TestWritingStaysOffWithoutTheAuthorizer takes one wall away: query_only can be
// switched off then, and the file still cannot be written.
func TestWritingStaysOffWithoutTheAuthorizer(t *testing.T) {
	ctx := context.Background()
	path := testPath(t)
	begin(t, openAt(t, path), 1)
	p := pool(path, readPragmas, false)
	defer p.Close()
	p.SetMaxOpenConns(1)
	if _, err := p.ExecContext(ctx, "PRAGMA query_only = 0"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.ExecContext(ctx, "DELETE FROM runs"); err == nil || !strings.Contains(err.Error(), "readonly") {
		t.Errorf("a file opened by mode=ro was written: %v", err)
	}
}

func readAll(ctx context.Context, r *Reader, q string) error {
	_, rows, err := r.Query(ctx, q)
	if err != nil {
		return err
	}
	for _, err := range rows {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestRefusalHasAHint(t *testing.T) {
	path := testPath(t)
	begin(t, openAt(t, path), 1)
	err := readAll(t.Context(), readAt(t, path), "DELETE FROM runs")
	var hint *experiment.HintError
	if !errors.As(err, &hint) || !strings.Contains(hint.Hint, "SELECT") {
		t.Errorf("%v", err)
	}
}

func TestQueryGivesColumnsAndValues(t *testing.T) {
	path := testPath(t)
	begin(t, openAt(t, path), 1)
	columns, rows, err := readAt(t, path).Query(t.Context(), "SELECT 1 AS a, 'x' AS b, 1.5 AS c, NULL AS d UNION ALL SELECT 2, 'y', ?, 0", 2.5)
	if err != nil || strings.Join(columns, " ") != "a b c d" {
		t.Fatalf("%v, %v", columns, err)
	}
	var got [][]any
	for row, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, row)
	}
	if len(got) != 2 || got[0][0] != int64(1) || got[0][1] != "x" || got[0][2] != 1.5 || got[0][3] != nil || got[1][2] != 2.5 {
		t.Errorf("%v", got)
	}
}

// whileReading calls do while a statement of r has given one row and is not over.
func whileReading(t *testing.T, r *Reader, do func()) {
	t.Helper()
	_, rows, err := r.Query(t.Context(), "SELECT id FROM runs")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		do()
		return
	}
	t.Fatal("there are no rows")
}

func TestCloseWhileARowIsRead(t *testing.T) {
	ctx := context.Background()
	path := testPath(t)
	d := openAt(t, path)
	begin(t, d, 1)
	r := readAt(t, path)
	whileReading(t, r, func() {
		single, err := d.Close(ctx)
		if err != nil {
			t.Fatalf("close: %v", err)
		}
		if single {
			t.Error("the reader still holds the log")
		}
	})
	// The next clean end finds nobody and folds the log in.
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if single, err := openAt(t, path).Close(ctx); err != nil || !single {
		t.Errorf("close: single %v, %v", single, err)
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Stat(path + suffix); err == nil {
			t.Errorf("%s is left", suffix)
		}
	}
}

// TestWriterFindsTheFileHeld: a statement that is being read while the file is
// out of WAL mode keeps the writer out, which then says so.
func TestWriterFindsTheFileHeld(t *testing.T) {
	ctx := context.Background()
	path := testPath(t)
	d := openAt(t, path)
	begin(t, d, 1)
	if single, err := d.Close(ctx); err != nil || !single {
		t.Fatalf("close: single %v, %v", single, err)
	}
	r := readAt(t, path)
	whileReading(t, r, func() {
		_, err := Open(ctx, path, Options{})
		checkRefusal(t, err, "held by another program", experiment.ErrLocked)
	})
	// The reader, idle now, follows the file into WAL mode.
	begin(t, openAt(t, path), 2)
	if all, err := r.Sweeps(ctx); err != nil || all[0].Pending != 10 || all[0].Replaced != 5 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestReadingWhatAnotherUserLeft: every form in which a database may lie in a
// directory that the reader may not write.
func TestReadingWhatAnotherUserLeft(t *testing.T) {
	ctx := context.Background()
	path := asOther(t)
	source := filepath.Join(t.TempDir(), "source.db")
	d := openAt(t, source)
	begin(t, d, 1)
	parts := map[string][]string{
		"log and index": {"", "-wal", "-shm"},
		"log alone":     {"", "-wal"},
	}
	for name, suffixes := range parts {
		t.Run(name, func(t *testing.T) { readOthers(t, source, path, suffixes) })
	}
	if _, err := d.pool.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	t.Run("file alone in WAL mode", func(t *testing.T) { readOthers(t, source, path, []string{""}) })
	if _, err := d.Close(ctx); err != nil {
		t.Fatal(err)
	}
	t.Run("after a clean end", func(t *testing.T) { readOthers(t, source, path, []string{""}) })
}

func readOthers(t *testing.T, source, path string, suffixes []string) {
	t.Helper()
	dir := filepath.Dir(path)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(path + suffix) // may not be there
	}
	for _, suffix := range suffixes {
		if err := keep(source+suffix, path+suffix); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path+suffix, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	before := digest(t, dir)
	out, err := childAsOther(t, "read", path)
	if err != nil || !strings.HasPrefix(out, "sweeps 1 ") {
		t.Errorf("the reader says %q, %v", out, err)
	}
	t.Log(strings.TrimSpace(out))
	if after := digest(t, dir); after != before {
		t.Errorf("reading changed the directory: %s, now %s", before, after)
	}
	if left, err := os.ReadDir(otherTemp(path)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// digest names the files of a directory with their contents.
func digest(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(e.Name() + " " + experiment.HashJSON(body)[:8] + "; ")
	}
	return b.String()
}
