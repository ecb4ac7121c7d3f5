package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

func TestHostsOf(t *testing.T) {
	const here, engine = "this host", "the engine at far:2375"
	for _, c := range []struct {
		name, dockerHost, runners string
		want                      []string
	}{
		{"processes", "", "process process", []string{here}},
		{"containers here", "", "docker", []string{here}},
		{"by its socket", "unix:///run/other.sock", "docker process", []string{here}},
		{"by its port", "tcp://127.0.0.1:2375", "docker", []string{here}},
		{"by its port and name", "tcp://localhost:2375", "docker", []string{here}},
		{"engine elsewhere", "tcp://far:2375", "docker docker", []string{engine}},
		{"engine elsewhere, processes here", "tcp://far:2375", "process", []string{here}},
		{"both", "tcp://far:2375", "docker process docker", []string{here, engine}},
		{"through a shell", "ssh://me@far", "docker", []string{"the engine at far"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var matrices []*experiment.Matrix
			for runner := range strings.FieldsSeq(c.runners) {
				matrices = append(matrices, &experiment.Matrix{Runner: runner})
			}
			var got, locks []string
			for _, h := range hostsOf(matrices, c.dockerHost) {
				got, locks = append(got, h.name), append(locks, h.lock)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			for i, name := range got {
				if ofHost := locks[i] == "ceteris-host.lock"; ofHost != (name == here) || !regexp.MustCompile(`^ceteris-[a-z0-9-]+\.lock$`).MatchString(locks[i]) {
					t.Errorf("the lock of %s is %s", name, locks[i])
				}
			}
		})
	}
	far := []*experiment.Matrix{{Runner: experiment.RunnerDocker}}
	if a, b := hostsOf(far, "tcp://a:1"), hostsOf(far, "tcp://b:1"); a[0].lock == b[0].lock {
		t.Error("two engines have one lock")
	}
}

// TestLockIsOneFile: whoever comes later, with whatever rights, opens the file that
// is there.
func TestLockIsOneFile(t *testing.T) {
	first, second, none := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "none")
	open := func(dirs ...string) string {
		t.Helper()
		f, err := openLock(dirs, "x.lock")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return f.Name()
	}
	if got, want := open(none, second), filepath.Join(second, "x.lock"); got != want {
		t.Errorf("made %s, want %s", got, want)
	}
	if got, want := open(first, second), filepath.Join(second, "x.lock"); got != want {
		t.Errorf("opened %s, want %s, which was there", got, want)
	}
	if info, err := os.Stat(filepath.Join(second, "x.lock")); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("%v, %v: not for all users", info, err)
	}
	if err := os.Symlink(filepath.Join(second, "x.lock"), filepath.Join(first, "x.lock")); err != nil {
		t.Fatal(err)
	}
	if f, err := openLock([]string{first, second}, "x.lock"); err == nil {
		t.Errorf("a link was followed to %s", f.Name())
	}
	if _, err := openLock([]string{none}, "x.lock"); err == nil {
		t.Error("no directory, no error")
	}
}

// TestLockDoesNotMove: nothing in the environment leads to another lock.
func TestLockDoesNotMove(t *testing.T) {
	want := lockDirs()
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv(locksVar, t.TempDir())
	if got := lockDirs(); !slices.Equal(got, want) || len(got) == 0 || !filepath.IsAbs(got[0]) {
		t.Errorf("got %q, want %q", got, want)
	}
}
