package main

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/experiment"
)

// On cores that this process may not use, the conductor stays where it is, and says
// so; the sweep goes on.
func TestPin(t *testing.T) {
	var said bytes.Buffer
	p, err := newOwnPlace(false, slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.restore(slog.Default()) })
	where := func() unix.CPUSet {
		var now unix.CPUSet
		if err := unix.SchedGetaffinity(os.Getpid(), &now); err != nil {
			t.Fatal(err)
		}
		return now
	}

	const missing = 1023
	if p.home.IsSet(missing) {
		t.Skip("this host has every core that can be named")
	}
	if err := p.pin(experiment.CoreSet{missing}); err != nil {
		t.Errorf("cores that are not there: %v", err)
	}
	if got := said.String(); !strings.Contains(got, "level=WARN") || !strings.Contains(got, "cores=1023") {
		t.Errorf("cores that are not there: logged %q", got)
	}
	if where() != p.home {
		t.Error("cores that are not there: the place has changed")
	}

	said.Reset()
	first := 0
	for !p.home.IsSet(first) {
		first++
	}
	if err := p.pin(experiment.CoreSet{first}); err != nil || said.Len() > 0 {
		t.Errorf("core %d: %v, logged %q", first, err, said.String())
	}
	if now := where(); now.Count() != 1 || !now.IsSet(first) {
		t.Errorf("core %d: pinned to %v", first, now)
	}
}
