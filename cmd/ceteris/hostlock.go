package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/experiment"
)

// The bytes of the lock's file. Whoever looks holds the first for that moment,
// whoever measures holds the second.
const (
	lookingByte   = 0
	measuringByte = 1
)

// lockHost lets only one ceteris measure on this host at a time: two would be each
// other's noise. With share it measures beside others, and is seen by those that do
// not want that. The lock goes with the process, however that ends.
func lockHost(share bool) (unlock func(), err error) {
	path := filepath.Join(os.TempDir(), "ceteris-host.lock")
	f, err := openLock(path)
	if err != nil {
		return nil, fmt.Errorf("open the host lock: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close() // gives up what it holds
		}
	}()
	fcntl := func(command int, kind int16, at int64) (unix.Flock_t, error) {
		l := unix.Flock_t{Type: kind, Whence: unix.SEEK_SET, Start: at, Len: 1}
		for {
			err := unix.FcntlFlock(f.Fd(), command, &l)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil {
				return l, fmt.Errorf("lock %s: %w", path, err)
			}
			return l, nil
		}
	}
	if _, err := fcntl(unix.F_SETLKW, unix.F_WRLCK, lookingByte); err != nil {
		return nil, err
	}
	if !share {
		other, err := fcntl(unix.F_GETLK, unix.F_WRLCK, measuringByte)
		if err != nil {
			return nil, err
		}
		if other.Type != unix.F_UNLCK {
			return nil, experiment.WithHint(fmt.Errorf("process %d measures on this host: %w", other.Pid, experiment.ErrLocked),
				"wait for it, or pass --share-host if you accept that the two disturb each other")
		}
	}
	if _, err := fcntl(unix.F_SETLK, unix.F_RDLCK, measuringByte); err != nil {
		return nil, err
	}
	if _, err := fcntl(unix.F_SETLK, unix.F_UNLCK, lookingByte); err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// openLock opens the file for all users. Where it exists it is not created again:
// that is refused for a file of another user in a directory like /tmp.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666); err == nil {
		_ = f.Chmod(0o666) // whatever the umask says; another may have made it at the same moment
	}
	return f, err
}
