package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// framed is what became of a stream of bytes that ends with the connection.
type framed struct {
	Status   int
	Used     int
	Reusable bool
	Body     string
	Err      string // malformed, oversized, eof, nothing
}

// frame feeds data in pieces of the given lengths, one after another in a circle.
func frame(f *framer, data []byte, head bool, pieces ...byte) framed {
	f.begin(head, true)
	var (
		used int
		done bool
		err  error
	)
	for i := 0; used < len(data) && !done && err == nil; i++ {
		end := len(data)
		if len(pieces) > 0 {
			end = min(used+1+int(pieces[i%len(pieces)]), end)
		}
		var n int
		n, done, err = f.feed(data[used:end])
		if used += n; used < end && !done && err == nil {
			return framed{Err: "bytes were left"}
		}
	}
	if !done && err == nil {
		done, err = f.end()
	}
	if !done {
		return framed{Err: errorClass(err)}
	}
	if f.size != int64(used) {
		return framed{Err: fmt.Sprintf("size %d, used %d", f.size, used)}
	}
	return framed{Status: f.status, Used: used, Reusable: f.reusable, Body: string(f.body)}
}

func errorClass(err error) string {
	_, bad := errors.AsType[malformed](err)
	_, large := errors.AsType[oversized](err)
	switch {
	case bad:
		return "malformed"
	case large:
		return "oversized"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "eof"
	case errors.Is(err, io.EOF):
		return "nothing"
	}
	return fmt.Sprint(err)
}

func TestFramesEveryFormOfResponse(t *testing.T) {
	const next = "HTTP/1.1 200 OK\r\n"
	fields := func(s ...string) string {
		return "HTTP/1.1 200 OK\r\n" + strings.Join(s, "\r\n") + "\r\n\r\n"
	}
	bad, eof, large := framed{Err: "malformed"}, framed{Err: "eof"}, framed{Err: "oversized"}
	ok := func(data, body string) framed { return framed{200, len(data), true, body, ""} }
	for name, c := range map[string]struct {
		data string // next may follow
		head bool
		want func(data string) framed
	}{
		"length":                 {data: ok2, want: func(d string) framed { return ok(d, "ok") }},
		"any case":               {data: fields("cOnTeNt-LeNgTh:2") + "ok", want: func(d string) framed { return ok(d, "ok") }},
		"no body":                {data: fields("Content-Length: 0"), want: func(d string) framed { return ok(d, "") }},
		"bare line feeds":        {data: "HTTP/1.1 200\nContent-Length: 2\n\nok", want: nil},
		"no reason":              {data: "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", want: func(d string) framed { return ok(d, "ok") }},
		"to HEAD":                {data: fields("Content-Length: 9"), head: true, want: func(d string) framed { return ok(d, "") }},
		"to HEAD, chunked":       {data: fields("Transfer-Encoding: chunked"), head: true, want: func(d string) framed { return ok(d, "") }},
		"204":                    {data: "HTTP/1.1 204 No\r\nContent-Length: 9\r\n\r\n", want: func(d string) framed { return framed{204, len(d), true, "", ""} }},
		"304":                    {data: "HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n", want: func(d string) framed { return framed{304, len(d), true, "", ""} }},
		"close":                  {data: fields("Connection: x , Close", "Content-Length: 2") + "ok", want: func(d string) framed { return framed{200, len(d), false, "ok", ""} }},
		"HTTP/1.0":               {data: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", want: func(d string) framed { return framed{200, len(d), false, "ok", ""} }},
		"HTTP/1.0, kept":         {data: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok", want: func(d string) framed { return ok(d, "ok") }},
		"101":                    {data: "HTTP/1.1 101 Switch\r\n\r\n", want: func(d string) framed { return framed{101, len(d), false, "", ""} }},
		"five go ahead":          {data: strings.Repeat("HTTP/1.1 103 Hints\r\nConnection: close\r\nContent-Length: 7\r\n\r\n", 5) + ok2, want: func(d string) framed { return ok(d, "ok") }},
		"six go ahead":           {data: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 6) + ok2, want: func(string) framed { return bad }},
		"chunked":                {data: fields("Transfer-Encoding: CHUNKED") + "3;x=\"y\"\r\nabc\r\n00A \r\n0123456789\r\n0\r\n\r\n", want: func(d string) framed { return ok(d, "abc0123456789") }},
		"chunked, a trailer":     {data: fields("Transfer-Encoding: chunked", "Trailer: X") + "1\r\na\r\n0\r\nX: y\r\n z\r\n\r\n", want: func(d string) framed { return ok(d, "a") }},
		"chunked over length":    {data: fields("Content-Length: 1", "Transfer-Encoding: chunked") + "2\r\nab\r\n0\r\n\r\n", want: func(d string) framed { return ok(d, "ab") }},
		"same length twice":      {data: fields("Content-Length: 2", "Content-Length: 2") + "ok", want: func(d string) framed { return ok(d, "ok") }},
		"length in two lines":    {data: fields("Content-Length:", " 2") + "ok", want: func(d string) framed { return ok(d, "ok") }},
		"lengths differ":         {data: fields("Content-Length: 2", "Content-Length: 3") + "oki", want: func(string) framed { return bad }},
		"lengths written apart":  {data: fields("Content-Length: 2", "Content-Length: 02") + "ok", want: func(string) framed { return bad }},
		"length of two values":   {data: fields("Content-Length: 2, 2") + "ok", want: func(string) framed { return bad }},
		"negative length":        {data: fields("Content-Length: -1"), want: func(string) framed { return bad }},
		"length with a sign":     {data: fields("Content-Length: +1") + "a", want: func(string) framed { return bad }},
		"hexadecimal length":     {data: fields("Content-Length: 0x1") + "a", want: func(string) framed { return bad }},
		"no length":              {data: fields("Content-Length: "), want: func(string) framed { return bad }},
		"length of 2^63":         {data: fields("Content-Length: 9223372036854775808"), want: func(string) framed { return bad }},
		"length of 2^63-1":       {data: fields("Content-Length: 9223372036854775807"), want: func(string) framed { return eof }},
		"other encoding":         {data: fields("Transfer-Encoding: gzip"), want: func(string) framed { return bad }},
		"two encodings":          {data: fields("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), want: func(string) framed { return bad }},
		"chunk in bare LF":       {data: fields("Transfer-Encoding: chunked") + "1\na\r\n0\r\n\r\n", want: func(string) framed { return bad }},
		"chunk without a size":   {data: fields("Transfer-Encoding: chunked") + "\r\n", want: func(string) framed { return bad }},
		"chunk of 17 digits":     {data: fields("Transfer-Encoding: chunked") + "00000000000000001\r\n", want: func(string) framed { return bad }},
		"chunk of 2^63":          {data: fields("Transfer-Encoding: chunked") + "8000000000000000\r\n", want: func(string) framed { return bad }},
		"chunk that runs on":     {data: fields("Transfer-Encoding: chunked") + "1\r\nabc\r\n", want: func(string) framed { return bad }},
		"line before a chunk":    {data: fields("Transfer-Encoding: chunked") + "1;" + strings.Repeat("x", maxChunkLine), want: func(string) framed { return large }},
		"extensions of chunks":   {data: fields("Transfer-Encoding: chunked") + strings.Repeat("1;"+strings.Repeat("x", 1000)+"\r\na\r\n", 20), want: func(string) framed { return large }},
		"HTTP/0.9":               {data: "<html>hello", want: func(string) framed { return bad }},
		"HTTP/2":                 {data: "HTTP/2.0 200 OK\r\n\r\n", want: func(string) framed { return bad }},
		"a request":              {data: "GET / HTTP/1.1\r\n\r\n", want: func(string) framed { return bad }},
		"status of two digits":   {data: "HTTP/1.1 20 OK\r\n\r\n", want: func(string) framed { return bad }},
		"status with a sign":     {data: "HTTP/1.1 +20 OK\r\n\r\n", want: func(string) framed { return bad }},
		"status below 100":       {data: "HTTP/1.1 099 OK\r\n\r\n", want: func(string) framed { return bad }},
		"field without a colon":  {data: fields("Content-Length"), want: func(string) framed { return bad }},
		"colon in the next line": {data: fields("A", " : 1"), want: func(string) framed { return bad }},
		"field without a name":   {data: fields(": 1"), want: func(string) framed { return bad }},
		"name with a tab":        {data: fields("A\tB: 1"), want: func(string) framed { return bad }},
		"value with a NUL":       {data: fields("A: \x00"), want: func(string) framed { return bad }},
		"blank before the head":  {data: fields(" A: 1"), want: func(string) framed { return bad }},
		"long head":              {data: fields("A: " + strings.Repeat("x", maxHeader)), want: func(string) framed { return large }},
		"head of many lines":     {data: "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", maxHeader/6), want: func(string) framed { return large }},
		"long trailer":           {data: fields("Transfer-Encoding: chunked") + "0\r\n" + strings.Repeat("A: b\r\n", maxHeader/6), want: func(string) framed { return large }},
		"head just short":        {data: fields("Content-Length: 0", "A: "+strings.Repeat("x", maxHeader-43)), want: func(d string) framed { return ok(d, "") }},
	} {
		t.Run(name, func(t *testing.T) {
			want := ok(c.data, "ok")
			if c.want != nil {
				want = c.want(c.data)
			}
			rest := next
			if want == eof {
				rest = ""
			}
			var f framer
			for _, pieces := range [][]byte{nil, {0}, {1, 6}} {
				if d := cmp.Diff(frame(&f, []byte(c.data+rest), c.head, pieces...), want); d != "" {
					t.Errorf("in pieces %v (-got +want):\n%s", pieces, d)
				}
			}
		})
	}
}

func TestFramesUpToTheClose(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want framed
	}{
		"no length":             {"HTTP/1.1 200 OK\r\n\r\nall of it", framed{200, 28, false, "all of it", ""}},
		"no length, no body":    {"HTTP/1.1 200 OK\r\n\r\n", framed{200, 19, false, "", ""}},
		"encoding in HTTP/1.0":  {"HTTP/1.0 200 OK\r\nTransfer-Encoding: gzip\r\n\r\na", framed{200, 45, false, "a", ""}},
		"nothing":               {"", framed{Err: "nothing"}},
		"inside the status":     {"HTTP/1.1 200", framed{Err: "eof"}},
		"inside the head":       {"HTTP/1.1 200 OK\r\nA: b\r\n", framed{Err: "eof"}},
		"inside the body":       {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", framed{Err: "eof"}},
		"inside a chunk":        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab", framed{Err: "eof"}},
		"before the last chunk": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", framed{Err: "eof"}},
		"before the trailer":    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", framed{Err: "eof"}},
		"behind 100":            {"HTTP/1.1 100 Continue\r\n\r\n", framed{Err: "eof"}},
	} {
		t.Run(name, func(t *testing.T) {
			var f framer
			for _, pieces := range [][]byte{nil, {0}, {1, 6}} {
				if d := cmp.Diff(frame(&f, []byte(c.data), false, pieces...), c.want); d != "" {
					t.Errorf("in pieces %v (-got +want):\n%s", pieces, d)
				}
			}
		})
	}
}

func TestKeepsNoMoreOfABodyThanIsLookedInto(t *testing.T) {
	var f framer
	f.begin(false, true)
	data := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", maxLook+5, strings.Repeat("x", maxLook+5))
	if n, done, err := f.feed(data); n != len(data) || !done || err != nil || len(f.body) != maxLook {
		t.Errorf("used %d of %d, done %v, %v; kept %d bytes", n, len(data), done, err, len(f.body))
	}
	f.begin(false, false)
	if _, done, err := f.feed(data); !done || err != nil || len(f.body) != 0 {
		t.Errorf("done %v, %v; kept %d bytes", done, err, len(f.body))
	}
}

// typical is the response of a server of Go.
const typical = "HTTP/1.1 200 OK\r\nDate: Tue, 15 Nov 1994 08:12:31 GMT\r\nContent-Length: 2\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nok"

func TestFramingAllocatesNothing(t *testing.T) {
	chunked := []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: a\r\n b\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n")
	for name, c := range map[string]struct {
		data  []byte
		piece int
	}{"whole": {[]byte(typical), len(typical)}, "in pieces": {chunked, 7}, "broken": {[]byte("nothing of HTTP"), 20}} {
		var f framer
		if n := testing.AllocsPerRun(100, func() {
			f.begin(false, true)
			for p := c.data; len(p) > 0; {
				n, _, err := f.feed(p[:min(len(p), c.piece)])
				if p = p[n:]; err != nil {
					break
				}
			}
		}); n != 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
}

func BenchmarkFramer(b *testing.B) {
	data := []byte(typical)
	var f framer
	b.ReportAllocs()
	for b.Loop() {
		f.begin(false, false)
		if _, done, err := f.feed(data); !done || err != nil {
			b.Fatal(done, err)
		}
	}
}

// reference frames as net/http does.
func reference(data []byte, head bool) (framed, error) {
	method := http.MethodGet
	if head {
		method = http.MethodHead
	}
	rest := bytes.NewReader(data)
	in := bufio.NewReaderSize(rest, 1<<16) // which bounds a trailer
	for range maxInformational + 1 {
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		switch {
		case err != nil:
			return framed{}, err
		case resp.StatusCode < 100 || resp.ProtoMajor != 1:
			return framed{}, errStatusLine // on purpose: http.ReadResponse takes them
		case resp.StatusCode < 200 && resp.StatusCode != http.StatusSwitchingProtocols:
			continue
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return framed{}, err
		}
		_ = resp.Body.Close()
		used := len(data) - rest.Len() - in.Buffered()
		return framed{resp.StatusCode, used, !resp.Close && resp.StatusCode != http.StatusSwitchingProtocols, string(body), ""}, nil
	}
	return framed{}, errInformational
}

// onPurpose tells of what net/http refuses and a framer takes: trailers announced by
// names that they must not have, and those that end with a bare line feed, or whose end
// net/http does not see in its buffer.
func onPurpose(err error) bool {
	return err != nil && strings.Contains(err.Error(), "trailer")
}

func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		ok2, typical, "HTTP/1.0 200 OK\r\n\r\nold", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n z\r\n\r\n" + ok2,
		"HTTP/1.1 200 OK\r\nConnection: close, keep-alive\r\nContent-Length:\r\n 2\r\n\r\nok",
		"HTTP/1.1 200 OK\nContent-Length: 2\nContent-Length: 2\n\nok", "HTTP/1.1 101 X\r\nConnection: Upgrade\r\n\r\nabc",
	} {
		f.Add([]byte(s), []byte{0}, false)
		f.Add([]byte(s), []byte{3, 40}, true)
	}
	f.Fuzz(func(t *testing.T, data, pieces []byte, head bool) {
		var fr framer
		got := frame(&fr, data, head)
		if d := cmp.Diff(frame(&fr, data, head, pieces...), got); d != "" {
			t.Errorf("in pieces (-got +want as in one):\n%s", d)
		}
		if d := cmp.Diff(frame(&fr, data, head, 0), got); d != "" {
			t.Errorf("byte by byte (-got +want as in one):\n%s", d)
		}
		want, err := reference(data, head)
		if onPurpose(err) || len(data) > maxHeader {
			return
		}
		if (err != nil) != (got.Err != "") {
			t.Fatalf("got %+v, net/http says %+v, %v", got, want, err)
		}
		if d := cmp.Diff(got, want); err == nil && d != "" {
			t.Errorf("(-got +net/http):\n%s", d)
		}
	})
}
