package load

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// overTLS starts a server over TLS, with a certificate for example.com and 127.0.0.1, and
// gives its authority as PEM.
func overTLS(t *testing.T, served *atomic.Int64, http2 bool) (address, ca string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		_, _ = io.WriteString(w, r.Proto)
	}))
	s.EnableHTTP2 = http2
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are meant to fail
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

func TestRequestsOverTLS(t *testing.T) {
	for name, c := range map[string]struct {
		tls                       experiment.TLS
		known, http2, servesOne   bool // the authority is given; HTTP/2; the server speaks HTTP/1.1 only
		kind                      string
		fewConnections, noKeeping bool
	}{
		"trusted":                        {known: true},
		"a connection each":              {known: true, noKeeping: true},
		"by another name":                {known: true, tls: experiment.TLS{ServerName: "example.com"}},
		"whoever it is":                  {tls: experiment.TLS{SkipVerify: true, ServerName: "nobody.invalid"}},
		"unknown authority":              {kind: experiment.FailureTLS},
		"wrong name":                     {known: true, tls: experiment.TLS{ServerName: "nobody.invalid"}, kind: experiment.FailureTLS},
		"HTTP/2":                         {known: true, http2: true},
		"HTTP/2, few connections":        {known: true, http2: true, fewConnections: true},
		"HTTP/2, unknown authority":      {http2: true, kind: experiment.FailureTLS},
		"HTTP/2 to a server of HTTP/1.1": {known: true, http2: true, servesOne: true, kind: experiment.FailureTLS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var served atomic.Int64
			address, ca := overTLS(t, &served, !c.servesOne)
			l := experiment.Load{
				Targets: []string{address}, Requests: get(t, "/"), TLS: &c.tls, HTTP2: c.http2,
				Closed: &experiment.ClosedLoad{Users: 4, Think: 10 * ms}, Measure: 200 * ms, Timeout: 10 * time.Second,
				Connections: 4, KeepAlive: !c.noKeeping,
			}
			l.Requests[0].Has = experiment.Literal("HTTP/1.1")
			if c.http2 {
				l.Requests[0].Has = experiment.Literal("HTTP/2.0")
			}
			if c.known {
				l.TLS.CA = ca
			}
			if c.fewConnections {
				l.Connections = 1
			}
			got := onLoopback(t, l).Total
			want := experiment.Totals{Offered: got.Sent, Sent: got.Sent, OK: got.Sent, Statuses: map[string]int64{"200": got.Sent}}
			if c.kind != "" {
				want = experiment.Totals{Offered: got.Sent, Sent: got.Sent, Failed: got.Sent, Errors: map[string]int64{c.kind: got.Sent}}
			}
			if d := cmp.Diff(onlyCounts(got), want); d != "" || got.Sent < 4 {
				t.Errorf("(-got +want):\n%s", d)
			}
			if served.Load() != want.OK {
				t.Errorf("the server counted %d, the generator %d", served.Load(), want.OK)
			}
		})
	}
}

func TestAnAuthorityThatIsNone(t *testing.T) {
	_, err := newClient(experiment.Load{TLS: &experiment.TLS{CA: "-----BEGIN NOTHING-----"}}, "localhost:1", "localhost:1", 1, nil)
	if err == nil || err.Error() != "tls: ca holds no certificate" {
		t.Errorf("got %v", err)
	}
}

// onlyCounts leaves out what depends on how things are written.
func onlyCounts(t experiment.Totals) experiment.Totals {
	t.Connects, t.BytesSent, t.BytesReceived = 0, 0, 0
	return t
}

func TestTLSToAServerWithoutIt(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	got := onLoopback(t, experiment.Load{
		Targets: []string{s.Listener.Addr().String()}, Requests: get(t, "/"), TLS: &experiment.TLS{SkipVerify: true},
		Closed: &experiment.ClosedLoad{Users: 1, Think: 10 * ms}, Measure: 50 * ms, Timeout: 10 * time.Second, Connections: 1, KeepAlive: true,
	}).Total
	if got.Sent == 0 || got.Errors[experiment.FailureTLS] != got.Sent {
		t.Errorf("got %+v", got)
	}
}
