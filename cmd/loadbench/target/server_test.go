//go:build linux

package target_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/cmd/loadbench/target"
)

// serve starts a server that ends with the test.
func serve(t *testing.T) *target.Client {
	t.Helper()
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- target.Serve(inRead, outWrite) }()
	t.Cleanup(func() {
		inWrite.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		inRead.Close()
	})
	c, err := target.Connect(inWrite, outRead)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func begin(t *testing.T, c *target.Client, s target.Stretch) {
	t.Helper()
	if err := c.Begin(s); err != nil {
		t.Fatal(err)
	}
}

func report(t *testing.T, c *target.Client) target.Report {
	t.Helper()
	r, err := c.Report()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ask(t *testing.T, client *http.Client, url string, want int) {
	t.Helper()
	resp, err := client.Get(url)
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != want {
		t.Errorf("status %d, %v, want %d", resp.StatusCode, err, want)
	}
}

func TestCountsWhatAClientSends(t *testing.T) {
	c := serve(t)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer client.CloseIdleConnections()
	ask(t, client, "http://"+c.Address+"/", 200) // of another stretch
	client.CloseIdleConnections()
	begin(t, c, target.Stretch{})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for i := range 250 {
				path, want := "/", 200
				switch i % 5 {
				case 1:
					path, want = "/503", 503
				case 2:
					path, want = "/204?7", 204
				}
				ask(t, client, "http://"+c.Address+path, want)
			}
		})
	}
	clients.Wait()
	r := report(t, c)
	if d := cmp.Diff(r.Statuses, map[int]int64{200: 1200, 503: 400, 204: 400}); d != "" || r.Requests != 2000 || r.Malformed != 0 {
		t.Errorf("%d requests, %d malformed, statuses (-got +want):\n%s", r.Requests, r.Malformed, d)
	}
	// A client of net/http may open connections over which it never sends.
	if n := len(r.Firsts); n == 0 || n > len(r.Accepted) || len(r.Records) != 0 {
		t.Errorf("%d connections, %d of them sent, %d records that nobody asked for", len(r.Accepted), n, len(r.Records))
	}
	begin(t, c, target.Stretch{})
	if r := report(t, c); r.Requests != 0 || len(r.Accepted) != 0 || r.CPU <= 0 {
		t.Errorf("a new stretch begins with %+v", r)
	}
}

func dial(t *testing.T, c *target.Client) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", c.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

func write(t *testing.T, w io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
}

func status(t *testing.T, in *bufio.Reader) int {
	t.Helper()
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

func TestPipelinedAndSplitRequests(t *testing.T) {
	c := serve(t)
	begin(t, c, target.Stretch{Records: 4})
	conn, in := dial(t, c)
	write(t, conn, "GET /?1 HTTP/1.1\r\nHost: a\r\n\r\nGET /404?2 HTTP/1.1\r\n\r\nGET /?3 HTT")
	got := []int{status(t, in), status(t, in)} // so that the third is split where it is
	write(t, conn, "P/1.1\r\n\r\n")
	got = append(got, status(t, in))
	for i := range 3 {
		write(t, conn, fmt.Sprintf("GET /x?%d HTTP/1.1\r\n\r\n", 4+i))
		got = append(got, status(t, in))
	}
	if d := cmp.Diff(got, []int{200, 404, 200, 200, 200, 200}); d != "" {
		t.Errorf("statuses (-got +want):\n%s", d)
	}
	r := report(t, c)
	var numbers []int64
	for i, one := range r.Records {
		numbers = append(numbers, one.Number)
		if one.Arrived <= 0 || one.Arrived > target.Now() || i > 0 && one.Arrived < r.Records[i-1].Arrived {
			t.Errorf("arrival %d at %d", i, one.Arrived)
		}
	}
	// No more records than were asked for; "/x?4" is a path without a number.
	if d := cmp.Diff(numbers, []int64{1, 2, 3, -1}); d != "" || r.Requests != 6 {
		t.Errorf("%d requests, numbers (-got +want):\n%s", r.Requests, d)
	}
}

func TestASilentConnectionIsAcceptedAndNoMore(t *testing.T) {
	c := serve(t)
	begin(t, c, target.Stretch{})
	dial(t, c) // accepted before the next one: the kernel keeps their order
	conn, in := dial(t, c)
	for range 2 {
		write(t, conn, "GET / HTTP/1.1\r\n\r\n")
		status(t, in)
	}
	r := report(t, c)
	if len(r.Accepted) != 2 || len(r.Firsts) != 1 || r.Firsts[0] < r.Accepted[1] {
		t.Errorf("accepted at %v, first requests at %v; want two and one", r.Accepted, r.Firsts)
	}
}

func TestMalformedRequestsCostTheirConnection(t *testing.T) {
	for name, text := range map[string]string{
		"another method": "POST / HTTP/1.1\r\n\r\n",
		"no request":     "what is this?\r\n\r\n",
		"endless head":   "GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 8<<10),
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t)
			begin(t, c, target.Stretch{})
			conn, in := dial(t, c)
			write(t, conn, "GET / HTTP/1.1\r\n\r\n")
			if got := status(t, in); got != 200 {
				t.Errorf("status %d before it", got)
			}
			write(t, conn, text)
			_, _ = io.Copy(io.Discard, in) // until it is closed
			if r := report(t, c); r.Malformed != 1 || r.Statuses[200] != 1 {
				t.Errorf("%+v", r)
			}
			if conn, in := dial(t, c); conn != nil {
				write(t, conn, "GET / HTTP/1.1\r\n\r\n")
				if got := status(t, in); got != 200 {
					t.Errorf("status %d for the next client", got)
				}
			}
		})
	}
}

func TestDelayAndStall(t *testing.T) {
	const delay, after, stall = 5 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond
	c := serve(t)
	begin(t, c, target.Stretch{Records: 1000, Delay: delay, StallAfter: after, Stall: stall})
	conn, in := dial(t, c)
	for n := 0; n == 0 || report(t, c).StallTo == 0; n++ {
		write(t, conn, fmt.Sprintf("GET /?%d HTTP/1.1\r\n\r\n", n))
		status(t, in)
	}
	r := report(t, c)
	if r.StallFrom < r.Records[0].Arrived+int64(after) || r.StallTo < r.StallFrom+int64(stall) {
		t.Errorf("first at %d, stall from %d to %d", r.Records[0].Arrived, r.StallFrom, r.StallTo)
	}
	for _, one := range r.Records {
		if one.Answered < one.Arrived+int64(delay) {
			t.Errorf("request %d was answered after %s", one.Number, time.Duration(one.Answered-one.Arrived))
		}
		if one.Arrived > r.StallFrom && one.Arrived < r.StallTo || one.Answered > r.StallFrom && one.Answered < r.StallTo {
			t.Errorf("request %d in the stall", one.Number)
		}
	}
}

func TestAFaultyCommandIsTold(t *testing.T) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- target.Serve(inRead, outWrite) }()
	out := bufio.NewReader(outRead)
	var lines []string
	for _, command := range []string{"", "what\n", `{"begin":{}}` + "\n"} {
		write(t, inWrite, command)
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	inWrite.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !strings.Contains(lines[1], `"fault":"not a command`) || strings.Contains(lines[2], "fault") {
		t.Errorf("answers %q", lines)
	}
}
