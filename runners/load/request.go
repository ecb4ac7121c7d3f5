package load

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sort"
	"strconv"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// request is one kind of request to one target, compiled.
type request struct {
	name     string
	fixed    []byte // the whole request where it is always the same
	toHead   bool   // its response has no body
	head     text   // all up to the length of the body; the whole where the body is always the same
	body     text   // drawn bodies only
	drawn    bool   // the body differs from request to request
	fed      bool   // takes a row of the data
	statuses []experiment.Status
	has      text
	looks    bool // for has
}

// compile makes the requests for one target. The error names the field.
func compile(l experiment.Load, target string) ([]request, error) {
	out := make([]request, 0, len(l.Requests))
	for i, q := range l.Requests {
		r, err := compileOne(q, columnsOf(l), target, l.KeepAlive)
		if err != nil {
			return nil, fmt.Errorf("requests[%d].%w", i, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func columnsOf(l experiment.Load) []string {
	if l.Data == nil {
		return nil
	}
	return l.Data.Columns
}

func compileOne(q experiment.Request, columns []string, target string, keepAlive bool) (request, error) {
	if !validMethod(q.Method) {
		return request{}, fmt.Errorf("method %q is none", q.Method)
	}
	path, err := newPath(q.Path, columns)
	if err != nil {
		return request{}, fmt.Errorf("path: %w", err)
	}
	headers, err := newHeaders(q.Headers, columns, target, keepAlive)
	if err != nil {
		return request{}, fmt.Errorf("headers: %w", err)
	}
	body, err := newText(q.Body, columns)
	if err != nil {
		return request{}, fmt.Errorf("body: %w", err)
	}
	r := request{
		name: q.Name, toHead: q.Method == http.MethodHead, statuses: q.Status, looks: !q.Has.IsZero(),
		head: literal(q.Method + " ").join(path).join(literal(" HTTP/1.1\r\n")).join(headers), drawn: !body.fixed(),
	}
	if r.has, err = newHas(q, columns); err != nil {
		return request{}, fmt.Errorf("has: %w", err)
	}
	switch length := len(body.literals[0]); {
	case r.drawn:
		r.body = body
	case length > 0 || q.Method == http.MethodPost || q.Method == http.MethodPut || q.Method == http.MethodPatch:
		r.head = r.head.join(literal("Content-Length: " + strconv.Itoa(length) + "\r\n\r\n" + body.literals[0]))
	default:
		r.head = r.head.join(literal("\r\n"))
	}
	if r.head.fixed() && !r.drawn {
		r.fixed = []byte(r.head.literals[0])
	}
	r.fed = len(r.head.columns())+len(r.body.columns())+len(r.has.columns()) > 0
	return r, nil
}

// newPath compiles the path. What must be escaped in one is refused, so nothing in
// it can end the line.
func newPath(t experiment.Template, columns []string) (text, error) {
	p, err := newText(t, columns)
	if err != nil {
		return text{}, err
	}
	if !strings.HasPrefix(p.literals[0], "/") {
		return text{}, fmt.Errorf("%q does not begin with /", t.String())
	}
	for _, l := range p.literals {
		if !experiment.ValidPath(l) {
			return text{}, fmt.Errorf("%q holds blanks, control characters, # or characters that must be escaped", t.String())
		}
	}
	return p, nil
}

// newHeaders compiles the header lines, those of the generator's own first unless
// the request has others of their names.
func newHeaders(headers []experiment.EnvVar, columns []string, target string, keepAlive bool) (text, error) {
	given := map[string]bool{}
	out := literal("")
	for _, h := range headers {
		name := http.CanonicalHeaderKey(h.Name)
		switch {
		case !validToken(h.Name):
			return text{}, fmt.Errorf("%q is no name of a header", h.Name)
		case name == "Content-Length" || name == "Transfer-Encoding" || name == "Connection":
			return text{}, fmt.Errorf("%s follows from the body and keep_alive", name)
		case name == "Host" && given[name]:
			return text{}, errors.New("two hosts")
		}
		given[name] = true
		value, err := newText(h.Value, columns)
		if err != nil {
			return text{}, fmt.Errorf("%s: %w", h.Name, err)
		}
		for _, l := range value.literals {
			if !validInHeader(l) {
				return text{}, fmt.Errorf("%s: %q holds control characters", h.Name, h.Value.String())
			}
		}
		out = out.join(literal(h.Name + ": ")).join(value).join(literal("\r\n"))
	}
	own := literal("")
	for _, h := range [][2]string{{"Host", target}, {"User-Agent", "ceteris-loadgen"}, {"Accept", "*/*"}} {
		if !given[h[0]] {
			own = own.join(literal(h[0] + ": " + h[1] + "\r\n"))
		}
	}
	if !keepAlive {
		own = own.join(literal("Connection: close\r\n"))
	}
	return own.join(out), nil
}

// validInHeader allows all but control characters; a tab is none here.
func validInHeader(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// validToken is the token of RFC 9110, section 5.6.2.
func validToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// validMethod reports whether m is a method in capitals, as all of HTTP's are.
// CONNECT is none here: it has no path.
func validMethod(m string) bool {
	return m != "" && m != http.MethodConnect && !strings.ContainsFunc(m, func(r rune) bool { return (r < 'A' || r > 'Z') && r != '-' })
}

func newHas(q experiment.Request, columns []string) (text, error) {
	t, err := newText(q.Has, columns)
	switch {
	case err != nil:
		return text{}, err
	case len(t.draws) > len(t.columns()):
		return text{}, errors.New("a number that is drawn anew is found by luck")
	case !q.Has.IsZero() && q.Method == http.MethodHead:
		return text{}, errors.New("a response to HEAD has no body")
	}
	return t, nil
}

// write puts the next request, and what its response must hold, into cn.
func (q *request) write(cn *conn, draws *rand.Rand, row []string) {
	if cn.out = q.fixed; cn.out == nil {
		cn.out = q.compose(cn, draws, row)
	}
	if q.looks {
		cn.want = q.has.appendTo(cn.want[:0], nil, row)
	}
}

// compose writes a request that differs from the one before.
func (q *request) compose(cn *conn, draws *rand.Rand, row []string) []byte {
	cn.own = q.head.appendTo(cn.own[:0], draws, row)
	if q.drawn {
		cn.body = q.body.appendTo(cn.body[:0], draws, row)
		cn.own = append(cn.own, "Content-Length: "...)
		cn.own = strconv.AppendInt(cn.own, int64(len(cn.body)), 10)
		cn.own = append(append(cn.own, "\r\n\r\n"...), cn.body...)
	}
	return cn.own
}

// expects reports whether a response with this status is a success.
func (q *request) expects(status int) bool {
	if len(q.statuses) == 0 {
		return status >= 200 && status <= 399
	}
	for _, s := range q.statuses {
		if s.From <= status && status <= s.To {
			return true
		}
	}
	return false
}

// mix draws kinds of requests by their weights.
type mix struct{ up []float64 } // sum of the weights up to and with each

func newMix(requests []experiment.Request) mix {
	var m mix
	sum := 0.0
	for _, q := range requests {
		sum += q.Weight
		m.up = append(m.up, sum)
	}
	return m
}

// pick draws a kind; of one kind it draws nothing.
func (m mix) pick(draws *rand.Rand) int {
	last := len(m.up) - 1
	if last == 0 {
		return 0
	}
	return min(sort.SearchFloat64s(m.up, m.up[last]*draws.Float64()), last)
}
