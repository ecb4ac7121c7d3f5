package db

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A file in WAL mode cannot be opened from a directory in which its -wal and
// -shm files are missing and may not be made: SQLite then knows no way to notice
// a writer. Nobody writes at that moment (a writer would have made them), so a
// private copy is a consistent state. The immutable flag is never used: it would
// go on reading when somebody does begin to write.

const (
	copyName     = "copy.db"
	copyAttempts = 5
)

// needsCopy reports whether the file could not be opened for that reason.
func needsCopy(path string, err error) bool {
	if f := faultOf(err); f != faultCannotOpen && f != faultReadOnly {
		return false
	}
	return syscall.Access(filepath.Dir(path), accessWrite) != nil
}

// copyDatabase copies the file and its log, if there is one, into a new
// directory, and starts over when either changed meanwhile.
func copyDatabase(path string) (string, error) {
	dir, err := os.MkdirTemp("", "ceteris-read-")
	if err != nil {
		return "", fmt.Errorf("copy for reading: %w", err)
	}
	for range copyAttempts {
		before := fingerprint(path)
		if err := errors.Join(
			copyFile(path, filepath.Join(dir, copyName)),
			copyFile(path+"-wal", filepath.Join(dir, copyName+"-wal")),
		); err != nil {
			return "", errors.Join(fmt.Errorf("copy for reading: %w", err), os.RemoveAll(dir))
		}
		if fingerprint(path) == before {
			return dir, nil
		}
	}
	return "", errors.Join(errors.New("copy for reading: it changes all the time"), os.RemoveAll(dir))
}

// copyFile copies a file; where there is none, there is none afterwards.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.Remove(to)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// state of a file and its log: size and time of the last change, zero if absent.
type state struct {
	size, logSize       int64
	changed, logChanged time.Time
}

func fingerprint(path string) state {
	var s state
	if i, err := os.Stat(path); err == nil {
		s.size, s.changed = i.Size(), i.ModTime()
	}
	if i, err := os.Stat(path + "-wal"); err == nil {
		s.logSize, s.logChanged = i.Size(), i.ModTime()
	}
	return s
}
