package main

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// Where snapshots are kept is looked at when some service has one, be it in a variant
// alone.
func TestFileSystemsLookedAt(t *testing.T) {
	cache, state := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	database := filepath.Join(t.TempDir(), "ceteris.db")
	with := experiment.Subject{Services: []experiment.ServiceSpec{{Name: "app"}, {Name: "store", Prepare: experiment.Preparation{Snapshot: true}}}}
	without := experiment.Subject{Services: []experiment.ServiceSpec{{Name: "app"}}}
	beside := "the file system of the database, " + filepath.Dir(database)
	runs := "the file system of the runs' state, " + state
	kept := "the file system of the snapshots, " + filepath.Join(cache, "ceteris", "snapshots")
	for _, tc := range []struct {
		name   string
		matrix experiment.Matrix
		host   experiment.Host
		want   []string
	}{
		{"far away", experiment.Matrix{Subject: without}, experiment.Host{}, []string{beside}},
		{"here", experiment.Matrix{Subject: without}, experiment.Host{StateDir: state}, []string{beside, runs}},
		{"with snapshots", experiment.Matrix{Subject: with}, experiment.Host{StateDir: state}, []string{beside, runs, kept}},
		{"in a variant", experiment.Matrix{Subject: without, Variants: []experiment.Variant{{Subject: with}}}, experiment.Host{}, []string{beside, kept}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all, err := freeFor(database, &tc.matrix)(tc.host)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range all {
				got = append(got, d.Path)
				if d.Free <= 0 || d.Floor <= 0 {
					t.Errorf("%s: %d free, floor %d", d.Path, d.Free, d.Floor)
				}
			}
			if diff := cmp.Diff(got, tc.want); diff != "" {
				t.Errorf("looked at (-got +want):\n%s", diff)
			}
		})
	}
}
