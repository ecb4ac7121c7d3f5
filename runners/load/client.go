package load

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ceteris/ceteris/experiment"
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
	requests  []request     // by kind
	secure    bool          // TLS
	http2     *http2        // nil: HTTP/1.1
	dialling  chan struct{} // has room for connections that are being opened
	wary      atomic.Bool   // the server has closed a connection without a word before
}

// maxDialling is how many connections are opened at once to one target: more would be
// turned away by the queue of a listening socket, and wait for a second.
const maxDialling = 256

// newClient makes one for a target, to which that many connections are to be opened.
func newClient(l experiment.Load, target, address string, connections int, dial DialFunc) (*client, error) {
	requests, err := compile(l, target)
	if err != nil {
		return nil, err
	}
	if dial, err = secured(l, target, dial); err != nil {
		return nil, err
	}
	c := &client{
		dial: dial, address: address, keepAlive: l.KeepAlive, secure: l.TLS != nil, requests: requests,
		dialling: make(chan struct{}, maxDialling),
	}
	if l.HTTP2 {
		c.http2 = newHTTP2(l, address, connections, dial)
	}
	return c, nil
}

// place gives a connection to be opened.
func (c *client) place() *conn {
	cn := &conn{client: c}
	if c.http2 != nil {
		cn.stream = c.http2.place()
	}
	return cn
}

// outcome is the end of a request: a status, and a kind unless it succeeded.
type outcome struct {
	status int    // 0 without a whole response
	kind   string // empty for success
	traffic
}

// traffic is what a request cost on the wire.
type traffic struct {
	connects          int64 // connections opened for it
	written, received int64 // bytes of requests and responses
}

func (t *traffic) add(o traffic) {
	t.connects += o.connects
	t.written += o.written
	t.received += o.received
}

// do sends the request of this kind that was written into cn and reads its response
// whole, by the deadline. It opens the connection where needed, or where it was idle for
// so long that the server has closed it, and leaves it open if it may be used again. When
// ctx ends, every connection is closed.
func (c *client) do(ctx context.Context, cn *conn, q *request, idle time.Duration, deadline time.Time) outcome {
	if cn.stream != nil {
		return cn.stream.do(ctx, q, cn.out, cn.want, deadline)
	}
	cn.traffic = traffic{}
	reused := cn.Conn != nil
	if reused && cn.stale(idle, c.wary.Load()) {
		cn.drop()
		reused = false
	}
	if !reused {
		if err := c.open(ctx, cn, deadline); err != nil {
			return outcome{kind: kindOf(err, experiment.FailureConnect)}
		}
	}
	n, err := cn.exchange(q, deadline)
	return c.settle(cn, q, n, err, deadline, reused)
}

// settle reads the rest of a response, of which n bytes were read with this error, and
// says what became of its request. reused tells that the connection was not opened for it.
func (c *client) settle(cn *conn, q *request, n int, err error, deadline time.Time, reused bool) outcome {
	err = cn.receive(n, err, deadline)
	o := outcome{status: cn.in.status, traffic: cn.traffic}
	switch {
	case err != nil:
		o.status, o.kind = 0, kindOf(err, experiment.FailureProtocol)
		if reused && cn.received == 0 && (o.kind == experiment.FailureEOF || o.kind == experiment.FailureReset) {
			c.wary.Store(true)
		}
	case !q.expects(o.status):
		o.kind = experiment.FailureStatus
	case q.looks && !bytes.Contains(cn.in.body, cn.want):
		o.kind = experiment.FailureBody
	}
	if err != nil || !cn.in.reusable || !c.keepAlive {
		cn.drop()
	}
	return o
}

func (c *client) open(around context.Context, cn *conn, deadline time.Time) error {
	ctx, cancel := context.WithDeadline(around, deadline)
	defer cancel()
	select {
	case c.dialling <- struct{}{}:
		defer func() { <-c.dialling }()
	case <-ctx.Done():
		return ctx.Err()
	}
	// Connecting takes a deep stack, which every user would keep.
	type opened struct {
		nc  net.Conn
		err error
	}
	done := make(chan opened)
	go func() {
		nc, err := c.dial(ctx, "tcp", c.address)
		done <- opened{nc, err}
	}()
	o := <-done
	if o.err != nil {
		return o.err
	}
	nc := o.nc
	cn.connects++
	cn.opened(nc, context.AfterFunc(around, func() { _ = nc.Close() }))
	return nil
}

// kindOf classifies an error; other is for those without a kind of their own.
func kindOf(err error, other string) string {
	var own interface{ kind() string }
	if errors.As(err, &own) {
		return own.kind()
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return experiment.FailureTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return experiment.FailureRefused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return experiment.FailureReset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return experiment.FailureEOF
	}
	var n net.Error
	if errors.As(err, &n) && n.Timeout() {
		return experiment.FailureTimeout
	}
	return other
}
