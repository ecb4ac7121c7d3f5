package load

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ceteris/ceteris/experiment"
)

// What a counting server does with /0 to /99: the paths from which each outcome
// begins.
const (
	to200   = 0
	to302   = 40
	to404   = 50
	to500   = 60
	toReset = 75
	toEOF   = 85
	toWrong = 92
	toHang  = 98
)

// counting is a real server that counts what arrives, by what it does with it.
type counting struct {
	all, s200, s302, s404, s500, reset, eof, wrong, hang atomic.Int64

	brisk bool // what would hang is answered with 200
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.all.Add(1)
	_, _ = io.Copy(io.Discard, r.Body) // before that the server does not see a client go
	var n int
	if _, err := fmt.Sscanf(r.URL.Path, "/%d", &n); err != nil {
		panic(err)
	}
	switch {
	case n < to302:
		c.s200.Add(1)
		_, _ = fmt.Fprint(w, strings.Repeat("x", 100*n)) // some by length, some in chunks
	case n < to404:
		c.s302.Add(1)
		w.Header().Set("Location", "/0")
		w.WriteHeader(http.StatusFound)
	case n < to500:
		c.s404.Add(1)
		w.WriteHeader(http.StatusNotFound)
	case n < toReset:
		c.s500.Add(1)
		http.Error(w, "no", http.StatusInternalServerError)
	case n < toEOF:
		c.reset.Add(1)
		conn := hijack(w)
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	case n < toWrong:
		c.eof.Add(1)
		_ = hijack(w).Close()
	case n >= toHang && c.brisk:
		c.s200.Add(1)
	case n < toHang:
		c.wrong.Add(1)
		conn := hijack(w)
		_, _ = conn.Write([]byte("this is not HTTP\r\n\r\n"))
		_ = conn.Close()
	default:
		c.hang.Add(1)
		<-r.Context().Done()
	}
}

func hijack(w http.ResponseWriter) net.Conn {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	return conn
}

// onLoopback runs a load over TCP, with the real timers.
func onLoopback(t *testing.T, l experiment.Load) experiment.LoadResult {
	t.Helper()
	if l.Requests == nil {
		l.Requests = get(t, "/${random:0..99}")
	}
	var out bytes.Buffer
	if err := (Generator{Load: l, Data: feed(t, l), Out: &out}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := Reader{}.Read(t.Context(), &out, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkArithmetic(t, r, l)
	return r
}

func TestSentIsWhatTheServerCounts(t *testing.T) {
	base := experiment.Load{Ramp: 100 * ms, Warmup: 100 * ms, Measure: 500 * ms, Timeout: 2 * time.Second, Connections: 50, KeepAlive: true, Seed: 5}
	for name, change := range map[string]func(*experiment.Load){
		"closed": func(l *experiment.Load) { l.Closed = &experiment.ClosedLoad{Users: 50, Think: 2 * ms} },
		"closed, few connections": func(l *experiment.Load) {
			l.Closed, l.Connections = &experiment.ClosedLoad{Users: 50, Think: 2 * ms}, 20
		},
		"closed, a connection each": func(l *experiment.Load) {
			l.Closed, l.KeepAlive = &experiment.ClosedLoad{Users: 50, Think: 5 * ms}, false
		},
		"open":                         func(l *experiment.Load) { l.Open = &experiment.OpenLoad{Rate: 1500, InFlight: 500} },
		"open, with drops":             func(l *experiment.Load) { l.Open = &experiment.OpenLoad{Rate: 1500, InFlight: 10} },
		"open, a connection a request": func(l *experiment.Load) { l.Open, l.KeepAlive = &experiment.OpenLoad{Rate: 1000, InFlight: 500}, false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time goes by in waiting for timeouts
			var c counting
			s := httptest.NewServer(&c)
			defer s.Close()
			l := base
			l.Targets = []string{s.Listener.Addr().String()}
			change(&l)
			r := onLoopback(t, l)
			if r.Total.Sent != c.all.Load() || r.Total.Sent < 100 {
				t.Errorf("the generator sent %d, the server counted %d", r.Total.Sent, c.all.Load())
			}
			statuses := map[string]int64{"200": c.s200.Load(), "302": c.s302.Load(), "404": c.s404.Load(), "500": c.s500.Load()}
			if d := cmp.Diff(r.Total.Statuses, statuses); d != "" {
				t.Errorf("statuses (-generator +server):\n%s", d)
			}
			kinds := map[string]int64{
				experiment.FailureStatus: c.s404.Load() + c.s500.Load(), experiment.FailureReset: c.reset.Load(), experiment.FailureEOF: c.eof.Load(),
				experiment.FailureProtocol: c.wrong.Load(), experiment.FailureTimeout: c.hang.Load(),
			}
			for k, n := range kinds {
				if n == 0 {
					delete(kinds, k)
				}
			}
			got := r.Total.Errors
			// A request that waited for its connection may still hang when drain ends.
			if open := r.Total.Unfinished - r.Total.Waiting; open > 0 {
				got[experiment.FailureTimeout] += open
			}
			if d := cmp.Diff(got, kinds); d != "" {
				t.Errorf("errors (-generator +server):\n%s", d)
			}
			if l.Open != nil && l.Open.InFlight == 10 && r.Total.Dropped == 0 {
				t.Error("nothing was dropped")
			}
		})
	}
}

// Over random configurations of everything that a load can be: what the generator says
// that it sent is what the servers counted, by status too.
func TestRandomLoadsAreWhatTheServersCount(t *testing.T) {
	for seed := range uint64(50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			l := randomLoad(t, rand.New(rand.NewPCG(seed, 8)), 150*ms)
			l.KeepAlive, l.Timeout = seed%4 > 0, 2*time.Second
			c := counting{brisk: seed%8 > 0} // most of the time would go by in waiting for timeouts
			n := max(len(l.Targets), 1)
			l.Targets = nil
			for range n {
				s := httptest.NewServer(&c)
				defer s.Close()
				l.Targets = append(l.Targets, s.Listener.Addr().String())
			}
			r := onLoopback(t, l)
			if r.Total.Sent != c.all.Load() {
				t.Errorf("the generator sent %d, the servers counted %d", r.Total.Sent, c.all.Load())
			}
			statuses := map[string]int64{"200": c.s200.Load(), "302": c.s302.Load(), "404": c.s404.Load(), "500": c.s500.Load()}
			maps.DeleteFunc(statuses, func(_ string, n int64) bool { return n == 0 })
			if d := cmp.Diff(r.Total.Statuses, statuses, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("statuses (-generator +servers):\n%s", d)
			}
		})
	}
}

func TestRefusedConnectionsAreSentAndFailed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	r := onLoopback(t, experiment.Load{
		Targets: []string{address}, Measure: 200 * ms, Timeout: time.Second, Connections: 4, KeepAlive: true,
		Closed: &experiment.ClosedLoad{Users: 4, Think: 5 * ms},
	})
	if r.Total.Sent == 0 || r.Total.Errors[experiment.FailureRefused] != r.Total.Sent || len(r.Total.Statuses) > 0 {
		t.Errorf("got %+v, want all of them refused", r.Total)
	}
	if got := observed(t, r); got["error_rate"] != 1 || got["throughput"] != 0 {
		t.Errorf("error rate %g, throughput %g", got["error_rate"], got["throughput"])
	}
	if _, ok := observed(t, r)["latency_p50"]; ok {
		t.Error("a latency without a success")
	}
}

func TestATargetWithoutAddressIsAFault(t *testing.T) {
	var out bytes.Buffer
	err := Generator{Out: &out, Load: experiment.Load{
		Targets: []string{"nobody.invalid:80"}, Requests: get(t, "/"), Measure: time.Hour, Timeout: time.Second,
		Connections: 1, Closed: &experiment.ClosedLoad{Users: 1},
	}}.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "nobody.invalid") || out.Len() > 0 {
		t.Errorf("got %v and output %q", err, &out)
	}
}

// The generator runs in an empty container beside any subject: it builds
// without cgo, and no engine's library comes in.
func TestLoadgenStaysLean(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "github.com/ceteris/ceteris/cmd/loadgen")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{
		"github.com/ceteris/ceteris/cmd/loadgen", "github.com/ceteris/ceteris/runners/load",
		"github.com/ceteris/ceteris/experiment", "github.com/HdrHistogram/hdrhistogram-go",
	}
	seen := 0
	for pkg := range strings.FieldsSeq(string(out)) {
		first, _, _ := strings.Cut(pkg, "/")
		if !strings.Contains(first, ".") {
			continue // standard library
		}
		if !slices.Contains(allowed, pkg) {
			t.Errorf("%s is linked", pkg)
		}
		seen++
	}
	if seen != len(allowed) {
		t.Errorf("%d packages outside the standard library, want %d", seen, len(allowed))
	}
}
