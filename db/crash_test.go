package db

import (
	"bufio"
	"context"
	"os/exec"
	"strings"
	"testing"
)

// writing starts a child that writes and waits until it has stored n runs.
func writing(t *testing.T, path string, n int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	c := child(t, "write", path)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range n {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), "stored") {
			t.Fatalf("the writer ended early: %q", lines.Text())
		}
	}
	return c, lines
}

// kill ends the child by SIGKILL and counts the lines it had still printed.
func kill(t *testing.T, c *exec.Cmd, lines *bufio.Scanner) (more int) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		more++
	}
	_ = c.Wait() // killed
	return more
}

func TestKilledWriterLeavesWholeRuns(t *testing.T) {
	ctx := context.Background()
	path := testPath(t)
	stored := 0
	for _, n := range []int{0, 1, 3, 8, 13} {
		c, lines := writing(t, path, n)
		stored += n + kill(t, c, lines)

		lock, err := Lock(path)
		if err != nil {
			t.Fatalf("the lock of a dead process: %v", err)
		}
		d := openAt(t, path)
		var integrity string
		if err := d.pool.QueryRowContext(ctx, `PRAGMA integrity_check`).Scan(&integrity); err != nil || integrity != "ok" {
			t.Fatalf("integrity check says %q, %v", integrity, err)
		}
		var ended, partial, stray int
		err = d.pool.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE state = 'ok'),
			count(*) FILTER (WHERE state = 'ok' AND ((SELECT count(*) FROM observations o WHERE o.run = runs.id) <> 4
				OR (SELECT count(*) FROM series s WHERE s.run = runs.id) <> 900
				OR (SELECT count(*) FROM artifacts a WHERE a.run = runs.id) <> 1)),
			count(*) FILTER (WHERE state <> 'ok' AND EXISTS (SELECT 1 FROM observations o WHERE o.run = runs.id))
			FROM runs`).Scan(&ended, &partial, &stray)
		if err != nil {
			t.Fatal(err)
		}
		// A run may be committed and not yet announced, never the reverse.
		if ended < stored || partial > 0 || stray > 0 {
			t.Errorf("%d runs announced, %d stored; %d of them partial; %d that did not end have values", stored, ended, partial, stray)
		}
		stored = ended
		if single, err := d.Close(ctx); err != nil || !single {
			t.Errorf("close: single %v, %v", single, err)
		}
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
	}
}

func TestReadersSeeAWriterAtWork(t *testing.T) {
	ctx := context.Background()
	path := testPath(t)
	c, lines := writing(t, path, 2)
	r := readAt(t, path)
	last := 0
	for range 20 {
		all, err := r.Sweeps(ctx)
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.LoadSweep(ctx, all[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		ok := 0
		for _, run := range s.Runs {
			if run.State == "ok" {
				ok++
				if len(run.Observations) != 3 {
					t.Fatalf("run %d is ok and has %d observations", run.ID, len(run.Observations))
				}
			}
		}
		if ok < last {
			t.Fatalf("%d runs were ok, now %d are", last, ok)
		}
		last = ok
		if !lines.Scan() { // the writer goes on
			t.Fatal("the writer ended")
		}
	}
	if last < 2 {
		t.Errorf("the reader saw %d runs", last)
	}
	kill(t, c, lines)
}
