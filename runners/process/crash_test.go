package process_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/gobuild"
	"github.com/ceteris/ceteris/runners/process"
	"github.com/ceteris/ceteris/runners/runnertest"
)

// Variables that make the test binary run services until it is killed.
const (
	crashState   = "PROCESS_TEST_STATE"
	crashSubject = "PROCESS_TEST_SUBJECT"
)

func TestMain(m *testing.M) {
	if state := os.Getenv(crashState); state != "" {
		fmt.Fprintln(os.Stderr, runForever(state, os.Getenv(crashSubject)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// runForever opens, fills and closes environments, and says who it is.
func runForever(state, subject string) error {
	owner, err := experiment.ThisOwner("crash")
	if err != nil {
		return err
	}
	fmt.Println(owner)
	ctx := context.Background()
	r := process.New(process.Options{StateDir: state})
	for run := int64(1); ; run++ {
		env, err := r.Open(ctx, experiment.RunKey{Owner: owner.String(), Sweep: 1, Run: run})
		if err != nil {
			return err
		}
		for _, mode := range []string{"fork", "stubborn"} {
			svc := runnertest.Subject(mode)
			svc.Name, svc.Build, svc.StopTimeout = mode, &experiment.Build{Binary: subject}, 50*time.Millisecond
			if _, err := env.Launch(ctx, svc); err != nil {
				return err
			}
		}
		if err := env.Close(ctx); err != nil {
			return err
		}
	}
}

// TestKilledOwner kills an owner at moments all over opening, launching and
// closing. Whatever it was doing, everything of it is found and removed.
func TestKilledOwner(t *testing.T) {
	builder := gobuild.New(gobuild.Options{CacheDir: t.TempDir()})
	subject, err := builder.Binary(t.Context(), experiment.Build{Go: runnertest.SubjectDir()}, runtime.GOOS, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	for _, after := range []time.Duration{0, 3, 11, 23, 41, 67, 97, 131, 170, 220, 277, 341} {
		after *= time.Millisecond
		t.Run(after.String(), func(t *testing.T) {
			owner := killAfter(t, state, subject, after)
			r := process.New(process.Options{StateDir: state})
			all, err := r.Leftovers(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range all {
				if l.Owner != owner {
					continue
				}
				if err := r.Remove(t.Context(), l); err != nil {
					t.Errorf("remove %+v: %v", l, err)
				}
			}
			if left := remains(t, owner); len(left) > 0 {
				t.Errorf("processes left: %q", left)
			}
			if left, err := filepath.Glob(filepath.Join(state, "*", "*")); err != nil || len(left) > 0 {
				t.Errorf("files left: %q, %v", left, err)
			}
		})
	}
}

// killAfter starts an owner, lets it work for a while, kills it and says who it
// was.
func killAfter(t *testing.T, state, subject string, after time.Duration) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashState+"="+state, crashSubject+"="+subject)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	owner, err := bufio.NewReader(out).ReadString('\n')
	time.Sleep(after) // the moment is the point; any is right
	if killErr := cmd.Process.Kill(); killErr != nil {
		t.Fatal(killErr)
	}
	_ = cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(owner)
}
