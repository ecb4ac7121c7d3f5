//go:build unix

package load

import (
	"io"
	"net"
	"syscall"
	"time"
)

// direct sends a request and waits for its response in one go, on a plain TCP connection.
// In the usual order (write, read) every response is looked for once before it can be
// there; here the runtime's poller is told to wait before the request is sent, so that
// nothing is missed, and the system call is spared. Only a close that came right before the
// request, of a server that goes on reading, is found late: at the earliest deadline.
//
// Somebody else may send the request too, on a connection on which its owner waits (rest).
type direct struct {
	raw  syscall.RawConn
	step func(fd uintptr) bool // what the poller does, made once
	push func(fd uintptr) bool // what is done to send, made once
	list func() bool           // is asked once before it is waited; nil: nobody is
	out  []byte                // what is left of the request
	sent bool                  // it was written, or as much of it as there was room for
	in   []byte
	n    int // bytes read
	err  error
}

// newDirect gives nil where that cannot be done.
func newDirect(nc net.Conn) *direct {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	d := &direct{raw: raw}
	d.step, d.push = d.take, d.write
	return d
}

// turn sends the request and gives what is first read of the response.
func (d *direct) turn(c *conn, deadline time.Time) (n int, err error) {
	d.out, d.sent = c.out, false
	err = d.wait(c.buf)
	for err != nil && c.tooEarly(err, deadline) {
		err = d.wait(c.buf)
	}
	c.written += int64(len(c.out) - len(d.out))
	switch {
	case err != nil:
		return 0, err
	case len(d.out) > 0:
		if err := c.send(d.out, deadline); err != nil {
			return 0, err
		}
		return c.Read(c.buf)
	default:
		return d.n, d.err
	}
}

// send sends the request of a connection on which its owner rests, and gives what there was
// no room for; all of it after a fault, which the next write meets.
func (d *direct) send(c *conn) (rest []byte) {
	d.out = c.out
	_ = d.raw.Write(d.push)
	c.written += int64(len(c.out) - len(d.out))
	if len(d.out) == 0 {
		return nil
	}
	return d.out
}

func (d *direct) write(fd uintptr) bool {
	if n, err := writeNow(fd, d.out); err == nil {
		d.out = d.out[n:]
	}
	return true
}

// rest waits until there is something to read, and gives what is first read of it. list,
// if there is one, is asked as soon as somebody else may send a request; where it declines,
// nothing is waited for.
func (d *direct) rest(c *conn, list func() bool) (n int, err error) {
	d.sent, d.list = true, list
	if err := d.wait(c.buf); err != nil {
		return 0, err
	}
	return d.n, d.err
}

func (d *direct) wait(in []byte) error {
	d.in, d.n, d.err = in, 0, nil
	return d.raw.Read(d.step)
}

// take is called with the descriptor of the connection, at first at once and then when
// there is something to read. It reports whether it wants to be called no more.
func (d *direct) take(fd uintptr) bool {
	if !d.sent {
		d.sent = true
		d.write(fd)
		return len(d.out) > 0 // no room, or a fault that the next write meets
	}
	if list := d.list; list != nil {
		d.list = nil
		return !list()
	}
	for {
		d.n, d.err = readNow(fd, d.in)
		switch {
		case d.err == syscall.EINTR: //nolint:errorlint // a bare number
			continue
		case d.err == syscall.EAGAIN: //nolint:errorlint // a bare number
			return false
		case d.n == 0 && d.err == nil:
			d.err = io.EOF
		}
		d.n = max(d.n, 0)
		return true
	}
}
