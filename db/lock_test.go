package db

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

func TestLockNamesItsHolder(t *testing.T) {
	path := testPath(t)
	c := child(t, "lock", path)
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "locked\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	_, err = Lock(path)
	if !errors.Is(err, experiment.ErrLocked) || !strings.Contains(err.Error(), "process "+strconv.Itoa(c.Process.Pid)) {
		t.Errorf("locked by process %d: %v", c.Process.Pid, err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // killed
	l, err := Lock(path)
	if err != nil {
		t.Fatalf("after the death of the holder: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

func TestLockIsOneForAllNamesOfAFile(t *testing.T) {
	path := testPath(t)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Lock(link)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(path); !errors.Is(err, experiment.ErrLocked) {
		t.Errorf("locked by another name: %v", err)
	}
	for range 2 {
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(path + ".lock"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock file is left: %v", err)
	}
	if l, err = Lock(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}
