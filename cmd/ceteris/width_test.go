package main

import (
	"bytes"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/analysis/report"
)

func TestTablesAreAsWideAsTheTerminal(t *testing.T) {
	_, theirs := openTerminal(t)
	for columns, want := range map[uint16]int{0: 0, 20: narrowest, 97: 97, 240: 240} {
		if err := unix.IoctlSetWinsize(int(theirs.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: 24}); err != nil {
			t.Fatal(err)
		}
		if got := (&app{out: theirs}).tables(); got != (report.Options{Width: want}) {
			t.Errorf("%d columns: %+v, want a width of %d", columns, got, want)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if got := (&app{out: w}).tables(); got != (report.Options{}) {
		t.Errorf("a pipe has %+v", got)
	}
	if got := (&app{out: &bytes.Buffer{}}).tables(); got != (report.Options{}) {
		t.Errorf("memory has %+v", got)
	}
}
