package main

import (
	"io"
	"os"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"golang.org/x/term"
)

// screen is standard error. While a progress bar stands at its foot, everything
// else that is written, logs and signals included, goes above it.
type screen struct {
	w io.Writer

	mu   sync.Mutex
	bars *mpb.Progress // nil: no bar
}

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bars != nil {
		// What the terminal echoes (^C) has moved the cursor off the bar's start.
		if _, err := s.bars.Write(append([]byte("\r"), p...)); err == nil {
			return len(p), nil
		}
	}
	return s.w.Write(p)
}

// terminal reports whether there is somebody to watch a bar.
func (s *screen) terminal() bool {
	f, ok := s.w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// hold puts bars at the foot of the screen; nil takes them away.
func (s *screen) hold(bars *mpb.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bars = bars
}
