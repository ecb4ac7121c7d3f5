package db

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ceteris/ceteris/experiment"
)

// WrongPathError says that a path leads to no database of ours, or none that this
// ceteris can read: nothing is broken, another path is meant.
type WrongPathError struct{ Err error }

func (e *WrongPathError) Error() string { return e.Err.Error() }

// Unwrap gives what is there instead.
func (e *WrongPathError) Unwrap() error { return e.Err }

func wrongPath(format string, a ...any) error { return &WrongPathError{fmt.Errorf(format, a...)} }

// realPath makes a path absolute and follows symbolic links, so that one file
// has one lock and one log, whatever it is called. The file need not exist, its
// directory must.
func realPath(path string) (string, error) {
	if path == "" {
		return "", wrongPath("the database has no path")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("database %s: %w", path, err)
	}
	if target, err := filepath.EvalSymlinks(abs); err == nil {
		return target, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", wrongPath("database %s: there is no directory %s", path, filepath.Dir(abs))
	case err != nil:
		return "", fmt.Errorf("database %s: %w", path, err)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "", wrongPath("database %s: %s is no directory", path, dir)
	}
	return filepath.Join(dir, filepath.Base(abs)), nil
}

const accessWrite = 2 // W_OK of access(2)

// checkWritable answers in words what SQLite would answer with "unable to open
// database file".
func checkWritable(path string) error {
	info, err := os.Stat(path)
	exists := err == nil
	dir := filepath.Dir(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("database %s: %w", path, err)
	case exists && info.IsDir():
		return wrongPath("database %s is a directory, not a file", path)
	case exists && !info.Mode().IsRegular():
		return wrongPath("database %s is no regular file", path)
	case exists && syscall.Access(path, accessWrite) != nil:
		return fmt.Errorf("database %s may not be written by this user: %w", path, fs.ErrPermission)
	case syscall.Access(dir, accessWrite) != nil:
		return fmt.Errorf("database %s: directory %s may not be written by this user (the log stands beside the database): %w", path, dir, fs.ErrPermission)
	}
	if name := networkFilesystem(dir); name != "" {
		return experiment.WithHint(fmt.Errorf("database %s lies on a network filesystem (%s), on which locks cannot be trusted: %w", path, name, experiment.ErrCannotRun),
			"keep it on a local disk (--db PATH)")
	}
	return nil
}

// explain turns the answers of SQLite that concern the file as a whole into
// sentences that name it.
func explain(path string, err error) error {
	switch f := faultOf(err); {
	case f == faultNoSQLite:
		return wrongPath("%s is not a SQLite database: %w", path, err)
	case f == faultDamaged:
		return fmt.Errorf("database %s is damaged: %w", path, err)
	case f == faultBusy:
		return experiment.WithHint(fmt.Errorf("database %s: %w, or held by another program: %w", path, experiment.ErrLocked, err),
			"end the program that reads or writes it, and try again")
	case diskFull(err):
		return outOfSpace(path, err)
	case errors.Is(err, errForeign):
		return wrongPath("%s %w", path, err)
	case errors.Is(err, errEmpty), errors.Is(err, experiment.ErrSchemaNewer):
		return wrongPath("database %s: %w", path, err)
	default:
		return fmt.Errorf("database %s: %w", path, err)
	}
}

// outOfSpace makes a full disk a reason not to measure.
func outOfSpace(path string, err error) error {
	return experiment.WithHint(fmt.Errorf("database %s: %w: %w: %w", path, experiment.ErrDiskFull, err, experiment.ErrCannotRun),
		"make room, and run again: what was stored is kept")
}

// diskFull reports whether there was no room, or no more than a quota allows.
func diskFull(err error) bool {
	return faultOf(err) == faultDiskFull || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
