package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// idleEngine answers as a container engine does that has some images, and keeps what it
// is asked to do beyond answering questions.
type idleEngine struct {
	images []string

	mu    sync.Mutex
	asked []string
}

func (e *idleEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := regexp.MustCompile(`^/v[0-9.]+`).ReplaceAllString(r.URL.Path, "")
	image, ofImage := strings.CutPrefix(strings.TrimSuffix(path, "/json"), "/images/")
	w.Header().Set("API-Version", "1.41")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		e.mu.Lock()
		e.asked = append(e.asked, r.Method+" "+path+" "+r.URL.Query().Get("fromImage"))
		e.mu.Unlock()
		http.Error(w, `{"message": "this engine does nothing"}`, http.StatusInternalServerError)
	case path == "/_ping":
	case path == "/info":
		_, _ = io.WriteString(w, `{"OSType": "linux", "Architecture": "x86_64", "NCPU": 2, "ServerVersion": "20.10"}`)
	case ofImage && slices.Contains(e.images, image):
		fmt.Fprintf(w, `{"Id": "sha256:%064d"}`, 1)
	default:
		http.Error(w, `{"message": "not here"}`, http.StatusNotFound)
	}
}

// did gives what the engine was asked to do since.
func (e *idleEngine) did() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	asked := e.asked
	e.asked = nil
	return asked
}

// TestChoiceOfRunner: plan looks for images and has nothing done; run tries to pull
// what is missing, and says when it takes processes instead.
func TestChoiceOfRunner(t *testing.T) {
	const instead = "processes instead of containers"
	small, contained := filepath.Join("testdata", "small.yaml"), filepath.Join("testdata", "contained.yaml")
	pulled := filepath.Join(t.TempDir(), "as-processes.yaml") // run ends with it before it starts anything
	whole, err := os.ReadFile(small)
	if err != nil {
		t.Fatal(err)
	}
	unplaced := strings.Replace(string(whole), "\nsubject:", "\nplace: {subject: \"8191\"}\n\nsubject:", 1)
	if err := os.WriteFile(pulled, []byte(unplaced), 0o600); err != nil {
		t.Fatal(err)
	}
	seeded := filepath.Join(t.TempDir(), "seeded.yaml")
	prepared := strings.Replace(string(whole), "\nsubject:", "\nprepare: [{image: \"migrate:2\", run: [up]}]\nsubject:", 1)
	programs, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(seeded, []byte(strings.ReplaceAll(prepared, "../../", programs+"/")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name           string
		images         []string
		args           []string
		code           int
		stdout, stderr string // what is said, of it
		asked          []string
	}{
		{"plan, image there", []string{"redis:7"}, []string{"plan", small}, exitOK, "runner docker", "", nil},
		{"plan, image missing", nil, []string{"plan", small}, exitOK, "image redis:7 is not on the engine: run pulls it", "", nil},
		{"plan, image of a step missing", []string{"redis:7"}, []string{"plan", seeded}, exitOK, "image migrate:2 is not on the engine: run pulls it", "", nil},
		{"plan for docker", nil, []string{"plan", contained}, exitOK, "image nginx:1 is not on the engine: run pulls it", "", nil},
		{"plan for processes", nil, []string{"plan", "--runner", "process", small}, exitOK, "runner process", "", nil},
		{"run, image missing", nil, []string{"run", pulled}, exitCannotMeasure, "", instead, []string{"POST /images/create docker.io/library/redis"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := &idleEngine{images: tc.images}
			srv := httptest.NewServer(e)
			defer srv.Close()
			dir := t.TempDir()
			var stdout, stderr bytes.Buffer
			cmd := exec.CommandContext(t.Context(), "ceteris", tc.args...)
			cmd.Env = append(os.Environ(), "DOCKER_HOST=tcp://"+srv.Listener.Addr().String(),
				"CETERIS_DB="+filepath.Join(dir, "t.db"), "XDG_STATE_HOME="+dir, locksVar+"="+dir)
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != tc.code {
				t.Errorf("exit code %d (%v), want %d", code, err, tc.code)
			}
			if !strings.Contains(stdout.String(), tc.stdout) {
				t.Errorf("it does not say %q:\n%s", tc.stdout, &stdout)
			}
			if !strings.Contains(stderr.String(), tc.stderr) || tc.stderr == "" && stderr.Len() > 0 {
				t.Errorf("on standard error, want %q:\n%s", tc.stderr, &stderr)
			}
			if got := e.did(); !slices.Equal(got, tc.asked) {
				t.Errorf("the engine was asked to do %q, want %q", got, tc.asked)
			}
		})
	}
}
