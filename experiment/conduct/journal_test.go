package conduct_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/load"
)

// heard is what a generator tells before it is cut off: two slices, and the beginning of
// a line.
func heard(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	e := load.NewEncoder(&b)
	err := errors.Join(e.Hello("test"), e.Phase(experiment.PhaseMeasure, "", time.Unix(1, 0)),
		e.Slices(time.Unix(2, 0), []experiment.SeriesPoint{{Metric: "done", AtMS: 0, Value: 5}, {Metric: "done", AtMS: 50, Value: 7}}))
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString(`{"n":4,"type":"sli`)
	return b.Bytes()
}

// stored gives the slices and artifacts of a run.
func (s *stage) stored(run int64) (points []string, artifacts map[string]string) {
	s.t.Helper()
	artifacts = map[string]string{}
	s.query(fmt.Sprintf("select metric, at_ms, value from series where run = %d and service = '' order by at_ms", run), func(row []any) {
		points = append(points, fmt.Sprintf("%v at %v: %v", row...))
	})
	s.query(fmt.Sprintf("select service || '/' || name, size from artifacts where run = %d", run), func(row []any) {
		artifacts[row[0].(string)] = fmt.Sprint(row[1])
	})
	return points, artifacts
}

func (s *stage) query(text string, each func(row []any)) {
	s.t.Helper()
	r, err := db.OpenReadOnly(s.t.Context(), s.store.Path())
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Close()
	_, rows, err := r.Query(s.t.Context(), text)
	if err != nil {
		s.t.Fatal(err)
	}
	for row, err := range rows {
		if err != nil {
			s.t.Fatal(err)
		}
		each(row)
	}
}

// What a ceteris that was killed had heard of its run is kept with the run by the next
// one, and nothing stays beside the database.
func TestKilledConductorLeavesSlices(t *testing.T) {
	s := newStage(t)
	s.matrix.Repeat.Rounds = 1
	dir := filepath.Join(t.TempDir(), "slices")
	s.change = func(c *conduct.Conductor) { c.Journal = dir }
	s.until = time.Now().Add(-time.Hour) // planned, and no more
	planned := s.mustConduct().Sweep
	pending, err := s.store.Pending(t.Context(), planned)
	if err != nil {
		t.Fatal(err)
	}
	killed, err := s.store.BeginRun(t.Context(), pending[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cut := heard(t)
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.jsonl", killed.ID)), cut, 0o600); err != nil {
		t.Fatal(err)
	}
	s.until = time.Time{}
	s.mustConduct()
	s.wantStates(map[string]int{"ok": 4, "interrupted": 1})
	points, artifacts := s.stored(killed.ID)
	if diff := cmp.Diff([]string{"done at 0: 5", "done at 50: 7"}, points); diff != "" {
		t.Errorf("slices of the interrupted run (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"generator/log": fmt.Sprint(len(cut))}, artifacts); diff != "" {
		t.Errorf("artifacts of the interrupted run (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory stays: %v", err)
	}
}

// lookingReader looks at the directory when a run has been read.
type lookingReader struct {
	load.Reader
	look func()
}

func (l lookingReader) Read(ctx context.Context, r io.Reader, on func(experiment.LoadEvent)) (experiment.LoadResult, error) {
	out, err := l.Reader.Read(ctx, r, on)
	l.look()
	return out, err
}

// While a run is under way its output is in a file; that of a run of an earlier database
// in the same place is not taken for it.
func TestJournalIsOfTheRunUnderWay(t *testing.T) {
	s := newStage(t)
	s.matrix.Repeat.Rounds = 1
	dir := filepath.Join(t.TempDir(), "slices")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "2.jsonl"), []byte("stale\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var seen []string
	s.reader = lookingReader{look: func() {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			body, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.Split(bytes.TrimSpace(body), []byte("\n"))
			seen = append(seen, fmt.Sprintf("%s ends: %t", f.Name(), bytes.Contains(lines[len(lines)-1], []byte("sha256"))))
		}
	}}
	s.change = func(c *conduct.Conductor) { c.Journal = dir }
	s.mustConduct()
	// The stale one is there until its number comes.
	if diff := cmp.Diff([]string{"1.jsonl ends: true", "2.jsonl ends: false", "2.jsonl ends: true", "3.jsonl ends: true", "4.jsonl ends: true"}, seen); diff != "" {
		t.Errorf("files while runs are under way (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory stays: %v", err)
	}
}

// What cannot be written down is measured all the same.
func TestJournalThatCannotBeWritten(t *testing.T) {
	s := newStage(t)
	s.matrix.Repeat.Rounds = 1
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.change = func(c *conduct.Conductor) { c.Journal = file }
	s.mustConduct()
	s.wantStates(map[string]int{"ok": 4})
}

// The slices of an attempt that gives no result are kept with it, and so is the output.
func TestSlicesOfAttemptsWithoutResult(t *testing.T) {
	s := newStage(t)
	s.matrix.Repeat.Rounds = 1
	first := true
	cut := heard(t)
	s.reader = substitute{func() (io.Reader, error) {
		if first {
			first = false
			return bytes.NewReader(cut), errors.New("connection reset by the engine")
		}
		return nil, nil
	}}
	s.mustConduct()
	s.wantStates(map[string]int{"ok": 4, "failed:infrastructure (connection reset by the engine)": 1})
	var run int64
	s.query("select id from runs where state = 'failed:infrastructure'", func(row []any) { run = row[0].(int64) })
	points, artifacts := s.stored(run)
	if diff := cmp.Diff([]string{"done at 0: 5", "done at 50: 7"}, points); diff != "" {
		t.Errorf("slices of the failed run (-want +got):\n%s", diff)
	}
	if artifacts["generator/log"] == "" {
		t.Errorf("artifacts of the failed run: %v", artifacts)
	}
}

// substitute reads something else than the output of the generator, if there is any, and
// fails then.
type substitute struct {
	next func() (io.Reader, error)
}

func (s substitute) Read(ctx context.Context, r io.Reader, on func(experiment.LoadEvent)) (experiment.LoadResult, error) {
	other, broken := s.next()
	if other == nil {
		return load.Reader{}.Read(ctx, r, on)
	}
	out, _ := load.Reader{}.Read(ctx, other, on)
	return out, broken
}
