package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// The kinds of failures, as they are counted in experiment.LoadResult.Errors.
const (
	kindTimeout  = "timeout"  // no whole response in time, counted from the real send
	kindReset    = "reset"    // the connection was reset
	kindRefused  = "refused"  // connection refused
	kindConnect  = "connect"  // no connection for another reason: unreachable, no free port
	kindEOF      = "eof"      // the connection was closed before the response was whole
	kindProtocol = "protocol" // the response is no HTTP/1.1
	kindStatus   = "status"   // a whole response whose status is not one of those expected
	kindBody     = "body"     // an expected status, and the body lacks what it must hold
)

const (
	maxHeader        = 1 << 20 // bytes of the head of a response
	maxInformational = 5       // responses 1xx before the final one
	maxLook          = 1 << 20 // bytes of a body that are searched for what it must hold
)

// DialFunc opens a connection, as net.Dialer.DialContext does.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// client sends requests to one target over HTTP/1.1, one at a time on each conn. It
// never sends a request twice: what was sent is what the server could count.
type client struct {
	dial      DialFunc
	address   string // HOST:PORT to dial
	keepAlive bool
	requests  []request // by kind
}

func newClient(l experiment.Load, target string, dial DialFunc) (*client, error) {
	requests, err := compile(l, target)
	return &client{dial: dial, address: target, keepAlive: l.KeepAlive, requests: requests}, err
}

// conn is a place among the connections of one client: open, or yet to be opened.
type conn struct {
	net.Conn
	client *client
	in     *bufio.Reader
	room   int64       // bytes that may still be read
	out    []byte      // the next request
	body   []byte      // of the next request where it is drawn, then of the response where it is looked into
	want   []byte      // what that must hold
	fault  error       // of the last read
	forget func() bool // ends the watch over the context
}

// Read reads from the connection, within the room that is left.
func (c *conn) Read(p []byte) (int, error) {
	if c.room <= 0 {
		return 0, errHeaderTooLong
	}
	n, err := c.Conn.Read(p)
	c.room -= int64(n)
	c.fault = err
	return n, err
}

var errHeaderTooLong = fmt.Errorf("the head of the response is longer than %d bytes", maxHeader)

// drop closes the connection, if it is open.
func (c *conn) drop() {
	if c.Conn != nil {
		c.forget()
		_ = c.Close()
		c.Conn = nil
	}
}

// outcome is the end of a request: a status, and a kind unless it succeeded.
type outcome struct {
	status int    // 0 without a whole response
	kind   string // empty for success
}

// do sends the request of this kind that was written into cn and reads its response
// whole. It opens the connection where needed, and leaves it open if it may be used
// again. When ctx ends, every connection is closed.
func (c *client) do(ctx context.Context, cn *conn, q *request, deadline time.Time) outcome {
	if cn.Conn != nil && (cn.in.Buffered() > 0 || closedByPeer(cn.Conn)) {
		cn.drop() // idle and closed by the server, or out of step: no request was lost
	}
	if cn.Conn == nil {
		if err := c.open(ctx, cn, deadline); err != nil {
			return outcome{kind: kindOf(err, kindConnect)}
		}
	}
	status, reusable, err := c.exchange(cn, q, deadline)
	if err != nil || !reusable || !c.keepAlive {
		cn.drop()
	}
	switch {
	case err != nil && cn.fault != nil: // a half-read response looks malformed
		return outcome{kind: kindOf(cn.fault, kindProtocol)}
	case err != nil:
		return outcome{kind: kindOf(err, kindProtocol)}
	case !q.expects(status):
		return outcome{status: status, kind: kindStatus}
	case q.looks && !bytes.Contains(cn.body, cn.want):
		return outcome{status: status, kind: kindBody}
	default:
		return outcome{status: status}
	}
}

func (c *client) open(ctx context.Context, cn *conn, deadline time.Time) error {
	dialCtx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	nc, err := c.dial(dialCtx, "tcp", c.address)
	if err != nil {
		return err
	}
	cn.Conn, cn.fault = nc, nil
	cn.forget = context.AfterFunc(ctx, func() { _ = nc.Close() })
	if cn.in == nil {
		cn.in = bufio.NewReader(cn)
	} else {
		cn.in.Reset(cn)
	}
	return nil
}

func (c *client) exchange(cn *conn, q *request, deadline time.Time) (status int, reusable bool, err error) {
	if err := cn.SetDeadline(deadline); err != nil {
		return 0, false, err
	}
	if _, err := cn.Write(cn.out); err != nil {
		return 0, false, err
	}
	resp, err := c.response(cn, q)
	if err != nil {
		return 0, false, err
	}
	cn.room = 1 << 62
	if q.looks {
		err = cn.look(resp.Body)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	_ = resp.Body.Close()
	if err != nil {
		return 0, false, err
	}
	return resp.StatusCode, !resp.Close && resp.StatusCode != http.StatusSwitchingProtocols, nil
}

// look keeps the first maxLook bytes of a body.
func (c *conn) look(body io.Reader) error {
	c.body = c.body[:0]
	for len(c.body) < maxLook {
		if len(c.body) == cap(c.body) {
			c.body = slices.Grow(c.body, min(max(4096, cap(c.body)), maxLook-len(c.body)))
		}
		n, err := body.Read(c.body[len(c.body):min(cap(c.body), maxLook)])
		c.body = c.body[:len(c.body)+n]
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// response reads the head of the final response.
func (c *client) response(cn *conn, q *request) (*http.Response, error) {
	for range maxInformational + 1 {
		cn.room = maxHeader
		resp, err := http.ReadResponse(cn.in, q.probe)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode < 100 {
			return nil, fmt.Errorf("status %d", resp.StatusCode)
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			return resp, nil
		}
	}
	return nil, fmt.Errorf("more than %d responses 1xx", maxInformational)
}

// kindOf classifies an error; other is for those without a kind of their own.
func kindOf(err error, other string) string {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return kindTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return kindRefused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return kindReset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return kindEOF
	}
	var n net.Error
	if errors.As(err, &n) && n.Timeout() {
		return kindTimeout
	}
	return other
}
