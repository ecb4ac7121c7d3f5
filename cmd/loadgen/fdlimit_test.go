//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

const limitedVar = "LOADGEN_LIMITED"

// A load that needs more descriptors than there may be is refused before anything is
// sent; one that needs as many as there may be is not.
func TestDescriptorLimit(t *testing.T) {
	if os.Getenv(limitedVar) != "" {
		os.Exit(run(t.Context(), nil, os.Getenv, os.Stdout, os.Stderr))
	}
	for name, tt := range map[string]struct {
		users, code int
		want        string
	}{
		"one too few": {37, exitPlan, "loadgen: load: 37 connections need 101 file descriptors, and the limit here is 100: raise it (ulimit -n) or lower connections\n"},
		"just enough": {36, exitDone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var opened atomic.Int64
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					opened.Add(1)
				}
			}
			s.Start()
			t.Cleanup(s.Close)
			plan, err := json.Marshal(experiment.Load{
				Targets:  []string{s.Listener.Addr().String()},
				Requests: []experiment.Request{{Method: "GET", Weight: 1, Path: experiment.Literal("/")}},
				Closed:   &experiment.ClosedLoad{Users: tt.users, Think: 5 * time.Millisecond}, Measure: 50 * time.Millisecond, Timeout: time.Second, KeepAlive: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -n 100 && exec "$0" -test.run='^TestDescriptorLimit$'`, os.Args[0])
			cmd.Env = append(os.Environ(), limitedVar+"=1", experiment.GeneratorEnv+"="+string(plan))
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			_ = cmd.Run() // its exit code is asked for
			if code := cmd.ProcessState.ExitCode(); code != tt.code || stderr.String() != tt.want {
				t.Errorf("exit %d, stderr %q; want %d, %q", code, strings.TrimSpace(stderr.String()), tt.code, tt.want)
			}
			if n := opened.Load(); (n > 0) != (tt.code == exitDone) {
				t.Errorf("%d connections were opened", n)
			}
		})
	}
}
