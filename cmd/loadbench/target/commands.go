//go:build linux

package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// obey reads from the input and obeys the commands that came whole.
func (s *server) obey() error {
	var part [4096]byte
	n, err := unix.Read(s.input, part[:])
	switch {
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		return nil
	case err != nil:
		return fmt.Errorf("read a command: %w", err)
	case n == 0:
		return io.EOF
	}
	s.command = append(s.command, part[:n]...)
	for {
		line, rest, whole := bytes.Cut(s.command, []byte("\n"))
		if !whole {
			return nil
		}
		if err := s.execute(line); err != nil {
			return err
		}
		s.command = append(s.command[:0], rest...)
	}
}

func (s *server) execute(line []byte) error {
	var cmd Command
	if err := json.Unmarshal(line, &cmd); err != nil {
		return s.tell(Report{Fault: fmt.Sprintf("not a command: %v", err)})
	}
	if cmd.Begin != nil {
		s.begin(*cmd.Begin)
		return s.tell(Report{})
	}
	r := s.report
	r.CPU = cpu()
	r.Statuses = map[int]int64{}
	for status, n := range s.counts {
		if n > 0 {
			r.Statuses[status] = n
			r.Requests += n
		}
	}
	return s.tell(r)
}

// begin starts a stretch. What earlier ones left behind is collected now, while nothing
// is measured.
func (s *server) begin(stretch Stretch) {
	s.stretch, s.first, s.report = stretch, 0, Report{}
	s.number++
	clear(s.counts[:])
	runtime.GC()
	s.report.Records = make([]Record, 0, stretch.Records)
}

func (s *server) tell(r Report) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("tell a report: %w", err)
	}
	if _, err := s.output.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("tell a report: %w", err)
	}
	return nil
}

// cpu is the time of the processor that this process took.
func cpu() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err) // its arguments are valid
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
