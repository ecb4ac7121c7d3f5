package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asProxy makes the test binary behave as the program, so that the tests talk to
// a real process.
const asProxy = "LINKPROXY_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProxy) != "" {
		main()
	}
	os.Exit(m.Run())
}

// program starts the proxy and gives the base URL of its API.
func program(t *testing.T) (base string, cmd *exec.Cmd) {
	t.Helper()
	listen := freeAddr(t)
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProxy+"=1", "LISTEN="+listen)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("stderr of the proxy:\n%s", &stderr)
		}
	})
	base = "http://" + listen
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if resp, err := http.Get(base + "/version"); err == nil {
			resp.Body.Close()
			return base, cmd
		}
		if time.Now().After(deadline) {
			t.Fatalf("the API at %s does not answer", base)
		}
	}
}

// freeAddr gives a loopback address on which nobody listens at the moment.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func post(t *testing.T, url, body string) (int, map[string]any) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		t.Fatalf("POST %s: %v", url, err)
	}
	return resp.StatusCode, got
}

// link makes a link with a delay of the replies and gives where it listens.
func link(t *testing.T, base, upstream string, delay time.Duration) string {
	t.Helper()
	code, got := post(t, base+"/proxies", fmt.Sprintf(`{"name":"l","listen":"127.0.0.1:0","upstream":%q,"enabled":true}`, upstream))
	if code != http.StatusCreated {
		t.Fatalf("create proxy: %d %v", code, got)
	}
	code, toxic := post(t, base+"/proxies/l/toxics",
		fmt.Sprintf(`{"name":"delay","type":"delay","stream":"downstream","attributes":{"delay_us":%d}}`, delay.Microseconds()))
	if code != http.StatusOK {
		t.Fatalf("create toxic: %d %v", code, toxic)
	}
	return got["listen"].(string)
}

// upstream serves every connection with handle until the test ends.
func upstream(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				handle(c)
			}()
		}
	}()
	return l.Addr().String()
}

func echo(c net.Conn) { _, _ = io.Copy(c, c) }

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRoundTripTakesAtLeastTheDelay(t *testing.T) {
	for _, tc := range []struct {
		name  string
		delay time.Duration
		trips int
	}{
		{"no delay", 0, 100},
		{"200 us, below toxiproxy's own unit", 200 * time.Microsecond, 100},
		{"2 ms", 2 * time.Millisecond, 50},
		{"20 ms, partly by Go's timer", 20 * time.Millisecond, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base, _ := program(t)
			c := dial(t, link(t, base, upstream(t, echo), tc.delay))
			var least time.Duration
			for i := range tc.trips {
				sent, got := fmt.Appendf(nil, "message %08d", i), make([]byte, 16)
				began := time.Now()
				if _, err := c.Write(sent); err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(c, got); err != nil {
					t.Fatal(err)
				}
				took := time.Since(began)
				if !bytes.Equal(got, sent) {
					t.Fatalf("trip %d: got %q, want %q", i, got, sent)
				}
				if took < tc.delay {
					t.Fatalf("trip %d took %v, less than the delay of %v", i, took, tc.delay)
				}
				if least == 0 || took < least {
					least = took
				}
			}
			t.Logf("fastest of %d round trips: %v", tc.trips, least)
		})
	}
}

func TestAllDataArrivesInOrderBeforeTheEnd(t *testing.T) {
	want := make([]byte, 8<<20)
	for i := range want {
		want[i] = byte(i ^ i>>8 ^ i>>16)
	}
	base, _ := program(t)
	c := dial(t, link(t, base, upstream(t, func(c net.Conn) { _, _ = c.Write(want) }), 3*time.Millisecond))
	got, err := io.ReadAll(c) // ends by the upstream's close, which waits its turn behind the data
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("got %d bytes, want the %d that were sent, in order", len(got), len(want))
	}
}

func TestClientsCloseReachesUpstream(t *testing.T) {
	ended := make(chan error, 1)
	base, _ := program(t)
	c := dial(t, link(t, base, upstream(t, func(c net.Conn) {
		_, err := io.Copy(io.Discard, c)
		ended <- err
	}), 2*time.Millisecond))
	c.Close()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatalf("upstream saw %v, want the end of the stream", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("upstream never saw the close")
	}
}

func TestRemovingTheDelayDropsNothing(t *testing.T) {
	base, _ := program(t)
	arrived := make(chan struct{})
	c := dial(t, link(t, base, upstream(t, func(c net.Conn) {
		buf := make([]byte, 16)
		if _, err := io.ReadFull(c, buf); err != nil {
			return
		}
		_, _ = c.Write(buf)
		close(arrived)
		_, _ = io.Copy(c, c)
	}), time.Minute))
	if _, err := c.Write([]byte("held for minutes")); err != nil {
		t.Fatal(err)
	}
	<-arrived
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, base+"/proxies/l/toxics/delay", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		t.Fatalf("delete toxic: %s", resp.Status)
	}
	got := make([]byte, 16)
	if _, err := io.ReadFull(c, got); err != nil {
		t.Fatalf("after the delay of a minute is gone: %v", err)
	}
	if string(got) != "held for minutes" {
		t.Fatalf("got %q", got)
	}
}

func TestAPI(t *testing.T) {
	base, cmd := program(t)
	listen := link(t, base, "127.0.0.1:1", 1500*time.Microsecond)

	resp, err := http.Get(base + "/proxies")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var proxies map[string]struct {
		Listen  string
		Enabled bool
		Toxics  []struct {
			Name, Type, Stream string
			Toxicity           float64
			Attributes         map[string]int64
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&proxies); err != nil {
		t.Fatal(err)
	}
	l := proxies["l"]
	if l.Listen != listen || !l.Enabled || len(l.Toxics) != 1 {
		t.Fatalf("GET /proxies: %+v", proxies)
	}
	if x := l.Toxics[0]; x.Type != "delay" || x.Stream != "downstream" || x.Toxicity != 1 || x.Attributes["delay_us"] != 1500 {
		t.Fatalf("toxic: %+v", x)
	}

	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("after SIGTERM: %v, want exit 0", err)
	}
	if c, err := net.Dial("tcp", listen); err == nil {
		c.Close()
		t.Fatalf("%s still accepts", listen)
	}
}

func TestAttributesWithoutEffectAreRefused(t *testing.T) {
	base, _ := program(t)
	link(t, base, "127.0.0.1:1", 0)
	for name, attributes := range map[string]string{
		"the latency toxic's attribute": `{"latency": 2}`,
		"negative":                      `{"delay_us": -1}`,
		"over an hour":                  `{"delay_us": 3600000001}`,
		"not a number":                  `{"delay_us": "2ms"}`,
		"a fraction":                    `{"delay_us": 0.5}`,
	} {
		t.Run(name, func(t *testing.T) {
			code, got := post(t, base+"/proxies/l/toxics", `{"name":"d2","type":"delay","attributes":`+attributes+`}`)
			if code != http.StatusBadRequest || !strings.Contains(fmt.Sprint(got["error"]), "delay_us") && !strings.Contains(fmt.Sprint(got["error"]), "latency") {
				t.Fatalf("got %d %v, want 400 naming the attribute", code, got)
			}
		})
	}
}

func TestBadListen(t *testing.T) {
	for name, listen := range map[string]string{"missing": "", "no port": "127.0.0.1"} {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			if code := run(context.Background(), listen, &stderr); code != 2 {
				t.Errorf("exit %d, want 2", code)
			}
			if got := stderr.String(); !strings.HasPrefix(got, "linkproxy: LISTEN: ") || strings.Count(got, "\n") != 1 {
				t.Errorf("stderr %q, want one line that names LISTEN", got)
			}
		})
	}
}

func TestAddressInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProxy+"=1", "LISTEN="+l.Addr().String())
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "address already in use") {
		t.Fatalf("%v, output %q; want exit 1 with the reason", err, out)
	}
}
