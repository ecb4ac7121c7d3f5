package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/docker"
	"github.com/ceteris/ceteris/runners/process"
	"github.com/ceteris/ceteris/runners/snapshot"
)

// What one run may need at any time, in bytes: its record and the log before it is
// folded in, beside the database; what processes write, where their state is; of
// snapshots nobody knows how large they are, and one for which there is no room costs
// no more than the preparation of every run.
const (
	floorDatabase  = 8 << 20
	floorState     = 64 << 20 // beside logs
	floorSnapshots = 64 << 20
)

// freeFor gives what tells the room beside a database, where runs write, if that is on
// this machine, and where snapshots are kept, if the matrix has any. Where runs write
// there must be room for one log that grows as long as it may.
func freeFor(database string, m *experiment.Matrix) func(experiment.Host) ([]conduct.DiskFree, error) {
	return func(h experiment.Host) ([]conduct.DiskFree, error) {
		var all []conduct.DiskFree
		add := func(what, dir string, floor int64) error {
			free, err := freeBytes(dir)
			all = append(all, conduct.DiskFree{Path: "the file system of " + what + ", " + dir, Free: free, Floor: floor})
			return err
		}
		if err := add("the database", filepath.Dir(database), floorDatabase); err != nil {
			return nil, err
		}
		if h.StateDir != "" {
			if err := add("the runs' state", h.StateDir, floorState+mostLog(h)); err != nil {
				return nil, err
			}
		}
		if keepsSnapshots(m) {
			dir, err := snapshot.DefaultDir()
			if err != nil {
				return nil, err
			}
			if err := add("the snapshots", dir, floorSnapshots); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
}

// keepsSnapshots reports whether a service of any variant is prepared once for all runs.
func keepsSnapshots(m *experiment.Matrix) bool {
	subjects := []experiment.Subject{m.Subject}
	for _, v := range m.Variants {
		subjects = append(subjects, v.Subject)
	}
	return slices.ContainsFunc(subjects, func(s experiment.Subject) bool {
		return slices.ContainsFunc(s.Services, func(svc experiment.ServiceSpec) bool { return svc.Prepare.Snapshot })
	})
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
