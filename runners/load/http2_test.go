package load

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// overHTTP2 starts a server of net/http that speaks HTTP/2 from the start.
func overHTTP2(t *testing.T, handler http.HandlerFunc, change func(*http.Server)) (address string) {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	if change != nil {
		change(s.Config)
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// asking makes a client of that many connections for one kind of request, and what sends
// it from a place.
func asking(t *testing.T, address string, q experiment.Request, connections int, dial DialFunc) (*http2, func(*stream, time.Duration) outcome) {
	t.Helper()
	l := experiment.Load{Requests: []experiment.Request{q}, KeepAlive: true}
	all, err := compile(l, address)
	if err != nil {
		t.Fatal(err)
	}
	h := newHTTP2(l, address, connections, dial)
	return h, func(s *stream, timeout time.Duration) outcome {
		var cn conn // for what is written
		all[0].write(&cn, rand.New(rand.NewPCG(1, 1)), nil)
		o := s.do(t.Context(), &all[0], cn.out, cn.want, time.Now().Add(timeout))
		o.traffic = traffic{}
		return o
	}
}

func getRoot() experiment.Request {
	return experiment.Request{Method: "GET", Path: experiment.Literal("/")}
}

func TestHTTP2SendsWhatHTTP1Would(t *testing.T) {
	type seen struct {
		Proto, Method, URI, Host, Body string
		Length                         int64
		Header                         http.Header
	}
	got := make(chan seen, 1)
	address := overHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- seen{r.Proto, r.Method, r.RequestURI, r.Host, string(body), r.ContentLength, r.Header}
	}, nil)
	own := http.Header{"User-Agent": {"ceteris-loadgen"}, "Accept": {"*/*"}}
	for name, c := range map[string]struct {
		q    experiment.Request
		want seen
	}{
		"get":                 {experiment.Request{Method: "GET", Path: experiment.Literal("/a%2Fb//c?d=%20&e")}, seen{"HTTP/2.0", "GET", "/a%2Fb//c?d=%20&e", address, "", 0, own}},
		"head":                {experiment.Request{Method: "HEAD", Path: experiment.Literal("//a")}, seen{"HTTP/2.0", "HEAD", "//a", address, "", 0, own}},
		"post without a body": {experiment.Request{Method: "POST", Path: experiment.Literal("/")}, seen{"HTTP/2.0", "POST", "/", address, "", 0, http.Header{"User-Agent": {"ceteris-loadgen"}, "Accept": {"*/*"}, "Content-Length": {"0"}}}},
		"put, a host, a field": {
			experiment.Request{
				Method: "PUT", Path: experiment.Literal("/x"), Body: experiment.Literal("some"),
				Headers: []experiment.EnvVar{{Name: "Host", Value: experiment.Literal("shop")}, {Name: "X-Id", Value: experiment.Literal("7")}, {Name: "accept", Value: experiment.Literal("text/html")}},
			},
			seen{"HTTP/2.0", "PUT", "/x", "shop", "some", 4, http.Header{"User-Agent": {"ceteris-loadgen"}, "Accept": {"text/html"}, "X-Id": {"7"}, "Content-Length": {"4"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, ask := asking(t, address, c.q, 1, (&net.Dialer{}).DialContext)
			place := h.place()
			defer place.drop()
			if o := ask(place, time.Minute); o != (outcome{status: 200}) {
				t.Fatalf("got %+v", o)
			}
			if d := cmp.Diff(<-got, c.want); d != "" {
				t.Errorf("(-got +want):\n%s", d)
			}
		})
	}
}

// What a server counts is what was sent: a hundred requests from places that share
// connections.
func TestHTTP2SharesConnections(t *testing.T) {
	for name, limit := range map[string]int{"as many as come": 250, "three at a time": 3} {
		t.Run(name, func(t *testing.T) {
			var served, dials, now, most atomic.Int64
			address := overHTTP2(t, func(w http.ResponseWriter, _ *http.Request) {
				if n := now.Add(1); n > most.Load() {
					most.Store(n)
				}
				defer now.Add(-1)
				served.Add(1)
				_, _ = io.WriteString(w, strings.Repeat("x", 100))
			}, func(s *http.Server) { s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: limit} })
			h, ask := asking(t, address, getRoot(), 2, counted(&dials))
			// The first answer says how many the server allows on a connection.
			for range 2 {
				if o := ask(h.place(), time.Minute); o.kind != "" {
					t.Fatalf("got %+v", o)
				}
			}
			var users sync.WaitGroup
			for range 20 {
				place := h.place()
				users.Go(func() {
					defer place.drop()
					for range 5 {
						if o := ask(place, time.Minute); o != (outcome{status: 200}) || place.size != 100 {
							t.Errorf("got %+v of %d bytes", o, place.size)
						}
					}
				})
			}
			users.Wait()
			if served.Load() != 102 || dials.Load() != 2 || most.Load() > int64(2*limit) {
				t.Errorf("%d served over %d connections, %d at once", served.Load(), dials.Load(), most.Load())
			}
		})
	}
}

// A connection counts for the request that it was opened for, whichever ends first.
func TestHTTP2CountsConnections(t *testing.T) {
	release, there := make(chan struct{}), make(chan struct{})
	address := overHTTP2(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(there)
			<-release
		}
	}, nil)
	l := experiment.Load{KeepAlive: true, Requests: []experiment.Request{getRoot(), {Method: "GET", Path: experiment.Literal("/slow")}}}
	all, err := compile(l, address)
	if err != nil {
		t.Fatal(err)
	}
	h := newHTTP2(l, address, 2, (&net.Dialer{}).DialContext)
	ask := func(s *stream, q *request) outcome {
		return s.do(t.Context(), q, q.fixed, nil, time.Now().Add(time.Minute))
	}
	quick, slow := h.place(), h.place()
	defer quick.drop()
	defer slow.drop()
	if o := ask(quick, &all[0]); o.status != 200 || o.connects != 1 {
		t.Errorf("the first: %+v", o)
	}
	over := make(chan outcome)
	go func() { over <- ask(slow, &all[1]) }()
	<-there
	if o := ask(quick, &all[0]); o.status != 200 || o.connects != 0 {
		t.Errorf("over a connection that is there: %+v", o)
	}
	close(release)
	if o := <-over; o.status != 200 || o.connects != 1 {
		t.Errorf("over another one: %+v", o)
	}
}

func TestHTTP2JudgesResponses(t *testing.T) {
	address := overHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hint":
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = io.WriteString(w, "found")
		case "/moved":
			http.Redirect(w, r, "/moved", http.StatusFound)
		case "/none":
			w.WriteHeader(http.StatusNotFound)
		case "/reset":
			panic(http.ErrAbortHandler)
		case "/half":
			_, _ = io.WriteString(w, "ha")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "/hang":
			<-r.Context().Done()
		}
	}, nil)
	for path, want := range map[string]outcome{
		"/hint": {status: 200}, "/moved": {status: 302, kind: experiment.FailureBody}, "/none": {status: 404, kind: experiment.FailureStatus}, "/empty": {status: 200, kind: experiment.FailureBody},
		"/reset": {kind: experiment.FailureReset}, "/half": {kind: experiment.FailureReset}, "/hang": {kind: experiment.FailureTimeout},
	} {
		t.Run(path, func(t *testing.T) {
			var dials atomic.Int64
			h, ask := asking(t, address, experiment.Request{Method: "GET", Path: experiment.Literal(path), Has: experiment.Literal("found")}, 1, counted(&dials))
			place := h.place()
			defer place.drop()
			for range 2 {
				if got := ask(place, 100*ms); got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
			}
			if dials.Load() != 1 {
				t.Errorf("%d connections, want 1: only a stream was at fault", dials.Load())
			}
		})
	}
}

// frames speaks HTTP/2 by hand: it counts the requests of all its connections, and lets
// reply answer each.
func frames(t *testing.T, reply func(w frameWriter, stream uint32, nth int64)) (address string, requests *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	requests = new(atomic.Int64)
	serve := func(c net.Conn) {
		defer c.Close()
		w := frameWriter{c}
		if _, err := io.CopyN(io.Discard, c, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
			return
		}
		w.frame(4, 0, 0, nil) // settings
		for {
			var head [9]byte
			if _, err := io.ReadFull(c, head[:]); err != nil {
				return
			}
			if _, err := io.CopyN(io.Discard, c, int64(head[0])<<16|int64(head[1])<<8|int64(head[2])); err != nil {
				return
			}
			if head[3] == 1 { // headers
				reply(w, binary.BigEndian.Uint32(head[5:]), requests.Add(1))
			}
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().String(), requests
}

type frameWriter struct{ net.Conn }

func (w frameWriter) frame(kind, flags byte, stream uint32, payload []byte) {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	_, _ = w.Write(append(binary.BigEndian.AppendUint32(b, stream), payload...))
}

func (w frameWriter) ok(stream uint32) { w.frame(1, 5, stream, []byte{0x88}) } // :status 200, the end

func (w frameWriter) goAway(last uint32) {
	w.frame(7, 0, 0, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), 0))
}

// Each of these makes net/http's client send a request again. Here what a server counts is
// what was asked for.
func TestHTTP2NeverSendsTwice(t *testing.T) {
	for name, c := range map[string]struct {
		reply func(w frameWriter, stream uint32, nth int64)
		want  []outcome
		dials int64
	}{
		"refused streams": {
			reply: func(w frameWriter, stream uint32, _ int64) { w.frame(3, 0, stream, []byte{0, 0, 0, 7}) },
			want:  []outcome{{kind: experiment.FailureReset}, {kind: experiment.FailureReset}, {kind: experiment.FailureReset}}, dials: 1,
		},
		"goes away, and did nothing": {
			reply: func(w frameWriter, _ uint32, _ int64) { w.goAway(0) },
			want:  []outcome{{kind: experiment.FailureEOF}, {kind: experiment.FailureEOF}, {kind: experiment.FailureEOF}}, dials: 3,
		},
		"goes away after each response": {
			reply: func(w frameWriter, stream uint32, _ int64) { w.goAway(stream); w.ok(stream) },
			want:  []outcome{{status: 200}, {status: 200}, {status: 200}}, dials: 3,
		},
		"closes": {
			reply: func(w frameWriter, stream uint32, nth int64) {
				if nth%2 == 1 {
					w.ok(stream)
				} else {
					_ = w.Close()
				}
			},
			want: []outcome{{status: 200}, {kind: experiment.FailureEOF}, {status: 200}, {kind: experiment.FailureEOF}}, dials: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var dials atomic.Int64
			address, requests := frames(t, c.reply)
			h, ask := asking(t, address, getRoot(), 1, counted(&dials))
			place := h.place()
			defer place.drop()
			for i, want := range c.want {
				if got := ask(place, time.Minute); got != want {
					t.Errorf("request %d: got %+v, want %+v", i, got, want)
				}
			}
			if n := requests.Load(); n != int64(len(c.want)) {
				t.Errorf("the server counted %d requests, want %d", n, len(c.want))
			}
			if dials.Load() != c.dials {
				t.Errorf("%d connections, want %d", dials.Load(), c.dials)
			}
		})
	}
}

// A server that allows no further request on a connection gets a new one for each; the
// old ones are closed.
func TestHTTP2ClosesWhatItReplaces(t *testing.T) {
	address, requests := frames(t, func(w frameWriter, stream uint32, _ int64) {
		w.frame(4, 0, 0, []byte{0, 3, 0, 0, 0, 0}) // no more streams at once than 0
		w.ok(stream)
	})
	var dialled []net.Conn
	h, ask := asking(t, address, getRoot(), 1, func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		dialled = append(dialled, c)
		return c, err
	})
	place := h.place()
	for range 5 {
		if got := ask(place, time.Minute); got != (outcome{status: 200}) {
			t.Errorf("got %+v", got)
		}
	}
	place.drop()
	if requests.Load() != 5 || len(dialled) != 5 {
		t.Errorf("%d requests over %d connections, want 5 over 5", requests.Load(), len(dialled))
	}
	for i, c := range dialled {
		if err := c.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("connection %d is open: %v", i, err)
		}
	}
}

func TestHTTP2ToAServerOfHTTP1(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	h, ask := asking(t, s.Listener.Addr().String(), getRoot(), 1, (&net.Dialer{}).DialContext)
	place := h.place()
	defer place.drop()
	if got := ask(place, time.Minute); got != (outcome{kind: experiment.FailureProtocol}) {
		t.Errorf("got %+v", got)
	}
}

func TestHTTP2ConnectsAnewForEachRequestThatFindsNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	var dials atomic.Int64
	h, ask := asking(t, l.Addr().String(), getRoot(), 1, counted(&dials))
	place := h.place()
	defer place.drop()
	for range 3 {
		if got := ask(place, time.Minute); got != (outcome{kind: experiment.FailureRefused}) {
			t.Errorf("got %+v", got)
		}
	}
	if dials.Load() != 3 {
		t.Errorf("%d attempts, want 3", dials.Load())
	}
}

// One who waits while another connects waits no longer than its own timeout.
func TestHTTP2WaitsForAConnectionWithinItsTimeout(t *testing.T) {
	dialled := make(chan struct{}, 1)
	h, ask := asking(t, "192.0.2.1:80", getRoot(), 1, func(ctx context.Context, _, _ string) (net.Conn, error) {
		dialled <- struct{}{}
		<-ctx.Done()
		return nil, fmt.Errorf("dial: %w", ctx.Err())
	})
	first, second := h.place(), h.place()
	slow := make(chan outcome)
	go func() { slow <- ask(first, time.Second) }()
	<-dialled
	if got := ask(second, 10*ms); got != (outcome{kind: experiment.FailureTimeout}) || len(slow) > 0 {
		t.Errorf("got %+v", got)
	}
	if got := <-slow; got != (outcome{kind: experiment.FailureTimeout}) {
		t.Errorf("got %+v", got)
	}
	first.drop()
	second.drop()
}
