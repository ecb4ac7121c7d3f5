package conduct

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/ceteris/ceteris/experiment"
)

// journal is the directory in which the output of the generator is written down as it
// comes, a file for each run under way: what a ceteris that is killed has heard is kept
// with the interrupted run by the next one. Empty: nothing is written down.
type journal string

func (j journal) path(run int64) string {
	return filepath.Join(string(j), fmt.Sprintf("%d.jsonl", run))
}

// drop removes what was written down of a run, and the directory with the last of them.
func (j journal) drop(run int64) error {
	if j == "" {
		return nil
	}
	if err := os.Remove(j.path(run)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove what was written down of run %d: %w", run, err)
	}
	_ = os.Remove(string(j)) // refused where others are still in it
	return nil
}

// follow writes down the output of a run while it is read. What cannot be written is
// read nevertheless.
func (j journal) follow(run int64, out io.ReadCloser, log *slog.Logger) io.ReadCloser {
	if j == "" {
		return out
	}
	err := os.MkdirAll(string(j), 0o700)
	if err == nil {
		var file *os.File
		if file, err = os.OpenFile(j.path(run), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err == nil {
			return &followed{ReadCloser: out, file: file, log: log}
		}
	}
	log.Warn("the slices are not written down", "run", run, "err", err)
	return out
}

// followed is an output that is written down.
type followed struct {
	io.ReadCloser
	file  *os.File
	log   *slog.Logger
	fault bool
}

// Read implements io.Reader.
func (f *followed) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if n > 0 && !f.fault {
		_, fault := f.file.Write(p[:n])
		if f.fault = fault != nil; f.fault && !errors.Is(fault, os.ErrClosed) {
			f.log.Warn("the slices are written down no further", "err", fault)
		}
	}
	return n, err
}

// Close implements io.Closer. The file stays as long as nothing of the run is stored.
func (f *followed) Close() error { return errors.Join(f.ReadCloser.Close(), f.file.Close()) }

// salvage gives what was written down of runs that were under way when their ceteris was
// killed. It is little or nothing where the load had not begun.
func (s *sweep) salvage(ctx context.Context, runs []int64) []experiment.Outcome {
	var all []experiment.Outcome
	for _, run := range runs {
		if o, err := s.salvageOne(ctx, run); err == nil {
			all = append(all, o)
		} else if !errors.Is(err, fs.ErrNotExist) {
			s.Log.Warn("what was heard of an interrupted run is lost", "run", run, "err", err)
		}
	}
	return all
}

func (s *sweep) salvageOne(ctx context.Context, run int64) (experiment.Outcome, error) {
	o := experiment.Outcome{Run: experiment.Run{ID: run}}
	if s.Journal == "" {
		return o, fs.ErrNotExist
	}
	file, err := os.Open(journal(s.Journal).path(run))
	if err != nil {
		return o, err
	}
	defer file.Close()
	var kept endsKeeper
	whole := io.TeeReader(file, &kept)
	heard, err := s.Reader.Read(ctx, whole, nil) // it breaks off where ceteris was killed
	s.Log.Debug("what was heard of an interrupted run", "run", run, "points", len(heard.Series), "until", err)
	if _, err := io.Copy(io.Discard, whole); err != nil {
		return o, err
	}
	o.Series = heard.Series
	if ends := kept.ends(); ends.Full > 0 {
		o.Artifacts = []experiment.Artifact{{Service: experiment.GeneratorName, Name: "log", Body: joined(ends), Full: ends.Full}}
	}
	s.sound(&o)
	s.secrets.mask(&o)
	return o, nil
}

// forget removes what was written down of runs whose end is stored.
func (s *sweep) forget(runs ...int64) {
	for _, run := range runs {
		if err := journal(s.Journal).drop(run); err != nil {
			s.Log.Warn("a file stays beside the database", "err", err)
		}
	}
}
