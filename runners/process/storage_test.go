package process_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/process"
)

// openRun opens a run in a state directory of its own, which is closed at the end.
func openRun(t *testing.T) (env experiment.Env, state string) {
	t.Helper()
	owner, err := experiment.ThisOwner("storage")
	if err != nil {
		t.Fatal(err)
	}
	state = t.TempDir()
	env, err = process.New(process.Options{StateDir: state}).Open(t.Context(), experiment.RunKey{Owner: owner.String(), Sweep: 1, Run: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return env, state
}

func shell(script string) experiment.Service {
	parse := func(text string) experiment.Template {
		tpl, err := experiment.ParseTemplate(text, experiment.Pos{})
		if err != nil {
			panic(err)
		}
		return tpl
	}
	return experiment.Service{Name: "sh", Command: []experiment.Template{parse("sh"), parse("-c"), parse(script)}}
}

func TestWhatOnlyContainersRunIsRefused(t *testing.T) {
	r := process.New(process.Options{StateDir: t.TempDir()})
	for name, s := range map[string]experiment.Service{
		"a Dockerfile":               {Build: &experiment.Build{Context: "/srv"}},
		"an image":                   {Image: "redis:7"},
		"an image and its arguments": {Image: "redis:7", Command: []experiment.Template{experiment.Literal("sh")}},
	} {
		t.Run(name, func(t *testing.T) {
			s.Name = "db"
			_, err := r.Prepare(t.Context(), []experiment.Service{s})
			var hint *experiment.HintError
			if !errors.Is(err, experiment.ErrCannotRun) || !errors.As(err, &hint) || !strings.Contains(err.Error(), "service db") {
				t.Errorf("got %v, want %v with a hint and the name", err, experiment.ErrCannotRun)
			}
		})
	}
}

// Paths lead to the innermost volume or mount, else to the service's own files; those
// that the service does not declare are the host's when they are read.
func TestPathsOnThisHost(t *testing.T) {
	env, state := openRun(t)
	mounted := t.TempDir()
	s := shell("sleep 600")
	s.Files = []experiment.File{{Path: "/etc/app.conf", Content: experiment.Literal("x")}, {Path: "/data/in/seed", Content: experiment.Literal("y")}}
	s.Volumes = []experiment.Volume{{Name: "outer", Target: "/data"}, {Name: "inner", Target: "/data/in"}}
	s.Mounts = []experiment.Mount{{Source: mounted, Target: "/mnt"}}
	p, err := env.Launch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := filepath.Glob(filepath.Join(state, "runs", "*"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("runs: %q, %v", runs, err)
	}
	for path, want := range map[string]string{
		"/etc/app.conf":   filepath.Join(runs[0], "sh/files/etc/app.conf"),
		"/data":           filepath.Join(runs[0], ".volumes/outer"),
		"/data/x":         filepath.Join(runs[0], ".volumes/outer/x"),
		"/data/in/seed":   filepath.Join(runs[0], ".volumes/inner/seed"),
		"/data/inside":    filepath.Join(runs[0], ".volumes/outer/inside"),
		"/mnt/deep/below": filepath.Join(mounted, "deep/below"),
	} {
		got, ok := p.(experiment.Resolver).Resolve(experiment.Ref{Kind: experiment.RefFile, Name: path})
		if !ok || got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	x := p.(experiment.Execer)
	for _, path := range []string{"/data/in/seed", filepath.Join(runs[0], ".volumes/inner/seed")} {
		if b, err := x.ReadFile(t.Context(), path); err != nil || string(b) != "y" {
			t.Errorf("read %s: got %q, %v", path, b, err)
		}
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := x.ReadFile(t.Context(), "/proc/sys/kernel/random/boot_id"); err != nil || !bytes.Equal(b, boot) {
		t.Errorf("a file of the host: got %q, %v", b, err)
	}
}

func TestArchivesThatDoNotFit(t *testing.T) {
	env, state := openRun(t)
	s := shell("true")
	s.Volumes = []experiment.Volume{{Name: "data", Target: "/data"}}
	for _, tc := range []struct {
		name    string
		entries []tar.Header
	}{
		{"outside", []tar.Header{{Name: "../evil", Typeflag: tar.TypeReg}}},
		{"of the host", []tar.Header{{Name: "/evil", Typeflag: tar.TypeReg}}},
		{"another volume", []tar.Header{{Name: "other/x", Typeflag: tar.TypeReg}}},
		{"through a link", []tar.Header{{Name: "data/up", Typeflag: tar.TypeSymlink, Linkname: "../.."}, {Name: "data/up/evil", Typeflag: tar.TypeReg}}},
		{"a link to the outside", []tar.Header{{Name: "data/x", Typeflag: tar.TypeLink, Linkname: "../../evil"}}},
		{"a pipe", []tar.Header{{Name: "data/pipe", Typeflag: tar.TypeFifo}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var archive bytes.Buffer
			w := tar.NewWriter(&archive)
			for _, h := range append([]tar.Header{{Name: "data", Typeflag: tar.TypeDir, Mode: 0o755}}, tc.entries...) {
				if err := w.WriteHeader(&h); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := env.(experiment.VolumeKeeper).RestoreVolumes(t.Context(), s, &archive); err == nil {
				t.Error("no error")
			}
		})
	}
	evil, err := filepath.Glob(filepath.Join(state, "*", "*", "evil"))
	if err != nil || len(evil) > 0 {
		t.Errorf("written outside: %q, %v", evil, err)
	}
}

// A socket or a pipe in a volume is no reason not to keep the rest.
func TestSocketsAndPipesAreLeftOut(t *testing.T) {
	env, _ := openRun(t)
	s := shell("cd ${file:/data} && mkfifo pipe && echo kept >file && ln file twin")
	s.Job, s.Volumes = true, []experiment.Volume{{Name: "data", Target: "/data"}}
	p, err := env.Launch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit.Code != 0 {
		t.Fatalf("it ended with %+v, %v", exit, err)
	}
	keeper := env.(experiment.VolumeKeeper)
	var archive bytes.Buffer
	if err := keeper.SaveVolumes(t.Context(), s.Name, &archive); err != nil {
		t.Fatal(err)
	}
	if err := keeper.RestoreVolumes(t.Context(), s, &archive); err != nil {
		t.Fatal(err)
	}
	again := shell("ls ${file:/data}; cat ${file:/data/twin}")
	again.Name, again.Job, again.Volumes = "again", true, s.Volumes
	if p, err = env.Launch(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := p.Logs(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out bytes.Buffer
	if _, err := out.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(out.String(), "file\ntwin\nkept\n"); diff != "" {
		t.Errorf("restored (-got +want):\n%s", diff)
	}
}

func TestLaunchedAgainOnTheSamePorts(t *testing.T) {
	env, _ := openRun(t)
	s := shell("sleep 600")
	s.Ports = []int{80, 81}
	addresses := func(s experiment.Service) (out []string) {
		p, err := env.Launch(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range s.Ports {
			addr, err := p.Addr(port, experiment.FromConductor)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, addr)
		}
		if err := p.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := addresses(s)
	if diff := cmp.Diff(addresses(s), first); diff != "" {
		t.Errorf("launched again (-got +want):\n%s", diff)
	}
}
