package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// incompressible makes the outcome of a run larger by about so many bytes.
func incompressible(o experiment.Outcome, size int) experiment.Outcome {
	rng := rand.New(rand.NewPCG(uint64(o.Run.ID), 1))
	body := make([]byte, size)
	for i := range body {
		body[i] = byte(rng.Uint32())
	}
	o.Artifacts = append(o.Artifacts, experiment.Artifact{Service: "app", Name: "dump", Body: body})
	return o
}

// checkFull: one clear error that says what is the matter and what to do.
func checkFull(t *testing.T, err error) {
	t.Helper()
	checkRefusal(t, err, "the disk is full", experiment.ErrDiskFull)
	checkRefusal(t, err, "the disk is full", experiment.ErrCannotRun)
	if hint := new(experiment.HintError); !errors.As(err, &hint) || !strings.Contains(hint.Hint, "make room") {
		t.Errorf("%v has the hint %+v", err, hint)
	}
}

// checkUntouched: the run is under way as before, and nothing of it is stored.
func checkUntouched(t *testing.T, d *DB, run int64) {
	t.Helper()
	got := texts(t, d, fmt.Sprintf(`SELECT state || (SELECT count(*) FROM observations WHERE run = r.id) || (SELECT count(*) FROM series_points WHERE run = r.id)
		|| (SELECT count(*) FROM histograms WHERE run = r.id) || (SELECT count(*) FROM artifacts WHERE run = r.id) || (SELECT integrity_check FROM pragma_integrity_check)
		FROM runs r WHERE id = %d`, run))
	if len(got) != 1 || got[0] != "running0000ok" {
		t.Errorf("run %d: %q", run, got)
	}
}

// TestDiskFull has a database that may not grow, as on a full disk, wherever in the
// end of a run that strikes.
func TestDiskFull(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	head, _ := begin(t, d, 1)
	run := beginRun(t, d, pendingRuns(t, d, head.ID)[0])
	d.pool.SetMaxOpenConns(1) // the limit belongs to a connection
	mayGrow := func(pages int) {
		t.Helper()
		var have int
		if err := d.pool.QueryRowContext(ctx, `PRAGMA page_count`).Scan(&have); err != nil {
			t.Fatal(err)
		}
		if _, err := d.pool.ExecContext(ctx, fmt.Sprintf(`PRAGMA max_page_count = %d`, have+pages)); err != nil {
			t.Fatal(err)
		}
	}
	o := incompressible(testOutcome(run, 500), 40_000)
	for pages := range 12 {
		mayGrow(pages)
		checkFull(t, d.EndRun(ctx, o, nil))
		checkUntouched(t, d, run.ID)
	}
	mayGrow(1000)
	if err := d.EndRun(ctx, o, nil); err != nil {
		t.Errorf("with room again: %v", err)
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		checkFull(t, explain("x.db", &fs.PathError{Op: "write", Path: "x", Err: full}))
	}
}

// smallDisk gives a directory on a file system of its own.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes))
	if errors.Is(err, syscall.EPERM) {
		t.Skipf("this user may not mount a small file system: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullFileSystem fills a real one, sees that all that was stored is there, makes
// room, and goes on.
func TestFullFileSystem(t *testing.T) {
	ctx := context.Background()
	dir := smallDisk(t, 20<<20)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "test.db")
	d, err := Open(ctx, path, Options{Now: testTime})
	if err != nil {
		t.Fatal(err)
	}
	head, _ := begin(t, d, 100)
	stored := int64(0)
	var lost experiment.Run
	for _, run := range pendingRuns(t, d, head.ID) {
		if run, err = d.BeginRun(ctx, run); err != nil {
			break
		}
		lost = run
		if err = d.EndRun(ctx, incompressible(testOutcome(run, 250), 150_000), nil); err != nil {
			checkUntouched(t, d, run.ID)
			break
		}
		stored++
		if err = d.Checkpoint(ctx); err != nil {
			break
		}
	}
	checkFull(t, err)
	if _, err := d.Close(ctx); err != nil { // with nothing left the log may have to stay
		checkFull(t, err)
	}
	r, err := OpenReadOnly(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.Sweeps(ctx)
	if err != nil || stored < 20 || all[0].OK != int(stored) {
		t.Errorf("%d runs were stored, %+v are there, %v", stored, all, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if d, err = Open(ctx, path, Options{Now: testTime}); err != nil {
		t.Fatal(err)
	}
	if err := d.Reschedule(ctx, head.ID, experiment.Reschedule{Interrupted: stillRunning(t, d, head.ID)}); err != nil {
		t.Fatal(err)
	}
	next := pendingRuns(t, d, head.ID)[0]
	if next = beginRun(t, d, next); next.Seq < lost.Seq {
		t.Errorf("the executed order went back from %d to %d", lost.Seq, next.Seq)
	}
	if err := d.EndRun(ctx, incompressible(testOutcome(next, 250), 150_000), nil); err != nil {
		t.Error(err)
	}
	if check := texts(t, d, `PRAGMA integrity_check`); len(check) != 1 || check[0] != "ok" {
		t.Errorf("integrity check says %q", check)
	}
	if single, err := d.Close(ctx); err != nil || !single {
		t.Errorf("close: single %v, %v", single, err)
	}
}

func stillRunning(t *testing.T, d *DB, sweep int64) []int64 {
	t.Helper()
	var ids []int64
	for _, r := range allRuns(t, d, sweep) {
		if r.State == experiment.StateRunning {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// TestLogStaysSmall: the log is folded in while runs are stored, so that it does not
// grow with them.
func TestLogStaysSmall(t *testing.T) {
	ctx := context.Background()
	path := testPath(t)
	d := openAt(t, path)
	head, _ := begin(t, d, 20)
	for _, run := range pendingRuns(t, d, head.ID) {
		if err := d.EndRun(ctx, incompressible(testOutcome(beginRun(t, d, run), 2), 300_000), nil); err != nil {
			t.Fatal(err)
		}
	}
	const most = 8 << 20 // the log is folded in from 4 MiB on, by whole transactions
	if file, log := fileSize(t, path), fileSize(t, path+"-wal"); file < 20<<20 || log > most {
		t.Errorf("the file has %d B and the log %d B, more than %d", file, log, most)
	}
}
