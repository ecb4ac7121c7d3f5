package process_test

import (
	"fmt"
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
		Capabilities: runnertest.Capabilities{Serves: true, Pins: true, Exec: true, LogMeter: true, Cleans: true},
		Remains:      remains,
	})
	if left, err := filepath.Glob(filepath.Join(state, "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("left in the state directory: %v, %v", left, err)
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
