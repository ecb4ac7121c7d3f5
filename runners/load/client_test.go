package load

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// scripted serves each connection by answering the n-th request on it (from 0)
// with answers[n] and then closing; "RST" resets instead, "" hangs.
func scripted(t *testing.T, answers ...string) (address string, requests *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	requests = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answer(c, requests, answers)
		}
	}()
	return l.Addr().String(), requests
}

func answer(c net.Conn, requests *atomic.Int64, answers []string) {
	defer c.Close()
	in := bufio.NewReader(c)
	for _, a := range answers {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		requests.Add(1)
		switch a {
		case "RST":
			_ = c.(*net.TCPConn).SetLinger(0)
			return
		case "":
			_, _ = in.ReadByte()
			return
		}
		if _, err := io.WriteString(c, a); err != nil {
			return
		}
	}
}

const ok2 = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func TestClientReadsEveryFormOfResponse(t *testing.T) {
	tests := map[string]struct {
		method  string
		answers []string // on one connection
		want    []outcome
		dials   int64
	}{
		"length":                  {"GET", []string{ok2, ok2}, []outcome{{status: 200}, {status: 200}}, 1},
		"chunked, with a trailer": {"GET", []string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n", ok2}, []outcome{{status: 200}, {status: 200}}, 1},
		"up to the close":         {"GET", []string{"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it"}, []outcome{{status: 200}, {status: 200}}, 2},
		"HTTP/1.0":                {"GET", []string{"HTTP/1.0 200 OK\r\n\r\nold"}, []outcome{{status: 200}, {status: 200}}, 2},
		"HEAD has no body":        {"HEAD", []string{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", ok2[:len(ok2)-2]}, []outcome{{status: 200}, {status: 200}}, 1},
		"204 has no body":         {"GET", []string{"HTTP/1.1 204 No Content\r\n\r\n", ok2}, []outcome{{status: 204}, {status: 200}}, 1},
		"304 has no body":         {"GET", []string{"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", ok2}, []outcome{{status: 304}, {status: 200}}, 1},
		"100 and 103 go ahead":    {"POST", []string{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok2, ok2}, []outcome{{status: 200}, {status: 200}}, 1},
		"1xx without end":         {"GET", []string{strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 9)}, []outcome{{kind: experiment.FailureProtocol}}, 1},
		"101 is final":            {"GET", []string{"HTTP/1.1 101 Switching Protocols\r\n\r\n"}, []outcome{{status: 101, kind: experiment.FailureStatus}, {status: 101, kind: experiment.FailureStatus}}, 2},
		"399 is a success":        {"GET", []string{"HTTP/1.1 399 X\r\nContent-Length: 0\r\n\r\n", ok2}, []outcome{{status: 399}, {status: 200}}, 1},
		"400 is none":             {"GET", []string{"HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n", ok2}, []outcome{{status: 400, kind: experiment.FailureStatus}, {status: 200}}, 1},
		"no HTTP":                 {"GET", []string{"hello\r\n"}, []outcome{{kind: experiment.FailureProtocol}, {kind: experiment.FailureProtocol}}, 2},
		"wrong chunk":             {"GET", []string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}, []outcome{{kind: experiment.FailureProtocol}}, 1},
		"head beyond reason":      {"GET", []string{"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxHeader)}, []outcome{{kind: experiment.FailureOversized}}, 1},
		"closed before the head":  {"GET", []string{"HTTP/1.1 200 OK\r\nX"}, []outcome{{kind: experiment.FailureEOF}, {kind: experiment.FailureEOF}}, 2},
		"closed inside the body":  {"GET", []string{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"}, []outcome{{kind: experiment.FailureEOF}, {kind: experiment.FailureEOF}}, 2},
		"closed inside a chunk":   {"GET", []string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf"}, []outcome{{kind: experiment.FailureEOF}}, 1},
		"reset":                   {"GET", []string{"RST"}, []outcome{{kind: experiment.FailureReset}, {kind: experiment.FailureReset}}, 2},
		"more than was asked for": {"GET", []string{ok2 + ok2, ok2}, []outcome{{status: 200}, {status: 200}}, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			address, requests := scripted(t, tt.answers...)
			var dials atomic.Int64
			c, cn := newConn(t, address, experiment.Request{Method: tt.method, Path: experiment.Literal("/x")}, true, counted(&dials))
			defer cn.drop()
			for i, want := range tt.want {
				if got := doOne(t.Context(), c, cn, time.Now().Add(time.Minute)); got != want {
					t.Errorf("request %d: got %+v, want %+v", i, got, want)
				}
			}
			if dials.Load() != tt.dials {
				t.Errorf("%d connections, want %d", dials.Load(), tt.dials)
			}
			if requests.Load() != int64(len(tt.want)) {
				t.Errorf("the server counted %d requests, want %d", requests.Load(), len(tt.want))
			}
		})
	}
}

// newConn makes a client of one kind of request, which is written into the
// connection.
func newConn(t *testing.T, address string, q experiment.Request, keepAlive bool, dial DialFunc) (*client, *conn) {
	t.Helper()
	c, err := newClient(experiment.Load{Requests: []experiment.Request{q}, KeepAlive: keepAlive}, address, address, 1, dial)
	if err != nil {
		t.Fatal(err)
	}
	cn := c.place()
	c.requests[0].write(cn, rand.New(rand.NewPCG(1, 1)), nil)
	return c, cn
}

// doOne sends the request over a connection that was idle for long, and gives its end
// without its traffic.
func doOne(ctx context.Context, c *client, cn *conn, deadline time.Time) outcome {
	o := c.do(ctx, cn, &c.requests[0], time.Hour, deadline)
	o.traffic = traffic{}
	return o
}

func counted(dials *atomic.Int64) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
}

func TestClientOpensAConnectionForEachRequestWithoutKeepAlive(t *testing.T) {
	address, _ := scripted(t, ok2, ok2, ok2)
	var dials atomic.Int64
	c, cn := newConn(t, address, experiment.Request{Method: "GET", Path: experiment.Literal("/")}, false, counted(&dials))
	for range 3 {
		if got := doOne(t.Context(), c, cn, time.Now().Add(time.Minute)); got != (outcome{status: 200}) {
			t.Errorf("got %+v", got)
		}
		if cn.Conn != nil {
			t.Error("the connection was left open")
		}
	}
	if dials.Load() != 3 {
		t.Errorf("%d connections, want 3", dials.Load())
	}
	if !strings.Contains(string(cn.out), "Connection: close\r\n") {
		t.Error("the server is not told")
	}
}

func TestClientTimesOut(t *testing.T) {
	address, _ := scripted(t, "")
	c, cn := newConn(t, address, experiment.Request{Method: "GET", Path: experiment.Literal("/")}, true, (&net.Dialer{}).DialContext)
	if got := doOne(t.Context(), c, cn, time.Now().Add(20*ms)); got != (outcome{kind: experiment.FailureTimeout}) {
		t.Errorf("got %+v", got)
	}
	if cn.Conn != nil {
		t.Error("a connection with a response to come was kept")
	}
	if got := doOne(t.Context(), c, cn, time.Now().Add(-1)); got != (outcome{kind: experiment.FailureTimeout}) {
		t.Errorf("too late to connect: got %+v", got)
	}
}

func TestClientIsCutOffWithItsContext(t *testing.T) {
	address, requests := scripted(t, "")
	c, cn := newConn(t, address, experiment.Request{Method: "GET", Path: experiment.Literal("/")}, true, (&net.Dialer{}).DialContext)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for requests.Load() == 0 {
			time.Sleep(ms)
		}
		cancel()
	}()
	if got := doOne(ctx, c, cn, time.Now().Add(time.Hour)); got.kind == "" {
		t.Errorf("got %+v", got)
	}
}

func TestIdleConnectionsThatTheServerClosedAreNoFailures(t *testing.T) {
	address, requests := scripted(t, ok2) // closes after one, and does not say so
	c, cn := newConn(t, address, experiment.Request{Method: "GET", Path: experiment.Literal("/")}, true, (&net.Dialer{}).DialContext)
	defer cn.drop()
	for i := range 3 {
		if got := doOne(t.Context(), c, cn, time.Now().Add(time.Minute)); got != (outcome{status: 200}) {
			t.Errorf("request %d: got %+v", i, got)
		}
		for !cn.watch.closed() { // until the close has arrived
			time.Sleep(ms)
		}
	}
	if requests.Load() != 3 {
		t.Errorf("the server counted %d requests, want 3", requests.Load())
	}
}

func TestKindsOfErrors(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	for want, err := range map[string]error{
		experiment.FailureRefused: refused,
		experiment.FailureReset:   &net.OpError{Op: "write", Err: syscall.EPIPE},
		experiment.FailureTimeout: &net.OpError{Op: "dial", Err: context.DeadlineExceeded},
		experiment.FailureEOF:     io.ErrUnexpectedEOF,
		experiment.FailureConnect: errors.New("no route"),
	} {
		if got := kindOf(err, experiment.FailureConnect); got != want {
			t.Errorf("%v: got %s, want %s", err, got, want)
		}
	}
}
