package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// gate lets writes through one token each; writes counts calls.
type gate struct {
	pass chan struct{}
	mu   sync.Mutex
	got  bytes.Buffer
	n    int
}

func (g *gate) Write(b []byte) (int, error) {
	if g.pass != nil {
		<-g.pass
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n++
	return g.got.Write(b)
}

func TestSyncAppenderWritesEveryLineAtOnce(t *testing.T) {
	var g gate
	a := newAppender(&g, config{LogAppender: "sync"})
	log := newLogger(a, "info")
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() { log.Info("line", "i", i, "body", strings.Repeat("x", 2000)) })
	}
	all.Wait()
	if g.n != 50 || a.lines.Load() != 50 || strings.Count(g.got.String(), "\n") != 50 {
		t.Errorf("%d writes, %d lines counted, want 50 each", g.n, a.lines.Load())
	}
	a.close()
}

func TestAsyncAppenderDiscardsAndCounts(t *testing.T) {
	g := gate{pass: make(chan struct{})}
	a := newAppender(&g, config{LogAppender: "async", LogQueue: 4})
	log := newLogger(a, "info")
	const logged = 20
	for i := range logged { // the output is stuck; nobody waits for it
		log.Info("line", "i", i)
	}
	discarded := a.discarded.Load()
	if least := int64(logged - 4 - 1); discarded < least || discarded > least+1 { // one may be on its way out of the queue
		t.Errorf("%d discarded, want %d or %d", discarded, least, least+1)
	}
	close(g.pass)
	a.close()
	if a.lines.Load()+discarded != logged || int64(g.n) != a.lines.Load() {
		t.Errorf("%d lines in %d writes and %d discarded, of %d", a.lines.Load(), g.n, discarded, logged)
	}
	for i := range 4 { // the first ones, whole and in order
		line, err := g.got.ReadString('\n')
		if err != nil || !strings.Contains(line, fmt.Sprintf(`"i":%d}`, i)) {
			t.Errorf("line %d: %q, %v", i, line, err)
		}
	}
}

func TestLevels(t *testing.T) {
	for level, want := range map[string]int64{"off": 0, "info": 1, "debug": 2} {
		t.Run(level, func(t *testing.T) {
			a := newAppender(&gate{}, config{LogAppender: "sync"})
			log := newLogger(a, level)
			log.Info("a")
			log.Debug("b")
			if got := a.lines.Load(); got != want {
				t.Errorf("%d lines, want %d", got, want)
			}
		})
	}
}
