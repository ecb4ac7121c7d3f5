package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// TestOnFinish runs real commands: what they are told, where they are, and what is
// said of their failure.
func TestOnFinish(t *testing.T) {
	dir := t.TempDir()
	const told = `printf '%s|%s|%s|%s\n' "$CETERIS_SWEEP" "$CETERIS_EXIT" "$CETERIS_DB" "$(pwd)"`
	script := filepath.Join(dir, "notify.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$1 to $CETERIS_SWEEP\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		command []string
		sweep   int64
		want    string // a pattern for all that is said
	}{
		{"none", nil, 3, `^$`},
		{"what it is told", []string{"sh", "-c", told}, 3, `^3\|5\|/data/t\.db\|` + regexp.QuoteMeta(dir) + `\n$`},
		{"no sweep was begun", []string{"sh", "-c", told}, 0, `^\|5\|`},
		{"no shell looks at it", []string{"echo", "$CETERIS_SWEEP;", "*"}, 3, `^\$CETERIS_SWEEP; \*\n$`},
		{"beside the matrix", []string{"./notify.sh", "mail"}, 3, `^mail to 3\n$`},
		{"its errors too", []string{"sh", "-c", "echo oh >&2"}, 3, `^oh\n$`},
		{"fails", []string{"sh", "-c", "echo so; exit 7"}, 3, `^so\n.*level=WARN msg=on_finish matrix=m err="sh: exit status 7"\n$`},
		{"is not there", []string{"nowhere-to-be-found"}, 3, `level=WARN msg=on_finish matrix=m err="nowhere-to-be-found: .*executable file not found.*"\n$`},
		{"leaves something in the background", []string{"sh", "-c", "sleep 3 & echo done"}, 3, `^done\n$`},
	} {
		t.Run(c.name, func(t *testing.T) {
			said := &screen{w: &bytes.Buffer{}}
			a := &app{err: said, log: slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelWarn}))}
			m := &experiment.Matrix{Name: "m", OnFinish: c.command, Origin: experiment.Origin{Dir: dir}}
			a.onFinish(t.Context(), m, c.sweep, exitEarly, "/data/t.db")
			if got := said.w.(*bytes.Buffer).String(); !regexp.MustCompile(c.want).MatchString(got) {
				t.Errorf("said %q, want %q", got, c.want)
			}
		})
	}
}

// TestOnFinishIsBounded: a command that hangs is killed with its children, after its
// time or when ceteris is to end; after an abort it is run all the same.
func TestOnFinishIsBounded(t *testing.T) {
	hang := []string{"sh", "-c", "echo begins; sleep 600 & wait"}
	var out bytes.Buffer
	err := runBounded(t.Context(), hang, t.TempDir(), os.Environ(), &out, 300*time.Millisecond)
	if err == nil || err.Error() != "sh: killed after 300ms" || out.String() != "begins\n" {
		t.Errorf("got %v, said %q", err, out.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	begun := writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
	if err := runBounded(ctx, hang, t.TempDir(), os.Environ(), begun, time.Hour); err == nil || err.Error() != "sh: killed, for ceteris is aborted" {
		t.Errorf("got %v", err)
	}
	said := &screen{w: &bytes.Buffer{}}
	a := &app{err: said, log: slog.New(slog.DiscardHandler)}
	a.onFinish(ctx, &experiment.Matrix{OnFinish: []string{"echo", "aborted"}}, 1, exitAborted, "t.db")
	if got := said.w.(*bytes.Buffer).String(); got != "aborted\n" {
		t.Errorf("after an abort it said %q", got)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A command goes on when nobody listens to ceteris any more, and its secrets stay
// secret.
func TestOnFinishMindsNoListener(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	deafened := &screen{w: writerFunc(func([]byte) (int, error) { return 0, os.ErrClosed })}
	a := &app{err: deafened, log: slog.New(slog.DiscardHandler)}
	a.onFinish(t.Context(), &experiment.Matrix{OnFinish: []string{"sh", "-c", "echo one; echo two; : >" + mark}}, 1, exitOK, "t.db")
	if _, err := os.Stat(mark); err != nil {
		t.Error(err)
	}
	said := &screen{w: &bytes.Buffer{}}
	said.hide.add(map[string]string{"TOKEN": "hunter2"})
	a.err = said
	a.onFinish(t.Context(), &experiment.Matrix{OnFinish: []string{"echo", "with hunter2"}}, 1, exitOK, "t.db")
	if got := said.w.(*bytes.Buffer).String(); strings.TrimSpace(got) != "with ***" {
		t.Errorf("said %q", got)
	}
}
