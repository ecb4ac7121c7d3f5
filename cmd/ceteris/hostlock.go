package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/experiment"
)

// lockHost lets only one ceteris measure on this host at a time: two would be each
// other's noise. The lock goes with the process, however that ends.
func lockHost() (unlock func(), err error) {
	path := filepath.Join(os.TempDir(), "ceteris-host.lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("open the host lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		holder := make([]byte, 32)
		n, _ := f.Read(holder) // only for the message
		return nil, experiment.WithHint(
			fmt.Errorf("process %s measures on this host: %w", strings.TrimSpace(string(holder[:n])), experiment.ErrLocked),
			"wait for it, or pass --share-host if you accept that the two disturb each other")
	}
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(fmt.Sprintln(os.Getpid())), 0) // only for others' messages
	}
	return func() { _ = f.Close() }, nil
}
