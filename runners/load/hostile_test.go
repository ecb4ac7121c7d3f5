package load

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// hostile is a server that answers every other request as it should, and misbehaves at the
// others.
type hostile struct {
	greet     string // sent before any request
	misbehave func(c net.Conn) (closes bool)
	fine, bad atomic.Int64
}

func (h *hostile) serve(c net.Conn) {
	defer c.Close()
	if _, err := io.WriteString(c, h.greet); err != nil {
		return
	}
	in := bufio.NewReader(c)
	for {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		if h.fine.Load() < h.bad.Load() {
			h.fine.Add(1)
			if _, err := io.WriteString(c, ok2); err != nil {
				return
			}
			continue
		}
		if h.bad.Add(1); h.misbehave(c) {
			return
		}
	}
}

func (h *hostile) start(t *testing.T) (address string) {
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
			go h.serve(c)
		}
	}()
	return l.Addr().String()
}

// says answers with text and closes.
func says(text string) func(net.Conn) bool {
	return func(c net.Conn) bool {
		_, _ = io.WriteString(c, text)
		return true
	}
}

// repeats says something again and again, until the client has had enough.
func repeats(first, again string, pause time.Duration) func(net.Conn) bool {
	return func(c net.Conn) bool {
		_, err := io.WriteString(c, first)
		for err == nil {
			time.Sleep(pause)
			_, err = io.WriteString(c, again)
		}
		return true
	}
}

// A server may do what it likes: each time it costs one request, which is counted by what
// went wrong with it, and the next one is answered over a connection of its own.
func TestAHostileServerCostsARequestEachTime(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\n"
	chunked := head + "Transfer-Encoding: chunked\r\n\r\n"
	for name, c := range map[string]struct {
		misbehave func(net.Conn) bool
		greet     string
		kind      string // of the failure; none: it is no failure
		status    string // if it is none
	}{
		"slow head":                 {misbehave: repeats(head, "X: y\r\n", 10*ms), kind: experiment.FailureTimeout},
		"slow status line":          {misbehave: repeats("HTTP/1.1 200 ", "x", 10*ms), kind: experiment.FailureTimeout},
		"endless chunk":             {misbehave: repeats(chunked+"7fffffffffffffff\r\n", "x", ms), kind: experiment.FailureTimeout},
		"chunks without end":        {misbehave: repeats(chunked, "1\r\nx\r\n", ms), kind: experiment.FailureTimeout},
		"chunks of extensions":      {misbehave: repeats(chunked, "1;"+strings.Repeat("x", 4000)+"\r\nx\r\n", 0), kind: experiment.FailureOversized},
		"head without end":          {misbehave: repeats(head, "X: "+strings.Repeat("y", 10_000)+"\r\n", 0), kind: experiment.FailureOversized},
		"line without end":          {misbehave: repeats(head, strings.Repeat("y", 10_000), 0), kind: experiment.FailureOversized},
		"trailer without end":       {misbehave: repeats(chunked+"0\r\n", "X: "+strings.Repeat("y", 10_000)+"\r\n", 0), kind: experiment.FailureOversized},
		"garbage":                   {misbehave: repeats("\x00\xff\x13", "\x00", ms), kind: experiment.FailureProtocol},
		"garbage behind the status": {misbehave: says(head + "\x00\r\n\r\n"), kind: experiment.FailureProtocol},
		"HTTP/0.9":                  {misbehave: says("<html>hello</html>"), kind: experiment.FailureProtocol},
		"HTTP/2":                    {misbehave: says("\x00\x00\x00\x04\x00\x00\x00\x00\x00"), kind: experiment.FailureProtocol},
		"the request come back":     {misbehave: says("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), kind: experiment.FailureProtocol},
		"shorter than it says":      {misbehave: says(head + "Content-Length: 9\r\n\r\nhalf"), kind: experiment.FailureEOF},
		"chunk cut off":             {misbehave: says(chunked + "9\r\nhalf"), kind: experiment.FailureEOF},
		"nothing":                   {misbehave: says(""), kind: experiment.FailureEOF},
		"longer than it says":       {misbehave: func(c net.Conn) bool { return !says(ok2 + "more and more")(c) }, status: "200"},
		"two responses":             {misbehave: func(c net.Conn) bool { return !says(ok2 + ok2)(c) }, status: "200"},
		"lengths that differ":       {misbehave: says(head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc"), kind: experiment.FailureProtocol},
		"100 without end":           {misbehave: repeats("", "HTTP/1.1 100 Continue\r\n\r\n", ms), kind: experiment.FailureProtocol},
		"a flood of 1xx":            {misbehave: says(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 1000)), kind: experiment.FailureProtocol},
		"redirects to itself": {misbehave: func(c net.Conn) bool {
			return !says("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")(c)
		}, status: "302"},
		"reset":              {misbehave: func(c net.Conn) bool { _ = c.(*net.TCPConn).SetLinger(0); return true }, kind: experiment.FailureReset},
		"answers in advance": {greet: ok2, misbehave: func(net.Conn) bool { return true }, status: "200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time goes by in waiting
			h := hostile{greet: c.greet, misbehave: c.misbehave}
			l := experiment.Load{
				Targets: []string{h.start(t)}, Requests: get(t, "/"), Closed: &experiment.ClosedLoad{Users: 1, Think: 20 * ms},
				Measure: 800 * ms, Timeout: 100 * ms, Connections: 1, KeepAlive: true,
			}
			if c.kind != experiment.FailureTimeout {
				l.Timeout = 5 * time.Second
			}
			got := onLoopback(t, l).Total
			fine, bad := h.fine.Load(), h.bad.Load()
			if got.Sent != fine+bad || got.Sent != got.OK+got.Failed+got.Unfinished || bad < 2 || fine < 2 {
				t.Errorf("the server counted %d answered and %d others, the generator %+v", fine, bad, got)
			}
			if c.kind != "" && (got.Errors[c.kind]+got.Unfinished != bad || got.OK != fine || len(got.Errors) != 1) {
				t.Errorf("%d times the server misbehaved and %d times not: got %+v, want kind %s", bad, fine, got, c.kind)
			}
			if c.kind == "" && (got.OK != got.Sent || got.Statuses[c.status] < bad) {
				t.Errorf("%d times the server misbehaved and %d times not: got %+v, want status %s", bad, fine, got, c.status)
			}
		})
	}
}
