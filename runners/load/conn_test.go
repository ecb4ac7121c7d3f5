package load

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// A connection keeps the deadline of an earlier request while that lies before the one
// that counts: what is met too early is no timeout.
func TestEarlierDeadlinesAreNoTimeouts(t *testing.T) {
	for name, wrap := range map[string]func(net.Conn) net.Conn{
		"direct":             func(c net.Conn) net.Conn { return c },
		"in the usual order": func(c net.Conn) net.Conn { return struct{ net.Conn }{c} },
	} {
		t.Run(name, func(t *testing.T) {
			var slow atomic.Bool
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if slow.Load() {
					time.Sleep(150 * ms) // past the deadline of the first request
				}
				_, _ = io.WriteString(w, "ok")
			}))
			defer s.Close()
			dial := func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := (&net.Dialer{}).DialContext(ctx, network, address)
				return wrap(c), err
			}
			c, cn := newConn(t, s.Listener.Addr().String(), experiment.Request{Method: "GET", Path: experiment.Literal("/")}, true, dial)
			defer cn.drop()
			begin := time.Now()
			if got := doOne(t.Context(), c, cn, begin.Add(50*ms)); got != (outcome{status: 200}) {
				t.Fatalf("the first: %+v", got)
			}
			slow.Store(true)
			if got := doOne(t.Context(), c, cn, begin.Add(time.Minute)); got != (outcome{status: 200}) {
				t.Errorf("the second, which meets the deadline of the first: %+v", got)
			}
			if got := doOne(t.Context(), c, cn, time.Now().Add(20*ms)); got != (outcome{kind: experiment.FailureTimeout}) {
				t.Errorf("the third, whose deadline lies before that of the second: %+v", got)
			}
		})
	}
}

// Requests that do not fit into the buffers of the system, and responses larger than the
// generator's own, are whole.
func TestLargeRequestsAndResponses(t *testing.T) {
	const size = 8 << 20
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * ms) // until there is no room
		body, err := io.ReadAll(r.Body)
		if err != nil || len(body) != size || strings.Trim(string(body), "x") != "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = w.Write(body)
	}))
	defer s.Close()
	c, cn := newConn(t, s.Listener.Addr().String(), experiment.Request{
		Method: "POST", Path: experiment.Literal("/"), Body: experiment.Literal(strings.Repeat("x", size)),
	}, true, (&net.Dialer{}).DialContext)
	defer cn.drop()
	for range 2 {
		o := c.do(t.Context(), cn, &c.requests[0], 0, time.Now().Add(time.Minute))
		if o.status != 200 || o.kind != "" || o.written != int64(len(cn.out)) || o.received < size {
			t.Fatalf("got %+v, %d bytes were to be sent", o, len(cn.out))
		}
	}
}

// Under an open load, too, requests that do not fit into the buffers of the system are
// whole, and so are those that the deadline of an earlier one wakes.
func TestLargeRequestsOfAnOpenLoad(t *testing.T) {
	const size = 6 << 20
	var whole atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		time.Sleep(5 * ms) // until there is no room
		if body, err := io.ReadAll(r.Body); err == nil && len(body) == size {
			whole.Add(1)
		}
	}))
	defer s.Close()
	r := onLoopback(t, experiment.Load{
		Targets: []string{s.Listener.Addr().String()}, KeepAlive: true, Measure: 600 * ms, Timeout: 5 * time.Second, Connections: 2,
		Open:     &experiment.OpenLoad{Rate: 20, InFlight: 2, Queue: true},
		Requests: []experiment.Request{{Weight: 1, Method: "POST", Path: experiment.Literal("/"), Body: experiment.Literal(strings.Repeat("x", size))}},
	})
	if r.Total.OK != 12 || whole.Load() != 12 || r.Total.Connects > 2 {
		t.Errorf("%+v, the server saw %d whole requests, want 12", r.Total, whole.Load())
	}
}

// A connection that rests for longer than the timeout serves on, and one that the server
// closes meanwhile costs no request.
func TestConnectionsOfAnOpenLoadRest(t *testing.T) {
	for name, closes := range map[string]bool{"longer than the timeout": false, "until the server closes them": true} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
			if closes {
				s.Config.IdleTimeout = 10 * ms
			}
			s.Start()
			defer s.Close()
			r := onLoopback(t, experiment.Load{
				Targets: []string{s.Listener.Addr().String()}, KeepAlive: true, Measure: time.Second, Timeout: 50 * ms, Connections: 1,
				Open: &experiment.OpenLoad{Rate: 8, InFlight: 1}, Requests: get(t, "/"),
			})
			want := int64(1)
			if closes {
				want = 8
			}
			if r.Total.OK != 8 || r.Total.Connects != want {
				t.Errorf("%+v, want 8 successes over %d connections", r.Total, want)
			}
		})
	}
}

// A server that closes connections without a word costs the request that meets it, and
// no other from then on.
func TestAServerThatClosesWithoutAWordIsWatched(t *testing.T) {
	address, _ := scripted(t, ok2)
	c, cn := newConn(t, address, experiment.Request{Method: "GET", Path: experiment.Literal("/")}, true, (&net.Dialer{}).DialContext)
	defer cn.drop()
	if o := c.do(t.Context(), cn, &c.requests[0], 0, time.Now().Add(time.Minute)); o.status != 200 || o.connects != 1 {
		t.Fatalf("the first: %+v", o)
	}
	for !cn.watch.closed() {
		time.Sleep(ms)
	}
	if o := c.do(t.Context(), cn, &c.requests[0], 0, time.Now().Add(time.Minute)); o.kind != experiment.FailureEOF && o.kind != experiment.FailureReset {
		t.Fatalf("right after it: %+v", o)
	}
	for i := range 3 {
		if o := c.do(t.Context(), cn, &c.requests[0], 0, time.Now().Add(time.Minute)); o.status != 200 || o.connects != 1 {
			t.Errorf("request %d: %+v", i, o)
		}
		for !cn.watch.closed() {
			time.Sleep(ms)
		}
	}
}

// In the steady state a request allocates nothing, be it drawn, mixed or looked into.
func TestARequestAllocatesNothing(t *testing.T) {
	server := newEcho(t)
	for name, l := range map[string]experiment.Load{
		"closed":   {Closed: &experiment.ClosedLoad{Users: 8}, Connections: 8, Requests: get(t, "/")},
		"thinking": {Closed: &experiment.ClosedLoad{Users: 8, Think: ms}, Connections: 8, Requests: get(t, "/")},
		"open":     {Open: &experiment.OpenLoad{Rate: 5000, InFlight: 8}, Connections: 8, Requests: get(t, "/")},
		"drawn, mixed and looked into": {Closed: &experiment.ClosedLoad{Users: 8}, Connections: 8, Requests: []experiment.Request{
			{Name: "a", Weight: 1, Method: "GET", Path: template(t, "/${random:1..9999}"), Has: experiment.Literal("ok")},
			{Name: "b", Weight: 2, Method: "POST", Path: experiment.Literal("/"), Body: template(t, "n=${random:1..9999}")},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l.Targets, l.KeepAlive, l.Timeout = []string{server}, true, time.Second
			short, few := allocations(t, l, 300*ms)
			long, many := allocations(t, l, 1300*ms)
			// The rest is what is told of a second more, and of the values in it.
			if requests := many - few; requests < 2000 || long-short > 6000+requests*3/10 {
				t.Errorf("%d allocations in %d requests", long-short, requests)
			}
		})
	}
}

// allocations counts what a load of this length allocates, and its requests.
func allocations(t *testing.T, l experiment.Load, measure time.Duration) (mallocs, requests int64) {
	t.Helper()
	l.Measure = measure
	var (
		before, after runtime.MemStats
		out           bytes.Buffer
	)
	runtime.ReadMemStats(&before)
	if err := (Generator{Load: l, Out: &out}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	r, err := Reader{}.Read(t.Context(), &out, nil)
	if err != nil {
		t.Fatal(err)
	}
	return int64(after.Mallocs - before.Mallocs), r.Total.OK
}

// newEcho serves every request with the same response, without an allocation.
func newEcho(t *testing.T) (address string) {
	answer := []byte(ok2)
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 4096)
				for {
					if _, err := c.Read(buf); err != nil { // each request comes in one piece
						return
					}
					if _, err := c.Write(answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}
