package load

import (
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// Bounds of a connection's buffer in bytes: what a small response takes, and what it
// grows to where responses are long.
const (
	leastBuffer = 512
	mostBuffer  = 64 << 10
)

// unchecked is how long a connection may have been idle without being asked whether
// the server has closed it: that costs a system call, and few are closed without a word
// right after a response.
const unchecked = 20 * time.Microsecond

// conn is a place among the connections of one client: open, or yet to be opened. One
// goroutine uses it at a time.
type conn struct {
	net.Conn
	client  *client
	in      framer
	buf     []byte
	out     []byte        // the next request
	own     []byte        // holds it where it is not always the same
	body    []byte        // of the next request where it is drawn
	want    []byte        // what the body of the response must hold
	surplus bool          // bytes came that belong to no response
	since   time.Duration // moment at which its last request was over
	known   time.Time     // the deadline that the connection has been told
	forget  func() bool   // ends the watch over the context
	stream  *stream       // nil: HTTP/1.1
	watch   *watch
	direct  *direct // nil: written and read in the usual order
	traffic
}

// opened takes a new connection.
func (c *conn) opened(nc net.Conn, forget func() bool) {
	c.Conn, c.forget, c.surplus = nc, forget, false
	c.known = time.Time{}
	c.watch, c.direct = newWatch(nc), newDirect(nc)
}

// drop closes the connection, if it is open and nobody shares it.
func (c *conn) drop() {
	if c.stream != nil {
		c.stream.drop()
	}
	if c.Conn != nil {
		c.forget()
		_ = c.Close()
		c.Conn = nil
	}
}

// stale reports whether a connection that was left open is of no use any more: the
// server has closed it meanwhile, which loses no request, or has said too much.
func (c *conn) stale(idle time.Duration, wary bool) bool {
	return c.surplus || (wary || idle > unchecked) && c.watch.closed()
}

// exchange sends the request and gives what is first read of the response.
func (c *conn) exchange(q *request, deadline time.Time) (n int, err error) {
	if err := c.expect(q, deadline); err != nil {
		return 0, err
	}
	if c.direct != nil {
		return c.direct.turn(c, deadline)
	}
	if err := c.send(c.out, deadline); err != nil {
		return 0, err
	}
	return c.Read(c.buf)
}

// expect prepares for the response to a request: the connection fails at the deadline, or earlier: one that it was told
// before is left where it is. Whoever meets it too early sets the right one (tooEarly),
// so that a request seldom pays for a timer. TLS does not survive an early one.
func (c *conn) expect(q *request, deadline time.Time) error {
	c.in.begin(q.toHead, q.looks)
	if c.buf == nil {
		c.buf = make([]byte, leastBuffer)
	}
	if !c.known.IsZero() && !deadline.Before(c.known) && !c.client.secure {
		return nil
	}
	c.known = deadline
	return c.SetDeadline(deadline)
}

// tooEarly reports whether an operation failed by a deadline that was not its own; the
// right one is set then.
func (c *conn) tooEarly(err error, deadline time.Time) bool {
	if !isTimeout(err) || !c.known.Before(deadline) {
		return false
	}
	c.known = deadline
	return c.SetDeadline(deadline) == nil
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

func (c *conn) send(out []byte, deadline time.Time) error {
	for len(out) > 0 {
		n, err := c.Write(out)
		c.written += int64(n)
		out = out[n:]
		if err != nil && !c.tooEarly(err, deadline) {
			return err
		}
	}
	return nil
}

// receive takes the response, of which n bytes were read with this error, no less of it
// and no more.
func (c *conn) receive(n int, fault error, deadline time.Time) error {
	for {
		c.received += int64(n)
		if n > 0 {
			used, done, err := c.in.feed(c.buf[:n])
			if err != nil {
				return err
			}
			if done {
				c.surplus = used < n
				return nil
			}
			if n == len(c.buf) && n < mostBuffer {
				c.buf = make([]byte, 2*n)
			}
		}
		switch {
		case fault == nil:
		case errors.Is(fault, io.EOF):
			_, err := c.in.end()
			return err
		case !c.tooEarly(fault, deadline):
			return fault
		}
		n, fault = c.Read(c.buf)
	}
}
