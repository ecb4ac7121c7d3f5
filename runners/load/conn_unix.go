//go:build unix

package load

import (
	"net"
	"syscall"
)

// watch tells whether an idle connection was closed by the server, or holds bytes that
// nobody asked for. Without it a request could be sent into a connection that is already
// gone.
type watch struct {
	raw   syscall.RawConn
	look  func(fd uintptr) // made once
	alive bool
}

// newWatch gives nil where that cannot be told.
func newWatch(nc net.Conn) *watch {
	if over, ok := nc.(interface{ NetConn() net.Conn }); ok {
		nc = over.NetConn() // below TLS, where no server speaks unasked but to take leave
	}
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	w := &watch{raw: raw}
	w.look = w.peek
	return w
}

// closed costs one system call and never waits.
func (w *watch) closed() bool {
	if w == nil {
		return false
	}
	w.alive = false
	err := w.raw.Control(w.look) // not Read: it minds the last deadline
	return err != nil || !w.alive
}

func (w *watch) peek(fd uintptr) {
	var b [1]byte
	_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	w.alive = err == syscall.EAGAIN || err == syscall.EINTR
}
