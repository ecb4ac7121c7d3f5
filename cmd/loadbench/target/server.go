//go:build linux

package target

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxHead    = 8 << 10 // bytes of what is read at once, and of the longest request
	maxBacklog = 4096    // connections that wait to be accepted; the kernel may allow fewer
	maxEvents  = 512     // taken from the kernel at once
)

// conn is a connection. Its rest is the begin of a request that is not whole.
type conn struct {
	fd    int
	rest  []byte
	born  int64 // stretch in which it was accepted
	last  int64 // stretch of its last request
	ended bool
}

// delayed is a response that is yet to be written.
type delayed struct {
	c       *conn
	status  int
	index   int   // of its record; -1: it has none
	stretch int64 // of its request
	due     int64 // ns
}

// server is one thread that serves all connections.
type server struct {
	poll     int // epoll descriptor
	listener int
	input    int // where commands come from
	output   io.Writer

	conns     map[int]*conn
	responses [600][]byte
	buf       [maxHead]byte
	out       []byte // responses to one read, written at once
	command   []byte // the begin of a command that is not whole

	base    time.Time // where offset was the monotonic clock
	offset  int64
	stretch Stretch
	number  int64 // of the stretch, from 1
	first   int64 // arrival of the stretch, ns; 0: none yet
	report  Report
	counts  [600]int64 // of this stretch by status
	waiting []delayed  // responses, in the order in which they are due
}

// Serve serves on a free port of 127.0.0.1 until input ends, and tells the address in
// the first line of output. It takes the calling thread for itself, and switches off the
// garbage collector: in the steady state it allocates nothing.
func Serve(input *os.File, output io.Writer) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	s, err := newServer(int(input.Fd()), output)
	if err != nil {
		return fmt.Errorf("start the target: %w", err)
	}
	defer s.close()
	address, err := s.address()
	if err != nil {
		return fmt.Errorf("start the target: %w", err)
	}
	if err := s.tell(Report{Address: address}); err != nil {
		return err
	}
	err = s.loop()
	runtime.KeepAlive(input) // its descriptor is used alone
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func newServer(input int, output io.Writer) (*server, error) {
	s := &server{input: input, output: output, conns: map[int]*conn{}, base: time.Now(), offset: Now(), number: 1, poll: -1, listener: -1}
	for status := 100; status < len(s.responses); status++ {
		s.responses[status] = response(status)
	}
	var err error
	if s.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	if s.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		s.close()
		return nil, err
	}
	for _, step := range []error{
		unix.Bind(s.listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
		unix.Listen(s.listener, maxBacklog),
		s.watch(s.listener),
		s.watch(s.input),
	} {
		if step != nil {
			s.close()
			return nil, step
		}
	}
	return s, nil
}

func (s *server) watch(fd int) error {
	return unix.EpollCtl(s.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

func (s *server) address() (string, error) {
	a, err := unix.Getsockname(s.listener)
	if err != nil {
		return "", err
	}
	in4, ok := a.(*unix.SockaddrInet4)
	if !ok {
		return "", fmt.Errorf("an address of type %T", a)
	}
	return (&net.TCPAddr{IP: in4.Addr[:], Port: in4.Port}).String(), nil
}

func (s *server) close() {
	for fd := range s.conns {
		_ = unix.Close(fd)
	}
	_ = unix.Close(s.listener)
	_ = unix.Close(s.poll)
}

// now is Now without a system call.
func (s *server) now() int64 { return s.offset + int64(time.Since(s.base)) }

// loop serves until the input ends, which is io.EOF.
func (s *server) loop() error {
	events := make([]unix.EpollEvent, maxEvents)
	for {
		n, err := s.wait(events)
		if err != nil {
			return fmt.Errorf("wait for events: %w", err)
		}
		s.stall()
		for i := range events[:n] {
			switch fd := int(events[i].Fd); fd {
			case s.listener:
				s.accept()
			case s.input:
				if err := s.obey(); err != nil {
					return err
				}
			default:
				if c := s.conns[fd]; c != nil {
					s.serve(c)
				}
			}
		}
		s.answerDue()
	}
}

// wait takes what happened. It looks before it sleeps, for to sleep costs Go's scheduler
// more than the system call.
func (s *server) wait(events []unix.EpollEvent) (int, error) {
	n, errno := poll(s.poll, events)
	if errno == 0 && (n > 0 || s.stretch.Spin) {
		return n, nil
	}
	timeout := s.untilNext()
	for {
		n, err := unix.EpollWait(s.poll, events, timeout)
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// untilNext is how long nothing is to be done, in ms, at least one; -1: for ever.
func (s *server) untilNext() int {
	next := int64(0)
	if len(s.waiting) > 0 {
		next = s.waiting[0].due
	}
	if at := s.stallAt(); at > 0 && (next == 0 || at < next) {
		next = at
	}
	if next == 0 {
		return -1
	}
	return max(int(time.Duration(next-s.now()).Milliseconds()), 0) + 1
}

// stallAt is when the stall is to begin; 0: there is none to come.
func (s *server) stallAt() int64 {
	if s.stretch.Stall == 0 || s.first == 0 || s.report.StallFrom > 0 {
		return 0
	}
	return s.first + int64(s.stretch.StallAfter)
}

func (s *server) stall() {
	at := s.stallAt()
	if at == 0 || s.now() < at {
		return
	}
	s.report.StallFrom = s.now()
	time.Sleep(s.stretch.Stall)
	s.report.StallTo = s.now()
}

// accept takes all connections that wait.
func (s *server) accept() {
	for {
		fd, _, err := unix.Accept4(s.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return // none waits, or one is gone, or there is no descriptor for it: the client sees that
		}
		if unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) != nil || s.watch(fd) != nil {
			_ = unix.Close(fd)
			continue
		}
		s.conns[fd] = &conn{fd: fd, born: s.number}
		s.report.Accepted = append(s.report.Accepted, s.now())
	}
}

func (s *server) drop(c *conn) {
	c.ended = true
	delete(s.conns, c.fd)
	_ = unix.Close(c.fd)
}

// serve reads once from a connection and answers all whole requests that came.
func (s *server) serve(c *conn) {
	kept := copy(s.buf[:], c.rest)
	n, errno := read(c.fd, s.buf[kept:])
	if errno == unix.EAGAIN {
		return
	}
	if n <= 0 || errno != 0 {
		s.drop(c)
		return
	}
	data := s.buf[:kept+n]
	s.out = s.out[:0]
	bad := false
	for !bad {
		q, length := parse(data)
		if length == 0 {
			bad = len(data) == maxHead
			break
		}
		data, bad = data[length:], q.bad
		s.arrived(c, q)
	}
	c.rest = append(c.rest[:0], data...)
	s.write(c, s.out)
	if bad {
		s.report.Malformed++
		s.drop(c)
	}
}

// arrived counts a request, and answers it at once or later.
func (s *server) arrived(c *conn, q request) {
	index := -1
	if c.last != s.number || len(s.report.Records) < s.stretch.Records {
		index = s.stamp(c, q)
	}
	if s.stretch.Delay > 0 {
		s.waiting = append(s.waiting, delayed{c: c, status: q.status, index: index, stretch: s.number, due: s.now() + int64(s.stretch.Delay)})
		return
	}
	s.counts[q.status]++
	s.out = append(s.out, s.responses[q.status]...)
}

// stamp notes the moment of an arrival, and gives the index of its record; -1: there is none.
func (s *server) stamp(c *conn, q request) int {
	now := s.now()
	if s.first == 0 {
		s.first = now
	}
	if c.last != s.number {
		c.last = s.number
		if c.born == s.number {
			s.report.Firsts = append(s.report.Firsts, now)
		}
	}
	if len(s.report.Records) >= s.stretch.Records {
		return -1
	}
	s.report.Records = append(s.report.Records, Record{Arrived: now, Answered: now, Number: q.number})
	return len(s.report.Records) - 1
}

// write writes responses. They are a few bytes each: where the kernel has no room for
// them, the client reads nothing, and is left.
func (s *server) write(c *conn, out []byte) {
	if len(out) == 0 || c.ended {
		return
	}
	if n, errno := write(c.fd, out); errno != 0 || n < len(out) {
		s.drop(c)
	}
}

// answerDue writes the delayed responses whose time has come.
func (s *server) answerDue() {
	for len(s.waiting) > 0 && s.waiting[0].due <= s.now() {
		d := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.write(d.c, s.responses[d.status])
		if d.stretch != s.number {
			continue
		}
		s.counts[d.status]++
		if d.index >= 0 {
			s.report.Records[d.index].Answered = s.now()
		}
	}
}
