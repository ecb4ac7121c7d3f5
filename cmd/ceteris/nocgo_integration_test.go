//go:build integration

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// Without cgo the program builds, and says in one line what it lacks and in a
// second what to do about it.
func TestWithoutCgo(t *testing.T) {
	goProgram, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	if goProgram, err = filepath.EvalSymlinks(goProgram); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		env  string
	}{
		{"cgo turned off", "CGO_ENABLED=0"},
		{"no C compiler", "PATH=" + filepath.Dir(goProgram)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "ceteris")
			build := exec.CommandContext(t.Context(), goProgram, "build", "-o", program, ".")
			build.Env = append(os.Environ(), "CC=", "CGO_ENABLED=", tc.env)
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("go build: %v\n%s", err, out)
			}
			path := filepath.Join(t.TempDir(), "x.db")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"run", "testdata/tiny.yaml"}, {"list"}, {"sql", "select 1"}} {
				checkWithoutCgo(t, program, path, args)
			}
		})
	}
}

func checkWithoutCgo(t *testing.T, program, path string, args []string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, append([]string{"--db", path}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != exitCannotMeasure {
		t.Errorf("%v: %v, want exit code %d", args, err, exitCannotMeasure)
	}
	want := regexp.MustCompile(`^ceteris: .*built without cgo, which SQLite needs.*\nhint: install a C compiler .*CGO_ENABLED=1\n$`)
	if !want.Match(errs.Bytes()) || out.Len() > 0 {
		t.Errorf("%v: stderr %q, stdout %q", args, errs.String(), out.String())
	}
}
