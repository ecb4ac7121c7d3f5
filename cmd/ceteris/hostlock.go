package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/experiment"
)

// The bytes of a lock's file. Whoever looks holds the first for that moment,
// whoever measures holds the second.
const (
	lookingByte   = 0
	measuringByte = 1
)

// lockDirs are the places for locks, the same for every user and whatever the
// environment says.
func lockDirs() []string { return []string{"/run/lock", "/var/lock", "/tmp"} }

// measured is a host on which something is measured: this one, or that of an engine
// elsewhere.
type measured struct{ lock, name string }

// hostsOf lists the hosts on which matrices are measured, each once, this one first.
func hostsOf(matrices []*experiment.Matrix, dockerHost string) []measured {
	here := measured{"ceteris-host.lock", "this host"}
	engine := here
	u, err := url.Parse(dockerHost)
	if err == nil && u.Host != "" && !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname()) {
		sum := sha256.Sum256([]byte(u.Scheme + "://" + u.Host))
		engine = measured{fmt.Sprintf("ceteris-engine-%x.lock", sum[:8]), "the engine at " + u.Host}
	}
	var hosts []measured
	for _, m := range matrices {
		if m.Runner != experiment.RunnerDocker {
			hosts = append(hosts, here)
		}
	}
	for _, m := range matrices {
		if m.Runner == experiment.RunnerDocker {
			hosts = append(hosts, engine)
		}
	}
	return slices.Compact(hosts)
}

// lockHosts locks several hosts.
func lockHosts(dirs []string, hosts []measured, share bool) (unlock func(), err error) {
	var held []func()
	unlock = func() {
		for _, u := range held {
			u()
		}
	}
	for _, h := range hosts {
		u, err := lockHost(dirs, h, share)
		if err != nil {
			unlock()
			return nil, err
		}
		held = append(held, u)
	}
	return unlock, nil
}

// lockHost lets only one ceteris measure on a host at a time: two would be each
// other's noise. With share it measures beside others, and is seen by those that do
// not want that. The lock goes with the process, however that ends.
func lockHost(dirs []string, host measured, share bool) (unlock func(), err error) {
	f, err := openLock(dirs, host.lock)
	if err != nil {
		return nil, fmt.Errorf("open the lock of %s: %w", host.name, err)
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
				return l, fmt.Errorf("lock %s: %w", f.Name(), err)
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
			return nil, experiment.WithHint(fmt.Errorf("process %d measures on %s: %w", other.Pid, host.name, experiment.ErrLocked),
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

// openLock opens a lock's file for all users, where it is, or else in the first
// directory in which it can be made. Where it exists it is not created again: that
// is refused for a file of another user in a directory like /tmp.
func openLock(dirs []string, name string) (*os.File, error) {
	for _, dir := range dirs {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|unix.O_NOFOLLOW, 0)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err // another file would be another lock
		}
	}
	var failed []error
	for _, dir := range dirs {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o666)
		if err == nil {
			_ = f.Chmod(0o666) // whatever the umask says; another may have made it at the same moment
			return f, nil
		}
		failed = append(failed, err)
	}
	return nil, errors.Join(failed...)
}
