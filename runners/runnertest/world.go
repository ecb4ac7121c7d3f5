package runnertest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// patience bounds what has to happen some time. It is no measure of speed.
const patience = 30 * time.Second

// world is one opened environment, with an owner of its own.
type world struct {
	t     *testing.T
	s     *suite
	owner string
	key   experiment.RunKey
	env   experiment.Env
}

// open opens an environment. At the end of the test it is closed, and nothing of
// its owner may be left.
func (s *suite) open(t *testing.T) *world {
	t.Helper()
	owner, err := experiment.ThisOwner("conformance-" + rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	return s.openFor(t, owner)
}

func (s *suite) openFor(t *testing.T, owner experiment.Owner) *world {
	t.Helper()
	w := &world{t: t, s: s, owner: owner.String(), key: experiment.RunKey{Owner: owner.String(), Sweep: 7, Run: 11}}
	env, err := s.runner.Open(within(t, patience), w.key)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	w.env = env
	t.Cleanup(func() {
		w.close()
		if left := s.remains(t, w.owner); len(left) > 0 {
			t.Errorf("left after close: %q", left)
		}
	})
	return w
}

// close closes the environment; it may have been closed before.
func (w *world) close() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), 2*patience)
	defer cancel()
	if err := w.env.Close(ctx); err != nil {
		w.t.Errorf("close: %v", err)
	}
}

// launch starts a service that has to become ready.
func (w *world) launch(svc experiment.Service) experiment.Proc {
	w.t.Helper()
	proc, err := w.env.Launch(within(w.t, 2*patience), svc)
	if err != nil {
		w.t.Fatalf("launch %s: %v", svc.Name, err)
	}
	return proc
}

// refuse starts a service whose launch has to fail, and checks that nothing of it
// is left.
func (w *world) refuse(ctx context.Context, svc experiment.Service) error {
	w.t.Helper()
	proc, err := w.env.Launch(ctx, svc)
	if err == nil {
		_ = proc.Stop(context.WithoutCancel(ctx))
		w.t.Fatalf("launch %s: no error", svc.Name)
	}
	if left := w.s.remains(w.t, w.owner, "process", "container"); len(left) > 0 {
		w.t.Errorf("left after a failed launch: %q", left)
	}
	return err
}

// remains names what is left of an owner, of the given kinds or of any.
func (s *suite) remains(t testing.TB, owner string, kinds ...string) []string {
	t.Helper()
	var left []string
	if c, ok := s.runner.(experiment.Cleaner); ok {
		all, err := c.Leftovers(context.WithoutCancel(t.Context()))
		if err != nil {
			t.Errorf("leftovers: %v", err)
		}
		for _, l := range all {
			if l.Owner == owner && (len(kinds) == 0 || slices.Contains(kinds, l.Kind)) {
				left = append(left, l.Kind+" "+l.ID+" "+l.Name)
			}
		}
	}
	if s.Remains != nil && (len(kinds) == 0 || slices.Contains(kinds, "process")) {
		left = append(left, s.Remains(t, owner)...)
	}
	return left
}

// stop stops a service and gives its end.
func (w *world) stop(p experiment.Proc) experiment.Exit {
	w.t.Helper()
	if err := p.Stop(within(w.t, patience)); err != nil {
		w.t.Fatalf("stop: %v", err)
	}
	return w.wait(p)
}

// crash lets a service in mode crash end by itself. One that answers no requests
// has been launched with AFTER and CODE in its environment and does so anyway.
func (w *world) crash(p experiment.Proc, code int) {
	w.t.Helper()
	if !w.s.Capabilities.Serves {
		return
	}
	if got, err := w.ask(p, "/exit", "code", strconv.Itoa(code)); err == nil {
		w.t.Fatalf("it answered %q instead of ending", got)
	}
}

func (w *world) wait(p experiment.Proc) experiment.Exit {
	w.t.Helper()
	exit, err := p.Wait(within(w.t, patience))
	if err != nil {
		w.t.Fatalf("wait: %v", err)
	}
	return exit
}

func (w *world) usage(p experiment.Proc) experiment.Usage {
	w.t.Helper()
	u, err := p.Usage(within(w.t, patience))
	if err != nil {
		w.t.Fatalf("usage: %v", err)
	}
	if u.At.IsZero() {
		w.t.Fatal("usage without a time")
	}
	return u
}

func (w *world) logs(p experiment.Proc) string {
	w.t.Helper()
	r, err := p.Logs(within(w.t, patience), false)
	if err != nil {
		w.t.Fatalf("logs: %v", err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		w.t.Fatalf("logs: %v", err)
	}
	return string(b)
}

// awaitLog waits until the output holds the text.
func (w *world) awaitLog(p experiment.Proc, text string) {
	w.t.Helper()
	for ctx := within(w.t, patience); !strings.Contains(w.logs(p), text); pause(ctx) {
		if ctx.Err() != nil {
			w.t.Fatalf("%q did not appear in the output", text)
		}
	}
}

// pause waits a little between two polls.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
}

// ask sends a request to the test subject; params are names and values in turn.
func (w *world) ask(p experiment.Proc, path string, params ...string) (string, error) {
	w.t.Helper()
	addr, err := p.Addr(SubjectPort, experiment.FromConductor)
	if err != nil {
		return "", err
	}
	query := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		query.Set(params[i], params[i+1])
	}
	target := url.URL{Scheme: "http", Host: addr, Path: path, RawQuery: query.Encode()}
	req, err := http.NewRequestWithContext(within(w.t, patience), http.MethodGet, target.String(), nil)
	if err != nil {
		return "", err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status + ": " + string(body))
	}
	return string(body), err
}

func (w *world) get(p experiment.Proc, path string, params ...string) string {
	w.t.Helper()
	body, err := w.ask(p, path, params...)
	if err != nil {
		w.t.Fatalf("%s: %v", path, err)
	}
	return body
}

func getJSON[T any](w *world, p experiment.Proc, path string) T {
	w.t.Helper()
	var v T
	if err := json.Unmarshal([]byte(w.get(p, path)), &v); err != nil {
		w.t.Fatalf("%s: %v", path, err)
	}
	return v
}

// refused says whether nothing accepts connections any more where the service did.
func refused(ctx context.Context, addr string) bool {
	if !ours(addr) {
		return true // its network is gone: a packet would leave this host
	}
	conn, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return true
	}
	_ = conn.Close()
	return false
}

// ours reports whether an address is on loopback or on a network that this host
// has an interface in.
func ours(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	if ip.IsLoopback() {
		return true
	}
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range interfaces {
		if n, ok := a.(*net.IPNet); ok && n.Contains(ip) {
			return true
		}
	}
	return false
}
