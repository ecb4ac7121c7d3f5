package load

import (
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func header(t testing.TB, name, value string) experiment.EnvVar {
	t.Helper()
	return experiment.EnvVar{Name: name, Value: template(t, value)}
}

func TestRequestsAsTheyAreSent(t *testing.T) {
	const own = "User-Agent: ceteris-loadgen\r\nAccept: */*\r\n"
	row := []string{"ann", "17"}
	tests := map[string]struct {
		request   experiment.Request
		keepAlive bool
		want      string
	}{
		"plain": {
			experiment.Request{Method: "GET", Path: template(t, "/a")},
			true,
			"GET /a HTTP/1.1\r\nHost: h:1\r\n" + own + "\r\n",
		},
		"a connection each": {
			experiment.Request{Method: "GET", Path: template(t, "/a")},
			false,
			"GET /a HTTP/1.1\r\nHost: h:1\r\n" + own + "Connection: close\r\n\r\n",
		},
		"POST without a body": {
			experiment.Request{Method: "POST", Path: template(t, "/")},
			true,
			"POST / HTTP/1.1\r\nHost: h:1\r\n" + own + "Content-Length: 0\r\n\r\n",
		},
		"DELETE without a body": {
			experiment.Request{Method: "DELETE", Path: template(t, "/")},
			true,
			"DELETE / HTTP/1.1\r\nHost: h:1\r\n" + own + "\r\n",
		},
		"a body that is always the same": {
			experiment.Request{Method: "PUT", Path: template(t, "/"), Body: template(t, "a\r\n$${b}é")},
			true,
			"PUT / HTTP/1.1\r\nHost: h:1\r\n" + own + "Content-Length: 9\r\n\r\na\r\n${b}é",
		},
		"drawn and from data": {
			experiment.Request{
				Method: "POST", Path: template(t, "/${data:id}?n=${random:5..5}"), Body: template(t, `{"user":"${data:user}","n":${random:7..7}}`),
				Headers: []experiment.EnvVar{header(t, "X-User", "<${data:user}>"), header(t, "x-user", "again")},
			},
			true,
			"POST /17?n=5 HTTP/1.1\r\nHost: h:1\r\n" + own + "X-User: <ann>\r\nx-user: again\r\nContent-Length: 20\r\n\r\n" + `{"user":"ann","n":7}`,
		},
		"own headers go before those of the generator": {
			experiment.Request{Method: "GET", Path: template(t, "/"), Headers: []experiment.EnvVar{
				header(t, "host", "shop.example"), header(t, "accept", "text/html"), header(t, "User-agent", "x"), header(t, "Empty", ""),
			}},
			true,
			"GET / HTTP/1.1\r\nhost: shop.example\r\naccept: text/html\r\nUser-agent: x\r\nEmpty: \r\n\r\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			q, err := compileOne(tt.request, []string{"user", "id"}, "h:1", tt.keepAlive)
			if err != nil {
				t.Fatal(err)
			}
			cn := new(conn)
			for range 2 { // buffers are used again
				q.write(cn, rand.New(rand.NewPCG(1, 1)), row)
				if d := cmp.Diff(string(cn.out), tt.want); d != "" {
					t.Errorf("(-got +want):\n%s", d)
				}
			}
		})
	}
}

func TestRequestsThatAreNone(t *testing.T) {
	good := func() experiment.Request { return experiment.Request{Method: "GET", Path: template(t, "/")} }
	tests := map[string]struct {
		change func(*experiment.Request)
		want   string
	}{
		"a header that ends its line": {func(q *experiment.Request) {
			q.Headers = []experiment.EnvVar{{Name: "X", Value: experiment.Literal("a\r\nY: b")}}
		}, `headers: X: "a\r\nY: b" holds control characters`},
		"a name that ends its line": {func(q *experiment.Request) { q.Headers = []experiment.EnvVar{header(t, "X: y\r\nZ", "")} }, "is no name of a header"},
		"no name":                   {func(q *experiment.Request) { q.Headers = []experiment.EnvVar{header(t, "", "a")} }, "is no name of a header"},
		"the length":                {func(q *experiment.Request) { q.Headers = []experiment.EnvVar{header(t, "content-length", "1")} }, "Content-Length follows from the body"},
		"the connection":            {func(q *experiment.Request) { q.Headers = []experiment.EnvVar{header(t, "Connection", "close")} }, "Connection follows"},
		"two hosts": {func(q *experiment.Request) {
			q.Headers = []experiment.EnvVar{header(t, "Host", "a"), header(t, "host", "b")}
		}, "two hosts"},
		"no such column":       {func(q *experiment.Request) { q.Body = template(t, "${data:name}") }, "body: ${data:name}: the data has no such column"},
		"not resolved":         {func(q *experiment.Request) { q.Body = template(t, "${size}") }, "body: ${size} is not resolved"},
		"found by luck":        {func(q *experiment.Request) { q.Has = template(t, "${random:1..2}") }, "has: a number that is drawn anew is found by luck"},
		"no body to look into": {func(q *experiment.Request) { q.Method, q.Has = "HEAD", template(t, "x") }, "has: a response to HEAD has no body"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			q := good()
			tt.change(&q)
			_, err := compileOne(q, []string{"user"}, "h:1", true)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to hold %q", err, tt.want)
			}
		})
	}
}

func TestExpectations(t *testing.T) {
	page := func(body string) string {
		return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body
	}
	far := strings.Repeat("x", maxLook-3)
	tests := map[string]struct {
		request experiment.Request
		answer  string
		want    outcome
	}{
		"a status that is expected":         {experiment.Request{Status: []experiment.Status{{From: 404, To: 404}}}, "HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n", outcome{status: 404}},
		"200 where it is not":               {experiment.Request{Status: []experiment.Status{{From: 404, To: 404}, {From: 500, To: 599}}}, ok2, outcome{status: 200, kind: experiment.FailureStatus}},
		"the end of a class":                {experiment.Request{Status: []experiment.Status{{From: 404, To: 404}, {From: 500, To: 599}}}, "HTTP/1.1 599 X\r\nContent-Length: 0\r\n\r\n", outcome{status: 599}},
		"the text is there":                 {experiment.Request{Has: template(t, "needle")}, page("hay needle hay"), outcome{status: 200}},
		"it is not":                         {experiment.Request{Has: template(t, "needle")}, page("hay need le hay"), outcome{status: 200, kind: experiment.FailureBody}},
		"no body":                           {experiment.Request{Has: template(t, "needle")}, page(""), outcome{status: 200, kind: experiment.FailureBody}},
		"from data":                         {experiment.Request{Has: template(t, "<${data:user}>")}, page("<ann>"), outcome{status: 200}},
		"the status goes first":             {experiment.Request{Has: template(t, "needle")}, "HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", outcome{status: 500, kind: experiment.FailureStatus}},
		"just within what is searched":      {experiment.Request{Has: template(t, "yyy")}, page(far + "yyy" + far), outcome{status: 200}},
		"behind it":                         {experiment.Request{Has: template(t, "yyy")}, page(far + "xyyy" + far), outcome{status: 200, kind: experiment.FailureBody}},
		"a body that ends too early is EOF": {experiment.Request{Has: template(t, "h")}, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nh", outcome{kind: experiment.FailureEOF}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			address, _ := scripted(t, tt.answer)
			tt.request.Method, tt.request.Path = "GET", template(t, "/")
			q, err := compileOne(tt.request, []string{"user"}, "h:1", true)
			if err != nil {
				t.Fatal(err)
			}
			c := &client{dial: (&net.Dialer{}).DialContext, address: address, keepAlive: true, dialling: make(chan struct{}, 1), requests: []request{q}}
			cn := &conn{client: c}
			defer cn.drop()
			q.write(cn, nil, []string{"ann"})
			if got := doOne(t.Context(), c, cn, time.Now().Add(time.Minute)); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestRequestsAreMixedByWeight(t *testing.T) {
	m := newMix([]experiment.Request{{Weight: 6}, {Weight: 0.5}, {Weight: 3.5}})
	rng := rand.New(rand.NewPCG(1, 2))
	var got [3]int
	for range 100_000 {
		got[m.pick(rng)]++
	}
	for kind, want := range []int{60_000, 5_000, 35_000} {
		if d := got[kind] - want; d < -500 || d > 500 {
			t.Errorf("kind %d was drawn %d times of 100,000, want about %d", kind, got[kind], want)
		}
	}
	before := rng.Uint64()
	rng = rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		newMix([]experiment.Request{{Weight: 1}}).pick(rng)
	}
	if fresh := rand.New(rand.NewPCG(1, 2)).Uint64(); rng.Uint64() != fresh || fresh == before {
		t.Error("a kind was drawn where there is one")
	}
}

func BenchmarkWrite(b *testing.B) {
	q, err := compileOne(experiment.Request{
		Method: "GET", Path: template(b, "/coupons/${random:1..100000}?user=${data:user}"),
	}, []string{"user"}, "h:1", true)
	if err != nil {
		b.Fatal(err)
	}
	cn, rng, row := new(conn), rand.New(rand.NewPCG(1, 1)), []string{"ann"}
	b.ReportAllocs()
	for b.Loop() {
		q.write(cn, rng, row)
	}
}
