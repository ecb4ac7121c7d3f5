//go:build integration

package docker_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// script is a job of a shell; it gives what the script wrote and its exit code.
func (c cell) script(s experiment.Service) (string, int) {
	c.t.Helper()
	s.Job = true
	p := c.launch(s)
	exit, err := p.Wait(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return logsOf(c.t, p), exit.Code
}

func TestContainerHasWhatOnlyContainersHave(t *testing.T) {
	s := shell(`id -u; id -g; ulimit -n; cat /proc/sys/net/ipv4/ip_unprivileged_port_start
		df --output=size -k /scratch | tail -1; df --output=size -k /dev/shm | tail -1
		stat -c %a /plain; grep CapBnd /proc/self/status | cut -f2`)
	s.Container = experiment.Container{
		Tmpfs:   []string{"/scratch:size=3m,mode=1777", "/plain"},
		ShmSize: 5 << 20,
		Ulimits: []experiment.UlimitValue{{Name: "nofile", Soft: 321, Hard: 654}, {Name: "core", Soft: 0, Hard: 0}},
		Sysctls: []experiment.KeyValue{{Key: "net.ipv4.ip_unprivileged_port_start", Value: "77"}},
		User:    "1234:2345",
	}
	got, code := openCell(t, s).script(s)
	words := strings.Fields(got)
	if len(words) != 8 {
		t.Fatalf("the script wrote %q and ended with %d", got, code)
	}
	if diff := cmp.Diff(words[:6], []string{"1234", "2345", "321", "77", "3072", "5120"}); diff != "" {
		t.Errorf("uid, gid, files, sysctl, tmpfs, shm (-got +want):\n%s", diff)
	}
	with := s
	with.Container.CapAdd = []string{"SYS_PTRACE"}
	got, _ = openCell(t, with).script(with)
	if again := strings.Fields(got); len(again) != 8 || again[7] == words[7] {
		t.Errorf("capabilities with and without SYS_PTRACE: %q, %q", got, words[7])
	}
}

func TestMountsAreBoundAndReadOnlyHolds(t *testing.T) {
	host := t.TempDir()
	if err := os.WriteFile(filepath.Join(host, "given"), []byte("of the host\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := shell("cat /ro/given; echo x >/ro/given || echo refused; echo x >/kept/note || echo refused too; echo new >/rw/made")
	s.Mounts = []experiment.Mount{{Source: host, Target: "/ro", ReadOnly: true}, {Source: host, Target: "/rw"}}
	s.Volumes = []experiment.Volume{{Name: "kept", Target: "/kept", ReadOnly: true}}
	got, code := openCell(t, s).script(s)
	if code != 0 || !strings.Contains(got, "of the host\n") || !strings.Contains(got, "refused\n") || !strings.Contains(got, "refused too\n") {
		t.Errorf("the script wrote %q and ended with %d", got, code)
	}
	if b, err := os.ReadFile(filepath.Join(host, "made")); err != nil || string(b) != "new\n" {
		t.Errorf("on the host: %q, %v", b, err)
	}
}

func TestMountOfNothing(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	s := shell("true")
	s.Mounts = []experiment.Mount{{Source: missing, Target: "/m"}}
	c := openCell(t, s)
	if _, err := c.env.Launch(t.Context(), s); err == nil || !strings.Contains(err.Error(), missing) || errors.Is(err, experiment.ErrExited) {
		t.Errorf("got %v, want an error that names %s", err, missing)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the engine made the directory: %v", err)
	}
}

func TestFullTmpfsIsTheServicesOwnFailure(t *testing.T) {
	s := shell("head -c 8000000 /dev/zero >/scratch/x")
	s.Container.Tmpfs = []string{"/scratch:size=1m"}
	got, code := openCell(t, s).script(s)
	if code != 1 || !strings.Contains(got, "No space left on device") {
		t.Errorf("the script wrote %q and ended with %d", got, code)
	}
}

func TestForkBombEndsWithTheRun(t *testing.T) {
	s := shell("(i=0; while [ $((i += 1)) -lt 1000 ]; do setsid sleep 600 & done); echo ended with $?; exec sleep 600")
	s.Limits.PIDs = 40
	s.Ready = &experiment.Step{Log: "^ended with 2$", Within: 30 * time.Second} // the shell cannot fork any more
	c := openCell(t, s)
	c.launch(s)
	c.close()
	if left := containersOf(t.Context(), t, c.api, c.owner); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

func TestFilesThatWouldNotBeThere(t *testing.T) {
	r := newRunner(t, nil)
	engine(t)
	for _, tc := range []struct {
		name, want string
		service    experiment.Service
	}{
		{"in a tmpfs", "empty when the container starts", experiment.Service{Container: experiment.Container{Tmpfs: []string{"/run:size=1m"}}}},
		{"in a mount", "written to /srv of the host", experiment.Service{Mounts: []experiment.Mount{{Source: "/srv", Target: "/run/"}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := tc.service
			s.Name, s.Image = "x", "debian:bookworm-slim"
			s.Files = []experiment.File{{Path: "/run/app/conf", Content: experiment.Literal("x")}}
			if _, err := r.Prepare(t.Context(), []experiment.Service{s}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestReadFileOfWhatIsSeenFromInsideAlone(t *testing.T) {
	s := shell("echo x >/scratch/file; ln -s /scratch/file /link; echo on; exec sleep 600")
	s.Container.Tmpfs = []string{"/scratch"}
	s.Ready = &experiment.Step{Log: "^on$", Within: 30 * time.Second}
	x := openCell(t, s).launch(s).(experiment.Execer)
	for path, dir := range map[string]string{"/scratch/file": "/scratch", "/link": "/scratch", "/proc/1/status": "/proc"} {
		if b, err := x.ReadFile(t.Context(), path); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir+" is seen from inside") {
			t.Errorf("%s: got %q, %v", path, b, err)
		}
	}
	if got, err := x.Exec(t.Context(), []string{"cat", "/link"}); err != nil || string(got.Output) != "x\n" {
		t.Errorf("asked inside: %+v, %v", got, err)
	}
}
