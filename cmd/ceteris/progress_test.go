package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
)

func TestBarFits(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		kind  string
		want  bool
	}{
		{"a usual terminal", 80, "xterm-256color", true},
		{"just wide enough", barLeastFor, "screen", true},
		{"too narrow", barLeastFor - 1, "screen", false},
		{"no width known, as under script", 0, "xterm", false},
		{"dumb", 80, "dumb", false},
		{"of no kind", 80, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := barFits(c.width, c.kind); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestProgressIsPlain: neither a level nor what a subject said reaches the terminal
// as a command, nor makes a second line.
func TestProgressIsPlain(t *testing.T) {
	const hostile = "a\x1b[2Jb\u202ec\nd\x07"
	cell := experiment.Cell{Role: experiment.RoleVaried, Factor: "mode", Level: hostile}
	var out bytes.Buffer
	p := newProgress(&screen{w: &out}, experiment.DefaultMetric)
	for _, kind := range []conduct.EventKind{conduct.EventRunBegan, conduct.EventRunEnded} {
		p.on(conduct.Event{
			Kind: kind, Cell: cell, Done: 1, Total: 6, Round: 1, Rounds: 3,
			Run: experiment.Run{State: experiment.StateFailedSubject, Reason: "exited; its last output: " + hostile},
		})
	}
	want := "[1/6] round 1 mode=abc d: failed:subject (exited; its last output: abc d)\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestErrorsArePlain(t *testing.T) {
	var out bytes.Buffer
	printError(&out, experiment.WithHint(errors.New("first \x1b]0;title\x07\nsecond \u202e"), "do\x1b[1m this"))
	printError(&out, &experiment.FieldError{Path: "factors.\u202ex", Err: errors.New("wrong")})
	want := "ceteris: first \nsecond \nhint: do this\nfactors.x: wrong\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, strings.TrimSpace(want))
	}
}
