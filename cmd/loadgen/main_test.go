package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/load"
)

func plan(t *testing.T, measure time.Duration) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	b, err := json.Marshal(experiment.Load{
		Targets:  []string{s.Listener.Addr().String()},
		Requests: []experiment.Request{{Method: "GET", Weight: 1, Path: experiment.Literal("/")}},
		Closed:   &experiment.ClosedLoad{Users: 2, Think: time.Millisecond}, Measure: measure, Timeout: time.Second, KeepAlive: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// env gives the variables of a process.
func env(plan, data string) func(string) string {
	return func(name string) string {
		return map[string]string{experiment.GeneratorEnv: plan, experiment.DataEnv: data}[name]
	}
}

func TestDone(t *testing.T) {
	p := plan(t, 50*time.Millisecond)
	file := filepath.Join(t.TempDir(), "load.json")
	if err := os.WriteFile(file, []byte(p), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		plan string
	}{
		"from the environment":             {nil, p},
		"from a file that it names":        {nil, "@" + file},
		"from a file":                      {[]string{"-plan", file}, ""},
		"the file goes before environment": {[]string{"-plan", file}, "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), tt.args, env(tt.plan, ""), &stdout, &stderr); code != 0 || stderr.Len() > 0 {
				t.Fatalf("exit %d, stderr %q", code, &stderr)
			}
			r, err := load.Reader{}.Read(t.Context(), &stdout, nil)
			if err != nil || r.Total.OK == 0 {
				t.Errorf("got %+v and %v", r.Total, err)
			}
		})
	}
}

func TestWrongPlanIsOneLineAndExit2(t *testing.T) {
	for name, tt := range map[string]struct {
		args       []string
		plan, want string
	}{
		"none":     {nil, "", "no plan: set $CETERIS_LOAD or give -plan FILE"},
		"no JSON":  {nil, "{", "the plan is no load in JSON"},
		"faults":   {nil, "{}", "the plan is wrong: targets: none; requests: 0, "},
		"no file":  {[]string{"-plan", filepath.Join(t.TempDir(), "none")}, "", "no such file"},
		"named":    {nil, "@/no/such/plan", "plan: open /no/such/plan"},
		"argument": {[]string{"x"}, "{}", `unexpected argument "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), tt.args, env(tt.plan, ""), &stdout, &stderr); code != 2 {
				t.Errorf("exit %d, want 2", code)
			}
			if got := stderr.String(); !strings.Contains(got, tt.want) || strings.Count(got, "\n") != 1 || stdout.Len() > 0 {
				t.Errorf("stderr %q, stdout %q, want one line with %q", got, &stdout, tt.want)
			}
		})
	}
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"-what"}, env("", ""), &stderr, &stderr); code != 2 {
		t.Errorf("unknown flag: exit %d, want 2", code)
	}
}

// The rows of the file reach the server in their order.
func TestDataComesFromAFile(t *testing.T) {
	var (
		mu   sync.Mutex
		seen []string
	)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.URL.Query().Get("u"))
	}))
	defer s.Close()
	path, err := experiment.ParseTemplate("/?u=${data:user}", experiment.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(experiment.Load{
		Targets: []string{s.Listener.Addr().String()}, Requests: []experiment.Request{{Method: "GET", Weight: 1, Path: path}},
		Data: &experiment.DataFeed{Columns: []string{"user"}}, Closed: &experiment.ClosedLoad{Users: 1},
		Measure: time.Minute, Work: 5, Timeout: time.Second, KeepAlive: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), nil, env(string(b), write("good", "user\nann\nbob\n")), &stdout, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	if got := strings.Join(seen[:5], " "); got != "ann bob ann bob ann" {
		t.Errorf("got %s", got)
	}
	for name, tt := range map[string]struct{ file, want string }{
		"none":         {"", "set $CETERIS_DATA to its path"},
		"not there":    {filepath.Join(dir, "none"), "no such file"},
		"other names":  {write("other", "name\nann\n"), `its columns are ["name"], those of the plan ["user"]`},
		"short row":    {write("short", "user\nann,x\n"), "line 2 has 2 fields, the header has 1"},
		"breaks lines": {write("evil", "user\n\"a\r\nX: y\"\n"), `row 1: "a\nX: y" in column user cannot stand in the path`},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), nil, env(string(b), tt.file), &stdout, &stderr); code != 2 || stdout.Len() > 0 {
				t.Errorf("exit %d, stdout %q", code, &stdout)
			}
			if got := stderr.String(); !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want it to hold %q", got, tt.want)
			}
		})
	}
}

// afterFirstWrite runs f once something was written.
type afterFirstWrite struct {
	bytes.Buffer
	once sync.Once
	f    func()
}

func (w *afterFirstWrite) Write(b []byte) (int, error) {
	defer w.once.Do(w.f)
	return w.Buffer.Write(b)
}

func TestASignalIsExit5(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stdout := &afterFirstWrite{f: cancel}
	var stderr bytes.Buffer
	if code := run(ctx, nil, env(plan(t, time.Hour), ""), stdout, &stderr); code != 5 {
		t.Errorf("exit %d, want 5: %s", code, &stderr)
	}
	if _, err := (load.Reader{}).Read(t.Context(), stdout, nil); !errors.Is(err, experiment.ErrIncomplete) {
		t.Errorf("got %v, want ErrIncomplete", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestAFaultIsExit1(t *testing.T) {
	var stderr bytes.Buffer
	if code := run(t.Context(), nil, env(plan(t, time.Hour), ""), broken{}, &stderr); code != 1 || !strings.Contains(stderr.String(), "disk full") {
		t.Errorf("exit %d, stderr %q, want 1 and the reason", code, &stderr)
	}
}
