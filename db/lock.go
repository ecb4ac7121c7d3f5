package db

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/ceteris/ceteris/experiment"
)

// FileLock is the right to write a database. The kernel gives it up when its
// process dies, however it dies.
type FileLock struct{ file *os.File }

// Lock takes the lock of the database at path: an advisory lock on path.lock,
// in which the process id of its holder stands. The database need not exist. If
// another holds it, the error wraps experiment.ErrLocked and names that process.
func Lock(path string) (*FileLock, error) {
	path, err := realPath(path)
	if err != nil {
		return nil, err
	}
	if err := checkWritable(path); err != nil {
		return nil, err
	}
	name := path + ".lock"
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
		if diskFull(err) {
			return nil, outOfSpace(path, err)
		}
		if err != nil {
			return nil, fmt.Errorf("lock database %s: %w", path, err)
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			holder, _ := io.ReadAll(io.LimitReader(f, 64))
			f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, locked(path, string(holder))
			}
			return nil, fmt.Errorf("lock database %s: %w", path, err)
		}
		if !current(f, name) { // removed by its holder between open and lock
			f.Close()
			continue
		}
		if err := sign(f); diskFull(err) {
			return nil, errors.Join(outOfSpace(path, err), os.Remove(name), f.Close())
		} else if err != nil {
			return nil, errors.Join(fmt.Errorf("lock database %s: %w", path, err), f.Close())
		}
		return &FileLock{file: f}, nil
	}
}

func locked(path, holder string) error {
	who := "another process"
	if pid, err := strconv.Atoi(strings.TrimSpace(holder)); err == nil {
		who = fmt.Sprintf("process %d", pid)
	}
	return experiment.WithHint(fmt.Errorf("database %s is being written by %s: %w", path, who, experiment.ErrLocked),
		"wait for it to end, or use another database (--db PATH)")
}

// current reports whether name still leads to the open file.
func current(f *os.File, name string) bool {
	held, err1 := f.Stat()
	named, err2 := os.Stat(name)
	return err1 == nil && err2 == nil && os.SameFile(held, named)
}

func sign(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// Release gives the lock up and removes its file. It may be called again.
func (l *FileLock) Release() error {
	if l == nil || l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return errors.Join(os.Remove(f.Name()), f.Close()) // removed while still held
}
