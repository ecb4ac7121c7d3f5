package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// http2 sends requests to one target over HTTP/2, by net/http. Its connections are shared:
// requests of many places go over one at a time, up to what the server allows; those above
// wait. Nothing is ever sent twice, be it refused or told to come again.
type http2 struct {
	transport *http.Transport
	scheme    string
	address   string
	sessions  []*session
	places    atomic.Int64 // handed out
}

// opener is the key under which a context holds the number of connections that were
// opened for its request, an *int64.
type opener struct{}

// newHTTP2 makes a client of that many connections; dial secures them where the load has
// TLS. Without it HTTP/2 is spoken from the start.
func newHTTP2(l experiment.Load, address string, connections int, dial DialFunc) *http2 {
	speaks := new(http.Protocols)
	h := &http2{scheme: "http", address: address}
	counted := func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := dial(ctx, network, address)
		if n, counts := ctx.Value(opener{}).(*int64); counts && err == nil {
			*n++ // by the goroutine that waits for the connection
		}
		return nc, err
	}
	h.transport = &http.Transport{
		DialContext: counted, DialTLSContext: counted, Protocols: speaks,
		DisableCompression: true, MaxResponseHeaderBytes: maxHeader,
	}
	speaks.SetUnencryptedHTTP2(l.TLS == nil)
	speaks.SetHTTP2(l.TLS != nil)
	if l.TLS != nil {
		h.scheme = "https"
	}
	for range max(connections, 1) { // there may be more targets than connections
		h.sessions = append(h.sessions, &session{of: h, turn: make(chan struct{}, 1)})
	}
	return h
}

// place gives a place on one of the connections, which are dealt in turn.
func (h *http2) place() *stream {
	n := int(h.places.Add(1) - 1)
	s := h.sessions[n%len(h.sessions)]
	s.places.Add(1)
	return &stream{on: s}
}

// session is a connection: open, or yet to be opened.
type session struct {
	of     *http2
	turn   chan struct{} // holds an element while somebody looks at what follows
	cc     *http.ClientConn
	forget func() bool // ends the watch over the context
	places atomic.Int64
}

// ready gives the connection, opened where needed: a fresh one then. One that proved
// useless is replaced: what is under way on it is finished there.
func (s *session) ready(ctx, hard context.Context, useless *http.ClientConn) (cc *http.ClientConn, fresh bool, err error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	if cc := s.cc; cc != nil && cc != useless && cc.Err() == nil && (cc.Available() > 0 || cc.InFlight() > 0) {
		return cc, false, nil // full ones are waited for
	}
	if s.cc != nil {
		s.forget()
		if s.cc.InFlight() == 0 { // else it ends with the last of them
			_ = s.cc.Close()
		}
		s.cc = nil
	}
	if cc, err = s.of.transport.NewClientConn(ctx, s.of.scheme, s.of.address); err != nil {
		return nil, false, err
	}
	s.cc, s.forget = cc, context.AfterFunc(hard, func() { _ = cc.Close() })
	return cc, true, nil
}

// stream is a place for one request at a time on a connection over HTTP/2, as a conn is
// over HTTP/1.1.
type stream struct {
	on   *session
	body []byte // of the response where it is looked into
	size int64  // bytes of the body of the last response; its fields are packed with those before
}

// drop gives the place back. The last one closes the connection.
func (s *stream) drop() {
	if s.on.places.Add(-1) > 0 {
		return
	}
	s.on.turn <- struct{}{}
	defer func() { <-s.on.turn }()
	if s.on.cc != nil {
		s.on.forget()
		_ = s.on.cc.Close()
		s.on.cc = nil
	}
}

// do sends a request as it was written for HTTP/1.1 and reads its response whole, whose
// body must hold want. When ctx ends, the connection is closed.
func (s *stream) do(ctx context.Context, q *request, written, want []byte, deadline time.Time) outcome {
	var opened int64
	o := s.send(context.WithValue(ctx, opener{}, &opened), q, written, want, deadline)
	o.connects, o.received = opened, s.size // what goes over the wire beside bodies is not known
	return o
}

func (s *stream) send(ctx context.Context, q *request, written, want []byte, deadline time.Time) outcome {
	s.size = 0
	within, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	var useless *http.ClientConn
	for {
		cc, fresh, err := s.on.ready(within, ctx, useless)
		if err != nil {
			return outcome{kind: kindOf(err, experiment.FailureConnect)}
		}
		o, sent := s.exchange(within, cc, q, written, want)
		if sent || fresh || within.Err() != nil {
			return o
		}
		useless = cc // the server closed it, or is about to: no request was lost
	}
}

// exchange sends the request over this connection, and tells whether it began to.
func (s *stream) exchange(ctx context.Context, cc *http.ClientConn, q *request, written, want []byte) (o outcome, sent bool) {
	var began atomic.Bool
	req, err := s.on.of.request(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaderField: func(string, []string) { began.Store(true) },
	}), written)
	if err != nil {
		return outcome{kind: experiment.FailureProtocol}, true
	}
	resp, err := cc.RoundTrip(req)
	if err != nil {
		return outcome{kind: http2Kind(err)}, began.Load()
	}
	defer resp.Body.Close()
	if err := s.read(resp.Body, q.looks); err != nil {
		return outcome{kind: http2Kind(err)}, true
	}
	o.status = resp.StatusCode
	switch {
	case !q.expects(o.status):
		o.kind = experiment.FailureStatus
	case q.looks && !bytes.Contains(s.body, want):
		o.kind = experiment.FailureBody
	}
	return o, true
}

// request makes the request of what was written for HTTP/1.1. Without it being parsed
// again there would be two ways in which requests are made.
func (h *http2) request(ctx context.Context, written []byte) (*http.Request, error) {
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(written)))
	if err != nil {
		return nil, err
	}
	req.RequestURI, req.URL.Scheme, req.URL.Host = "", h.scheme, req.Host
	return req.WithContext(ctx), nil
}

// read reads a body, and keeps its first maxLook bytes where it is looked into.
func (s *stream) read(body io.Reader, looks bool) (err error) {
	if looks {
		kept := bytes.NewBuffer(s.body[:0])
		s.size, err = io.Copy(kept, io.LimitReader(body, maxLook))
		s.body = kept.Bytes()
		if err != nil {
			return err
		}
	}
	n, err := io.Copy(io.Discard, body)
	s.size += n
	return err
}

// resetError is taken from the error of net/http's own by the names of its fields.
type resetError struct {
	StreamID uint32
	Code     uint32 // RFC 9113, section 7
	Cause    error
}

func (e resetError) Error() string { return e.Cause.Error() }

// http2Kind classifies an error of net/http, most of which have no exported type.
func http2Kind(err error) string {
	const protocolError = 1
	var reset resetError
	switch {
	case errors.As(err, &reset) && reset.Code != protocolError:
		return experiment.FailureReset
	case strings.Contains(err.Error(), "GOAWAY"):
		return experiment.FailureEOF
	default:
		return kindOf(err, experiment.FailureProtocol)
	}
}
