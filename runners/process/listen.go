package process

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
)

// owns says whether every socket that listens at the port of addr (HOST:PORT)
// belongs to the service, and there is one. Else an answer could come from
// somebody else's program.
func (p *proc) owns(addr string) bool {
	_, text, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		return false
	}
	listening := map[string]bool{}
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue // no such protocol here
		}
		for _, inode := range listeners(f, number) {
			listening[inode] = true
		}
		_ = f.Close()
	}
	if len(listening) == 0 {
		return false
	}
	all, err := processes()
	if err != nil {
		return false
	}
	for _, m := range family(all, p.group) {
		for _, inode := range sockets(m.pid) {
			delete(listening, inode)
		}
	}
	return len(listening) == 0
}

// listeners gives the inodes of the sockets that listen at a port, from a table
// in the form of /proc/net/tcp. The kernel writes listening sockets first, so the
// thousands of others that a load leaves behind are not read.
func listeners(table io.Reader, port int) []string {
	const listen = "0A"
	suffix := fmt.Sprintf(":%04X", port)
	var inodes []string
	lines := bufio.NewScanner(table)
	lines.Scan() // heading
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 10 || f[3] != listen {
			break
		}
		if strings.HasSuffix(f[1], suffix) {
			inodes = append(inodes, f[9])
		}
	}
	return inodes
}

// sockets gives the inodes of the sockets that a process has open.
func sockets(pid int) []string {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // gone
	}
	var inodes []string
	for _, e := range entries {
		to, err := os.Readlink(dir + e.Name())
		if err != nil {
			continue
		}
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			inodes = append(inodes, strings.TrimSuffix(inode, "]"))
		}
	}
	return inodes
}
