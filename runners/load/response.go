package load

import (
	"bytes"
	"io"

	"github.com/ceteris/ceteris/experiment"
)

// malformed is a response that is no HTTP/1.1.
type malformed string

func (m malformed) Error() string { return string(m) }

func (malformed) kind() string { return experiment.FailureProtocol }

// oversized is a response with too much around its body.
type oversized string

func (o oversized) Error() string { return string(o) }

func (oversized) kind() string { return experiment.FailureOversized }

const (
	errStatusLine    = malformed("the response does not begin with a status line of HTTP/1")
	errField         = malformed("a line of the head is no field")
	errLength        = malformed("the content length is no number, or there are several")
	errEncoding      = malformed("the transfer encoding is not chunked")
	errChunk         = malformed("the chunked encoding is broken")
	errInformational = malformed("too many responses 1xx go ahead")
	errLongHead      = oversized("the head of the response is too long")
	errLongChunk     = oversized("the lines between the chunks are too long")
)

// Bounds of the lines between chunks, those of net/http: of one, and of all beyond 16
// bytes a chunk and twice the data.
const (
	maxChunkLine = 4096
	maxExcess    = 16 << 10
)

// framing is where in a response a framer is.
type framing uint8

// The places, in the order of a response.
const (
	inStatus framing = iota
	inFields
	inBody // of a known length
	inChunkSize
	inChunk
	inChunkCR // behind the data of a chunk
	inChunkLF
	inTrailer
	untilClose
	whole
)

// framer frames the responses of one connection, one after another: it finds the end of
// each in the bytes as they come, and what the caller must know of it. It judges as
// net/http does, without making anything of the fields. Once its buffers have grown it
// allocates nothing.
type framer struct {
	status   int
	size     int64  // bytes of the response up to now: heads, body and what is around its chunks
	reusable bool   // of a whole response: another one may follow on the connection
	body     []byte // its first maxLook bytes, if it is looked into

	at            framing
	head, look    bool
	old           bool // HTTP/1.0
	shuts, keeps  bool // the server closes, keeps alive
	encodings     int  // fields that name the encoding
	digits        int  // of the content length; 0: none is told
	length        int64
	rest          int64  // of the body, or of the chunk
	excess        int64  // around the chunks
	lines         int    // bytes of heads and trailer
	informational int    // responses that went ahead
	part          []byte // begin of a line whose end is still to come
	held          []byte // a field that the next line may continue
}

// begin prepares for the response to the next request: to HEAD it has no body. With look
// its body is kept.
func (f *framer) begin(head, look bool) {
	*f = framer{head: head, look: look, body: f.body[:0], part: f.part[:0], held: f.held[:0]}
}

// feed takes the next bytes. It uses all of them, unless the response ends before, or is
// at fault: malformed or oversized. After that, and after the end, begin comes next.
func (f *framer) feed(p []byte) (n int, done bool, err error) {
	for n < len(p) && f.at != whole && err == nil {
		var used int
		switch f.at {
		case inBody, inChunk:
			used = f.content(p[n:])
		case untilClose:
			f.keep(p[n:])
			used = len(p) - n
		case inChunkCR, inChunkLF:
			used, err = 1, f.chunkEnd(p[n])
		default:
			used, err = f.line(p[n:])
		}
		n += used
	}
	f.size += int64(n)
	return n, f.at == whole, err
}

// end tells that the server closed the connection. Only a body that ends with it is whole
// then. The error is io.EOF if nothing came of the response.
func (f *framer) end() (done bool, err error) {
	switch {
	case f.at == untilClose:
		f.at = whole
		return true, nil
	case f.size == 0:
		return false, io.EOF
	default:
		return false, io.ErrUnexpectedEOF
	}
}

// line takes the next line, or all there is of it.
func (f *framer) line(p []byte) (n int, err error) {
	if len(f.held) > 0 && len(f.part) == 0 && !isBlank(p[0]) { // it goes on no more
		if err := f.field(f.held); err != nil {
			return 0, err
		}
		f.held = f.held[:0]
	}
	n = bytes.IndexByte(p, '\n') + 1
	if n == 0 {
		f.part = append(f.part, p...)
		return len(p), f.partial(len(p))
	}
	line, more := p[:n], true
	if len(f.part) > 0 {
		f.part = append(f.part, line...)
		line, f.part = f.part, f.part[:0]
	}
	if err := f.bound(n, len(line)); err != nil {
		return n, err
	}
	if n < len(p) {
		more = isBlank(p[n])
	}
	return n, f.take(line, more)
}

// partial judges the begin of a line.
func (f *framer) partial(n int) error {
	if f.at == inStatus && string(f.part[:min(len(f.part), len(http1))]) != http1[:min(len(f.part), len(http1))] {
		return errStatusLine // do not wait for an end that may never come
	}
	return f.bound(n, len(f.part))
}

// bound counts n more bytes of a line, of which there are length now.
func (f *framer) bound(n, length int) error {
	if f.at == inChunkSize {
		if length > maxChunkLine+1 {
			return errLongChunk
		}
		return nil
	}
	if f.lines += n; f.lines > maxHeader {
		return errLongHead
	}
	return nil
}

// take takes a whole line with its end; more tells that the next one may continue it.
func (f *framer) take(line []byte, more bool) error {
	if f.at == inChunkSize {
		return f.chunk(line)
	}
	line = line[:len(line)-1]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	switch {
	case f.at == inStatus:
		return f.statusLine(line)
	case len(line) == 0 && f.at == inTrailer:
		f.finish()
		return nil
	case len(line) == 0:
		return f.headEnd()
	case isBlank(line[0]):
		if len(f.held) == 0 {
			return errField // there is nothing to continue
		}
		f.held = append(append(f.held, ' '), trim(line)...)
		return nil
	case bytes.IndexByte(line, ':') < 0:
		return errField // whatever follows
	case more:
		f.held = append(f.held, trim(line)...)
		return nil
	default:
		return f.field(trim(line))
	}
}

// headEnd finds out what follows a head.
func (f *framer) headEnd() error {
	chunked := f.encodings > 0 && !f.old
	empty := f.head || f.status < 200 || f.status == 204 || f.status == 304
	switch {
	case f.status < 200 && f.status != 101:
		if f.informational++; f.informational > maxInformational {
			return errInformational
		}
		f.at, f.old, f.shuts, f.keeps, f.encodings, f.digits = inStatus, false, false, false, 0, 0
	case empty || !chunked && f.digits > 0 && f.length == 0:
		f.finish()
	case chunked:
		f.at = inChunkSize
	case f.digits > 0:
		f.at, f.rest = inBody, f.length
	default:
		f.at = untilClose
	}
	return nil
}

// finish ends a response that does not end with its connection.
func (f *framer) finish() {
	f.at = whole
	f.reusable = !f.shuts && (!f.old || f.keeps) && f.status != 101
}

// content takes bytes of the body, or of a chunk.
func (f *framer) content(p []byte) int {
	n := int(min(f.rest, int64(len(p))))
	f.keep(p[:n])
	switch f.rest -= int64(n); {
	case f.rest > 0:
	case f.at == inChunk:
		f.at = inChunkCR
	default:
		f.finish()
	}
	return n
}

// keep keeps bytes of a body that is looked into.
func (f *framer) keep(p []byte) {
	if f.look {
		f.body = append(f.body, p[:min(len(p), maxLook-len(f.body))]...)
	}
}

// chunk reads the line before a chunk. It ends with CR LF: a bare LF is tolerated in heads
// only.
func (f *framer) chunk(line []byte) error {
	size := line[:max(len(line)-2, 0)]
	if !bytes.HasSuffix(line, []byte("\r\n")) || bytes.IndexByte(size, '\r') >= 0 {
		return errChunk
	}
	for len(size) > 0 && isBlank(size[len(size)-1]) {
		size = size[:len(size)-1]
	}
	if i := bytes.IndexByte(size, ';'); i >= 0 {
		size = size[:i]
	}
	n, ok := chunkSize(size)
	if !ok {
		return errChunk
	}
	if f.excess = max(f.excess+int64(len(line))-16-2*min(n, maxExcess), 0); f.excess > maxExcess {
		return errLongChunk
	}
	f.at, f.rest = inChunk, n
	if n == 0 {
		f.at = inTrailer
	}
	return nil
}

// chunkEnd takes one of the two bytes behind the data of a chunk.
func (f *framer) chunkEnd(b byte) error {
	switch {
	case f.at == inChunkCR && b == '\r':
		f.at = inChunkLF
	case f.at == inChunkLF && b == '\n':
		f.at = inChunkSize
	default:
		return errChunk
	}
	return nil
}

// chunkSize reads the size of a chunk: up to 16 digits, and no more than an int64 holds.
func chunkSize(digits []byte) (n int64, ok bool) {
	for _, b := range digits {
		d := b - '0'
		switch {
		case d <= 9:
		case b|0x20 >= 'a' && b|0x20 <= 'f':
			d = b | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		if n >= 1<<59 {
			return 0, false
		}
		n = n<<4 | int64(d)
	}
	return n, len(digits) > 0 && len(digits) <= 16
}
