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
	w    io.Writer
	hide mask // what nobody is to read there

	mu   sync.Mutex
	bars *mpb.Progress // nil: no bar
}

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	text := s.hide.text(string(p))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bars != nil {
		// What the terminal echoes (^C) has moved the cursor off the bar's start.
		if _, err := s.bars.Write([]byte("\r" + text)); err == nil {
			return len(p), nil
		}
	}
	if _, err := io.WriteString(s.w, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// bar reports whether there is somebody to watch a bar, and room for it.
func (s *screen) bar() bool {
	f, ok := s.w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return err == nil && barFits(width, os.Getenv("TERM"))
}

// barWidth is that of the bar alone; what it counts and what runs stand beside it.
const (
	barWidth    = 40
	barLeastFor = barWidth + 20
)

// barFits reports whether a terminal of so many columns can show a bar: one that
// tells no width (0) or has little of it would show nothing, and a dumb one a new
// line for every change.
func barFits(width int, kind string) bool {
	return width >= barLeastFor && kind != "" && kind != "dumb"
}

// hold puts bars at the foot of the screen; nil takes them away.
func (s *screen) hold(bars *mpb.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bars = bars
}
