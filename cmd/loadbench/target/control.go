//go:build linux

package target

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// Command is one line to the server: Begin starts a stretch, and without it the current
// one is told.
type Command struct {
	Begin *Stretch `json:"begin,omitempty"`
}

// Stretch says how the server behaves until the next one. The zero value answers at once
// and keeps no records.
type Stretch struct {
	Records    int           `json:"records,omitempty"`     // that are kept at most; what comes after them is counted only
	Delay      time.Duration `json:"delay,omitempty"`       // from arrival to response
	StallAfter time.Duration `json:"stall_after,omitempty"` // from the first arrival
	Stall      time.Duration `json:"stall,omitempty"`       // 0: none
	Spin       bool          `json:"spin,omitempty"`        // never sleep, so that arrivals are stamped without the time it takes to wake
}

// Report is the answer to a command.
type Report struct {
	Address   string        `json:"address,omitempty"` // HOST:PORT, in the first line, which answers nothing
	Requests  int64         `json:"requests"`          // answered, whatever the status
	Statuses  map[int]int64 `json:"statuses,omitempty"`
	Malformed int64         `json:"malformed"`
	Accepted  []int64       `json:"accepted,omitempty"`   // of each connection of this stretch, ns
	Firsts    []int64       `json:"firsts,omitempty"`     // first request of each of those that sent one, in their order, ns
	Records   []Record      `json:"records,omitempty"`    // in the order of arrival
	StallFrom int64         `json:"stall_from,omitempty"` // ns; 0: it did not stall
	StallTo   int64         `json:"stall_to,omitempty"`   // ns
	CPU       time.Duration `json:"cpu"`                  // of the server's process since it began
	Fault     string        `json:"fault,omitempty"`      // why the command was not obeyed
}

// Record is one request. In JSON it is [arrived, answered, number].
type Record struct {
	Arrived  int64 // ns
	Answered int64 // ns; 0: not yet
	Number   int64 // -1: it has none
}

// MarshalJSON is the short form: a stretch may hold a hundred thousand.
func (r Record) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]int64{r.Arrived, r.Answered, r.Number})
}

// UnmarshalJSON reads the short form.
func (r *Record) UnmarshalJSON(data []byte) error {
	var a [3]int64
	if err := json.Unmarshal(data, &a); err != nil {
		return err
	}
	*r = Record{Arrived: a[0], Answered: a[1], Number: a[2]}
	return nil
}

// Now is the present moment in ns of CLOCK_MONOTONIC.
func Now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // the clock and the pointer are valid
	}
	return ts.Nano()
}

// Client speaks to a server through its input and output.
type Client struct {
	Address string // of the server, HOST:PORT

	in  *json.Encoder
	out *bufio.Reader
}

// Connect waits for the first line of the server.
func Connect(in io.Writer, out io.Reader) (*Client, error) {
	c := &Client{in: json.NewEncoder(in), out: bufio.NewReader(out)}
	first, err := c.read()
	c.Address = first.Address
	return c, err
}

// Begin starts a stretch.
func (c *Client) Begin(s Stretch) error {
	_, err := c.ask(Command{Begin: &s})
	return err
}

// Report tells the current stretch.
func (c *Client) Report() (Report, error) { return c.ask(Command{}) }

func (c *Client) ask(cmd Command) (Report, error) {
	if err := c.in.Encode(cmd); err != nil {
		return Report{}, fmt.Errorf("ask the target: %w", err)
	}
	return c.read()
}

func (c *Client) read() (Report, error) {
	var r Report
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("read from the target: %w", err)
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("read from the target: %w", err)
	}
	if r.Fault != "" {
		return r, fmt.Errorf("the target: %s", r.Fault)
	}
	return r, nil
}
