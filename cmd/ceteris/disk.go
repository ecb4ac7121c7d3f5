package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/docker"
	"github.com/ceteris/ceteris/runners/process"
)

// What one run may need at any time, in bytes: its record and the log before it is
// folded in, beside the database; what processes write, where their state is.
const (
	floorDatabase = 8 << 20
	floorState    = 64 << 20 // beside logs
)

// free gives the room beside the database, and where runs write, if that is on this
// machine: there must be room for one log that grows as long as it may.
func (n *night) free(h experiment.Host) ([]conduct.DiskFree, error) {
	dir := filepath.Dir(n.store.Path())
	all := []conduct.DiskFree{{Path: "the file system of the database, " + dir, Floor: floorDatabase}}
	var err error
	if all[0].Free, err = freeBytes(dir); err != nil {
		return nil, err
	}
	if h.StateDir != "" {
		d := conduct.DiskFree{Path: "the file system of the runs' state, " + h.StateDir, Floor: floorState + mostLog(h)}
		if d.Free, err = freeBytes(h.StateDir); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

func mostLog(h experiment.Host) int64 {
	if h.Engine != "" {
		return docker.MostLog
	}
	return process.MostLog
}

// freeBytes gives the room for this user on the file system of a directory that is
// there or is to be made.
func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	err := unix.Statfs(dir, &st)
	for errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		err = unix.Statfs(dir, &st)
	}
	if err != nil {
		return 0, fmt.Errorf("free room of %s: %w", dir, err)
	}
	return int64(st.Bavail) * st.Bsize, nil
}
