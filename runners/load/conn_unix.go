//go:build unix

package load

import (
	"net"
	"syscall"
)

// closedByPeer reports whether an idle connection was closed by the server, or
// holds bytes that nobody asked for. It costs one system call and never waits.
// Without this a request could be sent into a connection that is already gone.
func closedByPeer(c net.Conn) bool {
	if over, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = over.NetConn() // below TLS, where no server speaks unasked but to take leave
	}
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return true
	}
	alive := false
	err = raw.Control(func(fd uintptr) { // not Read: it minds the last deadline
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		alive = err == syscall.EAGAIN || err == syscall.EINTR
	})
	return err != nil || !alive
}
