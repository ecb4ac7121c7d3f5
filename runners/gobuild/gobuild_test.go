package gobuild_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/gobuild"
)

// module writes a Go module of one program into a new directory.
func module(t *testing.T, source string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "hello")
	write(t, filepath.Join(dir, "go.mod"), "module example.org/hello\n\ngo 1.26\n", 0o644)
	write(t, filepath.Join(dir, "main.go"), source, 0o644)
	return dir
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func say(text string) string {
	return "package main\n\nfunc main() { print(\"" + text + "\") }\n"
}

func output(t *testing.T, program string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program).CombinedOutput()
	if err != nil {
		t.Fatalf("run %s: %v", program, err)
	}
	return string(out)
}

func build(t *testing.T, b *gobuild.Builder, dir string) string {
	t.Helper()
	path, err := b.Binary(t.Context(), experiment.Build{Go: dir}, "linux", runtime.GOARCH)
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	return path
}

func TestBinaryIsStableInASweepAndFollowsTheSourcesAfterwards(t *testing.T) {
	dir, cache := module(t, say("one")), t.TempDir()
	first := gobuild.New(gobuild.Options{CacheDir: cache})
	path := build(t, first, dir)
	if got := output(t, path); got != "one" {
		t.Fatalf("the program says %q, want one", got)
	}
	if err := gobuild.CheckStatic(path, runtime.GOARCH); err != nil {
		t.Errorf("check static: %v", err)
	}

	write(t, filepath.Join(dir, "main.go"), say("two"), 0o644)
	if again := build(t, first, dir); again != path || output(t, again) != "one" {
		t.Errorf("the same Builder gives %s after an edit, want %s untouched", again, path)
	}
	other := build(t, gobuild.New(gobuild.Options{CacheDir: cache}), dir)
	if got := output(t, other); got != "two" {
		t.Errorf("a new Builder's program says %q, want two", got)
	}
	if got := output(t, path); got != "one" {
		t.Errorf("the first executable says %q after the second build, want one", got)
	}
}

func TestBinaryComesFromTheCacheWhenNothingChanged(t *testing.T) {
	dir, cache := module(t, say("one")), t.TempDir()
	path := build(t, gobuild.New(gobuild.Options{CacheDir: cache}), dir)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if again := build(t, gobuild.New(gobuild.Options{CacheDir: cache}), dir); again != path {
		t.Fatalf("the second build is at %s, want %s", again, path)
	}
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("the executable was linked again")
	}
}

func TestBinaryFaults(t *testing.T) {
	library := filepath.Join(t.TempDir(), "lib")
	write(t, filepath.Join(library, "go.mod"), "module example.org/lib\n\ngo 1.26\n", 0o644)
	write(t, filepath.Join(library, "lib.go"), "package lib\n", 0o644)
	plain := filepath.Join(t.TempDir(), "plain")
	write(t, plain, "no program", 0o644)

	for _, tc := range []struct {
		name  string
		build experiment.Build
		want  string
	}{
		{"the compiler's complaint is shown", experiment.Build{Go: module(t, "package main\n\nfunc main() { undefinedName() }\n")}, "undefined: undefinedName"},
		{"a library is no program", experiment.Build{Go: library}, "package main"},
		{"no such directory", experiment.Build{Go: filepath.Join(t.TempDir(), "none")}, "no such file"},
		{"an executable that is not there", experiment.Build{Binary: filepath.Join(t.TempDir(), "none")}, "no such file"},
		{"a file that is not executable", experiment.Build{Binary: plain}, "not executable"},
		{"nothing named", experiment.Build{}, "neither"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := gobuild.New(gobuild.Options{CacheDir: t.TempDir()}).Binary(t.Context(), tc.build, "linux", runtime.GOARCH)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestWithoutGoThereIsAHint(t *testing.T) {
	dir := module(t, say("one"))
	t.Setenv("PATH", t.TempDir())
	_, err := gobuild.New(gobuild.Options{CacheDir: t.TempDir()}).Binary(t.Context(), experiment.Build{Go: dir}, "linux", runtime.GOARCH)
	var hint *experiment.HintError
	if !errors.Is(err, experiment.ErrCannotRun) || !errors.As(err, &hint) || !strings.Contains(hint.Hint, "install Go") {
		t.Errorf("got error %v, want ErrCannotRun with a hint", err)
	}
}

func TestTool(t *testing.T) {
	libexec := t.TempDir()
	write(t, filepath.Join(libexec, "madeup"), "", 0o755)
	checkout := t.TempDir()
	write(t, filepath.Join(checkout, "go.mod"), "// a comment\nmodule github.com/ceteris/ceteris\n", 0o644)
	write(t, filepath.Join(checkout, "cmd", "madeup", "main.go"), say("x"), 0o644)
	matrices := filepath.Join(checkout, "matrices", "deep")
	write(t, filepath.Join(matrices, "x.yaml"), "", 0o644)
	foreign := t.TempDir()
	write(t, filepath.Join(foreign, "go.mod"), "module example.org/other\n", 0o644)
	write(t, filepath.Join(foreign, "cmd", "madeup", "main.go"), say("x"), 0o644)

	for _, tc := range []struct {
		name    string
		libexec string
		wd      string
		near    []string
		want    experiment.Build
	}{
		{"libexec wins", libexec, checkout, []string{matrices}, experiment.Build{Binary: filepath.Join(libexec, "madeup")}},
		{"a checkout above the matrix", "", t.TempDir(), []string{t.TempDir(), matrices}, experiment.Build{Go: filepath.Join(checkout, "cmd", "madeup")}},
		{"a checkout above the working directory", "", matrices, nil, experiment.Build{Go: filepath.Join(checkout, "cmd", "madeup")}},
		{"an empty libexec does not hide the checkout", t.TempDir(), checkout, nil, experiment.Build{Go: filepath.Join(checkout, "cmd", "madeup")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(gobuild.LibexecEnv, tc.libexec)
			t.Chdir(tc.wd)
			got, err := gobuild.Tool("madeup", tc.near...)
			if err != nil {
				t.Fatalf("tool: %v", err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("tool (-want +got):\n%s", d)
			}
		})
	}
	t.Run("nowhere", func(t *testing.T) {
		t.Setenv(gobuild.LibexecEnv, "")
		t.Chdir(foreign)
		_, err := gobuild.Tool("madeup", foreign)
		var hint *experiment.HintError
		if !errors.Is(err, experiment.ErrCannotRun) || !errors.As(err, &hint) {
			t.Fatalf("got error %v, want ErrCannotRun with a hint", err)
		}
		if !strings.Contains(hint.Hint, "go build -o ") || !strings.HasSuffix(hint.Hint, "./cmd/madeup") {
			t.Errorf("the hint %q holds no command", hint.Hint)
		}
	})
}

func TestScratchImageDependsOnTheExecutableAlone(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "app"), filepath.Join(t.TempDir(), "app")
	write(t, a, "content", 0o755)
	write(t, b, "content", 0o700)
	first, err := gobuild.ScratchImage(a, "amd64", "ceteris/local")
	if err != nil {
		t.Fatal(err)
	}
	second, err := gobuild.ScratchImage(b, "amd64", "ceteris/local")
	if err != nil {
		t.Fatal(err)
	}
	if first.Tag != second.Tag || !bytes.Equal(first.Archive, second.Archive) {
		t.Errorf("the same executable gives %s and %s", first.Tag, second.Tag)
	}
	write(t, b, "other", 0o755)
	third, err := gobuild.ScratchImage(b, "amd64", "ceteris/local")
	if err != nil {
		t.Fatal(err)
	}
	if third.Tag == first.Tag {
		t.Errorf("another executable has the tag %s too", third.Tag)
	}

	names := map[string]bool{}
	for r := tar.NewReader(bytes.NewReader(first.Archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names[h.Name] = true
	}
	if !names["manifest.json"] || !names["layer.tar"] || len(names) != 3 {
		t.Errorf("the archive holds %v", names)
	}
}

func TestCheckStatic(t *testing.T) {
	text := filepath.Join(t.TempDir(), "script")
	write(t, text, "#!/bin/sh\n", 0o755)
	if err := gobuild.CheckStatic(text, "amd64"); err == nil {
		t.Error("a script passes as a static executable")
	}
	b := gobuild.New(gobuild.Options{CacheDir: t.TempDir()})
	foreign, err := b.Binary(t.Context(), experiment.Build{Go: module(t, say("x"))}, "linux", "arm64")
	if err != nil {
		t.Fatal(err)
	}
	if err := gobuild.CheckStatic(foreign, "arm64"); err != nil {
		t.Errorf("an arm64 executable for arm64: %v", err)
	}
	if err := gobuild.CheckStatic(foreign, "amd64"); err == nil {
		t.Error("an arm64 executable passes for amd64")
	}
}

func TestDigest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "abc", 0o644)
	got, err := gobuild.Digest(path)
	if want := "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; err != nil || got != want {
		t.Errorf("digest is %s (%v), want %s", got, err, want)
	}
}
