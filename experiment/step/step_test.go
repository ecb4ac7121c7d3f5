package step

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func target(t *testing.T, h http.Handler) Target {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return Target{Name: "app", Addr: func(int) (string, error) { return srv.Listener.Addr().String(), nil }}
}

func httpStep(is map[string]string) experiment.Step {
	s := experiment.Step{HTTP: experiment.Literal(":8080/config")}
	for _, name := range []string{"threads", "level", "on", "missing"} {
		if want, ok := is[name]; ok {
			s.JSON = append(s.JSON, experiment.Extract{Name: name, Path: ".server." + name})
			s.Is = append(s.Is, experiment.Expected{Name: name, Value: experiment.Literal(want)})
		}
	}
	return s
}

func TestConfirm(t *testing.T) {
	const doc = `{"server":{"threads":32,"level":"1.10","on":true}}`
	for _, tc := range []struct {
		name, body string
		status     int
		is         map[string]string
		want       []experiment.Confirmation
	}{
		{"all as set", doc, 200, map[string]string{"threads": "32", "level": "1.10", "on": "true"}, []experiment.Confirmation{
			{Service: "app", Name: "threads", Want: "32", Got: "32", OK: true},
			{Service: "app", Name: "level", Want: "1.10", Got: "1.10", OK: true},
			{Service: "app", Name: "on", Want: "true", Got: "true", OK: true},
		}},
		{"another value", doc, 200, map[string]string{"threads": "8"}, []experiment.Confirmation{
			{Service: "app", Name: "threads", Want: "8", Got: "32"},
		}},
		{"no such value", doc, 200, map[string]string{"missing": "8"}, []experiment.Confirmation{
			{Service: "app", Name: "missing", Want: "8", Got: "absent"},
		}},
		{"no JSON", "<html>", 200, map[string]string{"threads": "8"}, []experiment.Confirmation{
			{Service: "app", Name: "threads", Want: "8", Got: "no JSON: <html>"},
		}},
		{"two documents", doc + doc, 200, map[string]string{"threads": "8"}, []experiment.Confirmation{
			{Service: "app", Name: "threads", Want: "8", Got: "no JSON document: something follows it"},
		}},
		{"HTTP error", doc, 404, map[string]string{"threads": "32"}, []experiment.Confirmation{
			{Service: "app", Name: "answer", Want: "an answer", Got: "HTTP 404 from :8080/config"},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tg := target(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}))
			got, err := Confirm(t.Context(), httpStep(tc.is), tg)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, tc.want); diff != "" {
				t.Errorf("confirmations (-got +want):\n%s", diff)
			}
		})
	}
}

// TestConfirmWithin: a slow answer is waited for as long as the step says, and no
// longer.
func TestConfirmWithin(t *testing.T) {
	for _, tc := range []struct {
		name          string
		within, takes time.Duration
		want          error
		after         time.Duration
	}{
		{"in time by default", 0, 9 * time.Second, nil, 9 * time.Second},
		{"late by default", 0, 11 * time.Second, context.DeadlineExceeded, 10 * time.Second},
		{"slow, as the step allows", 30 * time.Second, 11 * time.Second, nil, 11 * time.Second},
		{"late, as the step says", time.Second, 2 * time.Second, context.DeadlineExceeded, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := experiment.Step{Run: []experiment.Template{experiment.Literal("show")}, Has: experiment.Literal("on"), Within: tc.within}
				began := time.Now()
				_, err := Confirm(t.Context(), s, Target{Name: "app", Exec: slow(tc.takes)})
				if took := time.Since(began); !errors.Is(err, tc.want) || took != tc.after {
					t.Errorf("after %v: got %v, want %v after %v", took, err, tc.want, tc.after)
				}
			})
		})
	}
}

// slow answers every command after a time.
type slow time.Duration

func (d slow) Exec(ctx context.Context, _ []string) (experiment.ExecResult, error) {
	select {
	case <-ctx.Done():
		return experiment.ExecResult{}, ctx.Err()
	case <-time.After(time.Duration(d)):
		return experiment.ExecResult{Output: []byte("on")}, nil
	}
}

func (slow) ReadFile(context.Context, string) ([]byte, error) { return nil, fs.ErrNotExist }

func TestAwaitTriesUntilItHolds(t *testing.T) {
	var asked atomic.Int32
	tg := target(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	if err := Await(t.Context(), experiment.Step{HTTP: experiment.Literal(":8080/healthz")}, tg, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if got := asked.Load(); got != 3 {
		t.Errorf("asked %d times, want 3", got)
	}
}

func TestAwaitGivesUp(t *testing.T) {
	never := Target{Name: "app", Logs: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("starting\n")), nil
	}}
	gone := never
	gone.Gone = func() (experiment.Exit, bool) { return experiment.Exit{Code: 3}, true }
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	s := experiment.Step{Log: "^ready$", Within: 20 * time.Millisecond}
	for _, tc := range []struct {
		name string
		ctx  context.Context
		t    Target
		want error
	}{
		{"time passes", t.Context(), never, experiment.ErrNotReady},
		{"service ends", t.Context(), gone, experiment.ErrExited},
		{"caller gives up", cancelled, never, context.Canceled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := Await(tc.ctx, s, tc.t, time.Millisecond); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

func TestLogCountsMatches(t *testing.T) {
	tg := Target{Name: "db", Logs: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("ready for connections\nstopping\nready for connections")), nil
	}}
	for times, holds := range map[int]bool{0: true, 1: true, 2: true, 3: false} {
		err := try(t.Context(), experiment.Step{Log: "ready for connections", Times: times}, tg)
		if (err == nil) != holds {
			t.Errorf("times %d: got %v, want it to hold: %v", times, err, holds)
		}
	}
}

func TestLogMatchesLines(t *testing.T) {
	tg := Target{Name: "db", Logs: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("starting\r\nready\nstill here")), nil
	}}
	for pattern, holds := range map[string]bool{"^ready$": true, "^starting$": true, "^still here$": true, "^read$": false, "ready.still": false} {
		if err := try(t.Context(), experiment.Step{Log: pattern}, tg); (err == nil) != holds {
			t.Errorf("%s: got %v, want it to hold: %v", pattern, err, holds)
		}
	}
}

func TestPortMustStayOpen(t *testing.T) {
	for _, tc := range []struct {
		name  string
		serve func(net.Conn)
		owns  bool
		holds bool
	}{
		{"silent and open", func(net.Conn) {}, true, true},
		{"speaks and closes", func(c net.Conn) { _, _ = c.Write([]byte("hello")); _ = c.Close() }, true, true},
		{"accepts and closes", func(c net.Conn) { _ = c.Close() }, true, false},
		{"somebody else's", func(net.Conn) {}, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					tc.serve(c)
				}
			}()
			tg := Target{
				Addr: func(int) (string, error) { return l.Addr().String(), nil },
				Owns: func(string) bool { return tc.owns },
			}
			if err := try(t.Context(), experiment.Step{Port: 6379}, tg); (err == nil) != tc.holds {
				t.Errorf("got %v, want it to hold: %v", err, tc.holds)
			}
		})
	}
}
