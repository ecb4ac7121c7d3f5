package docker

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/ceteris/ceteris/experiment"
)

// scripted is an engine of which nothing but the bridge is known.
type scripted struct{ bridge string }

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case filepath.Base(r.URL.Path) == "_ping":
		w.Header().Set("Api-Version", "1.44")
	case s.bridge == "broken":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"message":"broken"}`)) // the test sees it
	case filepath.Base(r.URL.Path) == defaultBridge && s.bridge != "":
		_ = json.NewEncoder(w).Encode(map[string]string{"Name": "bridge", "Id": s.bridge}) // the test sees it
	default:
		http.Error(w, `{"message":"no such network"}`, http.StatusNotFound)
	}
}

func TestIncarnation(t *testing.T) {
	start, err := experiment.ProcessStart(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	here := fmt.Sprintf("process %d of %s", os.Getpid(), start)
	for _, tc := range []struct {
		name, network, bridge, want, fault string
	}{
		{"a socket", "unix", "0123456789abcdef", "bridge 0123456789ab, " + here, ""},
		{"a socket, without a bridge", "unix", "", here, ""},
		{"far away", "tcp", "0123456789abcdef", "bridge 0123456789ab", ""},
		{"far away, without a bridge", "tcp", "", "", ""},
		{"an engine that fails", "tcp", "broken", "", "inspect network bridge: Error response from daemon: broken"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			addr := "127.0.0.1:0"
			if tc.network == "unix" {
				addr = filepath.Join(t.TempDir(), "socket")
			}
			listening, err := net.Listen(tc.network, addr)
			if err != nil {
				t.Fatal(err)
			}
			server := &http.Server{Handler: &scripted{tc.bridge}}
			go func() { _ = server.Serve(listening) }() // until it is closed
			t.Cleanup(func() { _ = server.Close() })    // nothing is left to say
			got, err := runnerAt(t, tc.network+"://"+listening.Addr().String()).Incarnation(t.Context())
			fault := ""
			if err != nil {
				fault = err.Error()
			}
			if got != tc.want || fault != tc.fault {
				t.Errorf("got %q, %q, want %q, %q", got, fault, tc.want, tc.fault)
			}
		})
	}
}

// runnerAt is a runner over an engine at an address, whatever the environment says.
func runnerAt(t *testing.T, host string) *Runner {
	t.Helper()
	api, err := client.New(client.WithHost(host))
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.provider = &testcontainers.DockerProvider{}
	r.provider.SetClient(api)
	return r
}
