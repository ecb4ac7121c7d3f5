package step

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"

	"github.com/ceteris/ceteris/experiment"
)

// longLine is from how many bytes on a line is matched in pieces.
const longLine = 64 << 10

// matches reads lines until so many have matched, or to the end, and gives those that
// did; on is called for each.
func matches(r io.Reader, pattern *regexp.Regexp, times int, on func()) ([]byte, error) {
	var matched bytes.Buffer
	for lines, seen := bufio.NewReaderSize(r, longLine), 0; ; {
		line, err := lines.ReadSlice('\n')
		if pattern.Match(bytes.TrimRight(line, "\r\n")) { // so that $ is the end of a line
			matched.Write(line)
			on()
			if seen++; seen >= times {
				return matched.Bytes(), nil
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return matched.Bytes(), err
		}
	}
}

func tooFew(s experiment.Step, seen int) string {
	return fmt.Sprintf("the log matched %q %d times of %d", s.Log, seen, max(s.Times, 1))
}

// logWatch reads a log while it is written, each line once, however often it is asked.
type logWatch struct {
	s       experiment.Step
	t       Target
	pattern *regexp.Regexp

	cancel  context.CancelFunc
	reading sync.WaitGroup

	mu      sync.Mutex
	over    bool // nobody reads
	seen    int
	matched []byte
	err     error // that ended the reading; nil if all was found
}

func watchLog(s experiment.Step, t Target) (*logWatch, error) {
	pattern, err := regexp.Compile(s.Log)
	return &logWatch{s: s, t: t, pattern: pattern, over: true, err: io.EOF, cancel: func() {}}, err
}

// start reads from the beginning of the log.
func (w *logWatch) start(ctx context.Context) {
	w.reading.Wait()
	ctx, w.cancel = context.WithCancel(ctx)
	w.over, w.seen = false, 0
	w.reading.Go(func() {
		matched, err := w.read(ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.over, w.matched, w.err = true, matched, err
	})
}

func (w *logWatch) read(ctx context.Context) ([]byte, error) {
	r, err := w.t.Follow(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return matches(r, w.pattern, max(w.s.Times, 1), func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen++
	})
}

// try says whether the step holds by now. A reading that broke off begins again.
func (w *logWatch) try(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.over && w.err == nil:
		return Judge(w.s, w.t.Name, w.matched).Err()
	case w.over:
		err := w.err
		fault := errors.New(tooFew(w.s, w.seen))
		w.cancel()
		w.start(ctx)
		if errors.Is(err, io.EOF) {
			return fault
		}
		return fmt.Errorf("read log: %w", err)
	default:
		return errors.New(tooFew(w.s, w.seen))
	}
}

func (w *logWatch) stop() {
	w.mu.Lock()
	w.cancel()
	w.mu.Unlock()
	w.reading.Wait()
}
