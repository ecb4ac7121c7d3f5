package main

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// What becomes secret later is hidden beside what was.
func TestMask(t *testing.T) {
	var m mask
	if got := m.text("hunter2"); got != "hunter2" {
		t.Errorf("without secrets: got %q", got)
	}
	m.add(map[string]string{"TOKEN": "hunter2"})
	m.add(map[string]string{"LATER": "s3cret"})
	if got := m.text("hunter2 and s3cret"); got != "*** and ***" {
		t.Errorf("got %q", got)
	}
}

type tokens struct{ A, B string }

// secretText is something whose text is known only when it is logged.
type secretText struct{ text string }

func (s secretText) LogValue() slog.Value { return slog.StringValue(s.text) }

func TestLogsHideSecrets(t *testing.T) {
	var m mask
	var out bytes.Buffer
	text := slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo})
	log := slog.New(m.handler(text))
	m.add(map[string]string{"TOKEN": "hunter2"}) // whoever got a logger before hides it, too
	for _, c := range []struct {
		name string
		log  func()
		want string
	}{
		{"message", func() { log.Info("says hunter2") }, `msg="says ***"`},
		{"text", func() { log.Info("m", "k", "hunter2!") }, "k=***!"},
		{"error", func() { log.Info("m", "err", errors.New("with hunter2")) }, `err="with ***"`},
		{"list", func() { log.Info("m", "command", []string{"a", "--password=hunter2"}) }, `command="[a --password=***]"`},
		{"structure", func() { log.Info("m", "k", tokens{"hunter2", "x"}) }, `k="{A:*** B:x}"`},
		{"group", func() { log.Info("m", slog.Group("g", slog.String("k", "hunter2"))) }, "g.k=***"},
		{"known late", func() { log.Info("m", "k", secretText{"hunter2"}) }, "k=***"},
		{"with", func() { log.With("k", "hunter2").Info("m") }, "k=***"},
		{"in a group of the logger", func() { log.WithGroup("g").Info("m", "k", "hunter2") }, "g.k=***"},
		{"numbers stay", func() { log.Info("m", "n", 42, "k", []int{1, 2}) }, `n=42 k="[1 2]"`},
		{"the level counts", func() { log.Debug("hunter2") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out.Reset()
			c.log()
			if got := out.String(); !strings.Contains(got, c.want) || strings.Contains(got, "hunter2") || c.want == "" && got != "" {
				t.Errorf("got %q, want %q in it", got, c.want)
			}
		})
	}
}

// What is written to the screen in one go is hidden, and the writer is told that all
// of it was written.
func TestScreenHidesSecrets(t *testing.T) {
	var out bytes.Buffer
	s := &screen{w: &out}
	s.hide.add(map[string]string{"TOKEN": "hunter2"})
	const line = "a hunter2 b\n"
	if n, err := s.Write([]byte(line)); n != len(line) || err != nil {
		t.Errorf("wrote %d, %v", n, err)
	}
	if got := out.String(); got != "a *** b\n" {
		t.Errorf("got %q", got)
	}
}
