package main

import (
	"io"
	"log/slog"
	"sync/atomic"
)

// appender brings log lines to the output: one write call a line, never
// buffered, because that call is what a synchronous log costs.
//
// sync: whoever logs waits for the write. async: whoever logs puts a copy into a
// bounded queue; a full queue discards the line and counts it.
type appender struct {
	out       io.Writer
	queue     chan []byte // nil: sync
	stop      chan struct{}
	done      chan struct{}
	lines     atomic.Int64 // written
	discarded atomic.Int64
}

func newAppender(out io.Writer, cfg config) *appender {
	a := &appender{out: out}
	if cfg.LogAppender == "async" {
		a.queue = make(chan []byte, cfg.LogQueue)
		a.stop, a.done = make(chan struct{}), make(chan struct{})
		go a.drain()
	}
	return a
}

// Write takes one line. Callers must exclude one another, which a slog handler does.
func (a *appender) Write(line []byte) (int, error) {
	if a.queue == nil {
		a.lines.Add(1)
		return a.out.Write(line)
	}
	select {
	case a.queue <- append([]byte(nil), line...):
	default:
		a.discarded.Add(1)
	}
	return len(line), nil
}

func (a *appender) drain() {
	defer close(a.done)
	for {
		select {
		case line := <-a.queue:
			a.write(line)
		case <-a.stop:
			for len(a.queue) > 0 {
				a.write(<-a.queue)
			}
			return
		}
	}
}

func (a *appender) write(line []byte) {
	a.lines.Add(1)
	_, _ = a.out.Write(line) // nobody is left to tell
}

// close writes what is queued and ends the queue.
func (a *appender) close() {
	if a.queue != nil {
		close(a.stop)
		<-a.done
	}
}

// newLogger writes JSON lines from the level on; off writes and formats nothing.
func newLogger(a *appender, level string) *slog.Logger {
	switch level {
	case "debug":
		return slog.New(slog.NewJSONHandler(a, &slog.HandlerOptions{Level: slog.LevelDebug}))
	case "info":
		return slog.New(slog.NewJSONHandler(a, nil))
	default:
		return slog.New(slog.DiscardHandler)
	}
}
