package main

import (
	"net"
	"os"
	"strconv"
	"testing"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// Nagle's algorithm on either side of the link would add up to 40 ms to a
// request in two writes, which no setting of the link would explain.
func TestBothSidesSendAtOnce(t *testing.T) {
	up := upstream(t, echo)
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, "l", "127.0.0.1:0", up)
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	defer proxy.Stop()
	c := dial(t, proxy.Listen)
	if _, err := c.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err != nil { // both connections exist now
		t.Fatal(err)
	}
	client := c.LocalAddr().(*net.TCPAddr).Port
	_, p, _ := net.SplitHostPort(up)
	upPort, _ := strconv.Atoi(p)

	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, e := range fds {
		fd, _ := strconv.Atoi(e.Name())
		peer, err := unix.Getpeername(fd)
		in4, ok := peer.(*unix.SockaddrInet4)
		if err != nil || !ok || (in4.Port != client && in4.Port != upPort) {
			continue // not one of the proxy's two sockets
		}
		on, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY)
		if err != nil {
			t.Fatal(err)
		}
		if on == 0 {
			t.Errorf("the proxy's socket to port %d holds small writes back", in4.Port)
		}
		seen[in4.Port] = true
	}
	if !seen[client] || !seen[upPort] {
		t.Fatalf("sockets of the proxy found to ports %v, want %d and %d", seen, client, upPort)
	}
}
