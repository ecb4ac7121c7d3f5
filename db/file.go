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

// realPath makes a path absolute and follows symbolic links, so that one file
// has one lock and one log, whatever it is called. The file need not exist, its
// directory must.
func realPath(path string) (string, error) {
	if path == "" {
		return "", errors.New("the database has no path")
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
		return "", fmt.Errorf("database %s: there is no directory %s", path, filepath.Dir(abs))
	case err != nil:
		return "", fmt.Errorf("database %s: %w", path, err)
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
		return fmt.Errorf("database %s is a directory, not a file", path)
	case exists && !info.Mode().IsRegular():
		return fmt.Errorf("database %s is no regular file", path)
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
	switch faultOf(err) {
	case faultNoSQLite:
		return fmt.Errorf("%s is not a SQLite database: %w", path, err)
	case faultDamaged:
		return fmt.Errorf("database %s is damaged: %w", path, err)
	case faultDiskFull:
		return fmt.Errorf("database %s: the disk is full: %w", path, err)
	case faultBusy:
		return experiment.WithHint(fmt.Errorf("database %s: %w, or held by another program: %w", path, experiment.ErrLocked, err),
			"end the program that reads or writes it, and try again")
	default:
		if errors.Is(err, errForeign) {
			return fmt.Errorf("%s %w", path, err)
		}
		return fmt.Errorf("database %s: %w", path, err)
	}
}
