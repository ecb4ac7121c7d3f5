package fake

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// output is what a service has written. Readers of standard output are woken when
// more of it comes.
type output struct {
	mu     sync.Mutex
	all    []byte // both, interleaved
	out    []byte // standard output
	closed bool
	fault  error         // instead of the end
	more   chan struct{} // closed and replaced when something changes
}

func newOutput() *output { return &output{more: make(chan struct{})} }

func (o *output) write(stderr bool, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.all = append(o.all, text...)
	if !stderr {
		o.out = append(o.out, text...)
	}
	o.changed()
}

func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed = true
		o.changed()
	}
}

// fail ends the output with an error.
func (o *output) fail(err error) {
	o.mu.Lock()
	o.fault = err
	o.mu.Unlock()
	o.close()
}

func (o *output) changed() {
	close(o.more)
	o.more = make(chan struct{})
}

func (o *output) snapshot() io.Reader {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.NewReader(bytes.Clone(o.all))
}

// stdout gives standard output as a writer.
func (o *output) stdout() io.Writer { return stdout{o} }

type stdout struct{ *output }

func (s stdout) Write(b []byte) (int, error) {
	s.write(false, string(b))
	return len(b), nil
}

// follower reads standard output to its end. It belongs to one reader; Close may
// come from another goroutine.
type follower struct {
	ctx  context.Context // io.Reader has no place for one
	out  *output
	read int

	closing sync.Once
	closed  chan struct{}
}

func newFollower(ctx context.Context, o *output) *follower {
	return &follower{ctx: ctx, out: o, closed: make(chan struct{})}
}

func (f *follower) Read(b []byte) (int, error) {
	for {
		f.out.mu.Lock()
		n := copy(b, f.out.out[f.read:])
		f.read += n
		more, end, fault := f.out.more, f.out.closed, f.out.fault
		f.out.mu.Unlock()
		if n > 0 || len(b) == 0 {
			return n, nil
		}
		switch {
		case end && fault != nil:
			return 0, fault
		case end:
			return 0, io.EOF
		}
		select {
		case <-more:
		case <-f.closed:
			return 0, io.ErrClosedPipe
		case <-f.ctx.Done():
			return 0, f.ctx.Err()
		}
	}
}

func (f *follower) Close() error {
	f.closing.Do(func() { close(f.closed) })
	return nil
}
