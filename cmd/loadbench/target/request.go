//go:build linux

package target

import (
	"bytes"
	"strconv"
)

const (
	okStatus  = 200
	badStatus = 400 // of what is no request that is served here
	noNumber  = -1
)

// request is what is understood of one.
type request struct {
	status int   // with which it is answered
	number int64 // of its query; noNumber
	bad    bool  // it is none that is served here
}

// parse reads the first request in data and gives its length; 0 while it is not whole.
func parse(data []byte) (q request, n int) {
	end := bytes.Index(data, []byte("\r\n\r\n"))
	if end < 0 {
		return q, 0
	}
	n = end + len("\r\n\r\n")
	rest, ok := bytes.CutPrefix(data[:n], []byte("GET /"))
	if !ok {
		return request{status: badStatus, number: noNumber, bad: true}, n
	}
	q = request{status: okStatus, number: noNumber}
	if rest[0] == ' ' {
		return q, n
	}
	if code, digits := number(rest); digits == 3 && code >= 100 && code < 600 {
		q.status, rest = int(code), rest[digits:]
	}
	if rest[0] == '?' {
		if i, digits := number(rest[1:]); digits > 0 {
			q.number = i
		}
	}
	return q, n
}

// number reads up to 9 leading digits.
func number(text []byte) (value int64, digits int) {
	for digits < 9 && digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		value = 10*value + int64(text[digits]-'0')
		digits++
	}
	return value, digits
}

// response is the whole response with a status. Those which may have no body have none.
func response(status int) []byte {
	head := "HTTP/1.1 " + strconv.Itoa(status) + " Status\r\n"
	if status < 200 || status == 204 || status == 304 {
		return []byte(head + "\r\n")
	}
	return []byte(head + "Content-Length: 3\r\n\r\nok\n")
}
