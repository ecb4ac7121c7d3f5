package snapshot_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/runners/snapshot"
)

func open(t *testing.T, dir string, limit int64) *snapshot.Store {
	t.Helper()
	s, err := snapshot.New(snapshot.Options{Dir: dir, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *snapshot.Store, key, content string) {
	t.Helper()
	d, err := s.Create(key)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := io.WriteString(d, content); err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(); err != nil {
		t.Fatal(err)
	}
}

func get(s *snapshot.Store, key string) (string, error) {
	r, err := s.Open(key)
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return string(b), err
}

// files lists the store's directory without the lock.
func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.Name() != "lock" {
			out = append(out, e.Name())
		}
	}
	return out
}

// used says when a snapshot was used last.
func used(t *testing.T, dir, key string, ago time.Duration) {
	t.Helper()
	at := time.Now().Add(-ago)
	if err := os.Chtimes(filepath.Join(dir, key+".tar"), at, at); err != nil {
		t.Fatal(err)
	}
}

func TestCommittedIsThereAndReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "store")
	s := open(t, dir, 0)
	if _, err := get(s, "k"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before: got %v, want it to wrap %v", err, fs.ErrNotExist)
	}
	for _, content := range []string{"first", "second"} {
		put(t, s, "k", content)
		if got, err := get(open(t, dir, 0), "k"); err != nil || got != content {
			t.Errorf("got %q, %v, want %q", got, err, content)
		}
	}
	if diff := cmp.Diff(files(t, dir), []string{"k.tar"}); diff != "" {
		t.Errorf("files (-got +want):\n%s", diff)
	}
}

func TestAbortedLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 0)
	d, err := s.Create("k")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(d, "half"); err != nil {
		t.Fatal(err)
	}
	if _, err := get(s, "k"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a draft is seen: %v", err)
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := d.Commit(); err == nil {
		t.Error("commit after close: no error")
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

func TestKeys(t *testing.T) {
	s := open(t, t.TempDir(), 0)
	for _, key := range []string{"", "..", "a/b", "a.tar", "lock.part-1", strings.Repeat("x", 129)} {
		if _, err := s.Create(key); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("create %q: got %v, want that it is no key", key, err)
		}
		if _, err := s.Open(key); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open %q: got %v, want that it is no key", key, err)
		}
	}
}

func TestLeastRecentlyUsedMakesRoom(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 35)
	for i, key := range []string{"a", "b", "c"} {
		put(t, s, key, strings.Repeat(key, 10))
		used(t, dir, key, time.Hour-time.Duration(i)*time.Minute)
	}
	if _, err := get(s, "a"); err != nil { // the oldest is used again
		t.Fatal(err)
	}
	reading, err := s.Open("b")
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	used(t, dir, "b", 2*time.Hour)
	put(t, s, "d", strings.Repeat("d", 10))
	if diff := cmp.Diff(files(t, dir), []string{"a.tar", "c.tar", "d.tar"}); diff != "" {
		t.Errorf("files (-got +want):\n%s", diff)
	}
	if b, err := io.ReadAll(reading); err != nil || string(b) != strings.Repeat("b", 10) {
		t.Errorf("read while it was dropped: got %q, %v", b, err)
	}
	put(t, s, "e", strings.Repeat("e", 35)) // as large as the store
	if diff := cmp.Diff(files(t, dir), []string{"e.tar"}); diff != "" {
		t.Errorf("files (-got +want):\n%s", diff)
	}
}

func TestTooLarge(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 10)
	put(t, s, "small", "0123456789")
	d, err := s.Create("k")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(d, "0123456789-"); !errors.Is(err, snapshot.ErrTooLarge) {
		t.Errorf("write: got %v, want %v", err, snapshot.ErrTooLarge)
	}
	if err := d.Commit(); !errors.Is(err, snapshot.ErrTooLarge) {
		t.Errorf("commit: got %v, want %v", err, snapshot.ErrTooLarge)
	}
	if diff := cmp.Diff(files(t, dir), []string{"small.tar"}); diff != "" {
		t.Errorf("files (-got +want):\n%s", diff)
	}
}

// draftEnv lets the test binary begin a snapshot in the directory that it names, say
// so, and hang.
const draftEnv = "CETERIS_TEST_DRAFT"

func TestMain(m *testing.M) {
	dir := os.Getenv(draftEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	s, err := snapshot.New(snapshot.Options{Dir: dir})
	if err != nil {
		panic(err)
	}
	if _, err := s.Create("theirs"); err != nil {
		panic(err)
	}
	fmt.Println("begun")
	select {}
}

// TestDraftsOfOthers has another process at work, and then dead.
func TestDraftsOfOthers(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 0)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), draftEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if b := make([]byte, len("begun")); true {
		if _, err := io.ReadFull(out, b); err != nil {
			t.Fatalf("the other process: %q, %v", b, err)
		}
	}
	theirs := func() int {
		return len(slices.DeleteFunc(files(t, dir), func(f string) bool { return !strings.HasPrefix(f, "theirs.part-") }))
	}
	put(t, s, "ours", "1")
	if n := theirs(); n != 1 {
		t.Errorf("drafts of one that lives: got %d, want 1", n)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	d, err := s.Create("ours")
	if err != nil {
		t.Fatal(err)
	}
	if n := theirs(); n != 0 {
		t.Errorf("drafts of one that is dead, when room is wanted: got %d, want 0", n)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(files(t, dir), []string{"ours.tar"}); diff != "" {
		t.Errorf("files after its death (-got +want):\n%s", diff)
	}
}

func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		s := open(t, dir, 40) // a store of its own, as another process has
		all.Go(func() {
			for j := range 20 {
				content := fmt.Sprintf("%010d", i*100+j)
				d, err := s.Create("k" + content[9:])
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := io.WriteString(d, content); err != nil {
					t.Error(err)
				}
				if err := d.Commit(); err != nil {
					t.Error(err)
				}
				if got, err := get(s, "k"+content[9:]); err == nil && len(got) != 10 || err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("read %q, %v", got, err)
				}
			}
		})
	}
	all.Wait()
	if n := len(files(t, dir)); n > 4 {
		t.Errorf("%d snapshots of 10 bytes in a store of 40", n)
	}
}
