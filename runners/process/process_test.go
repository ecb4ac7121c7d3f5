package process_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/gobuild"
	"github.com/ceteris/ceteris/runners/process"
	"github.com/ceteris/ceteris/runners/runnertest"
)

func TestConformance(t *testing.T) {
	builder := gobuild.New(gobuild.Options{CacheDir: t.TempDir()})
	state := t.TempDir()
	runnertest.Run(t, runnertest.Harness{
		New: func(testing.TB) experiment.Runner {
			return process.New(process.Options{StateDir: state, Builder: builder})
		},
		Capabilities: runnertest.Capabilities{Serves: true, Pins: true, Exec: true, LogMeter: true, PeakMemory: true, Cleans: true},
		Remains:      remains,
	})
	if left, err := filepath.Glob(filepath.Join(state, "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("left in the state directory: %v, %v", left, err)
	}
}

// TestEndOfMainProcess has a service end by itself that has started others, in its
// group and outside.
func TestEndOfMainProcess(t *testing.T) {
	r := process.New(process.Options{StateDir: t.TempDir(), Builder: gobuild.New(gobuild.Options{})})
	owner, err := experiment.ThisOwner("end-of-main")
	if err != nil {
		t.Fatal(err)
	}
	env, err := r.Open(t.Context(), experiment.RunKey{Owner: owner.String(), Sweep: 1, Run: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := env.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	p, err := env.Launch(t.Context(), runnertest.Subject("crash"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(remains(t, owner.String())); n != 1+3 {
		t.Fatalf("processes: got %d, want the service and 3 children", n)
	}
	addr, err := p.Addr(runnertest.SubjectPort, experiment.FromConductor)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := http.Get("http://" + addr + "/exit?code=5"); err == nil {
		_ = resp.Body.Close()
		t.Fatal("it answers instead of ending")
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit.Code != 5 {
		t.Errorf("exit: got %+v, %v, want code 5", exit, err)
	}
	if left := remains(t, owner.String()); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// remains looks for the owner in the environment of every process.
func remains(t testing.TB, owner string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(files) == 0 {
		t.Fatalf("no processes to look at: %v", err)
	}
	var left []string
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), owner) {
			cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
			left = append(left, fmt.Sprintf("%s %q", f, cmd))
		}
	}
	return left
}
