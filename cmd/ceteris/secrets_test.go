package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestSecretsOf(t *testing.T) {
	environment := map[string]string{"TOKEN": "s3cret", "EMPTY": ""}
	lookup := func(name string) (string, bool) { v, ok := environment[name]; return v, ok }
	key := func() ([]byte, error) { return bytes.Repeat([]byte{7}, keySize), nil }
	stored, values, err := secretsOf([]string{"EMPTY", "NOWHERE", "TOKEN"}, lookup, key)
	if err != nil {
		t.Fatal(err)
	}
	// printf s3cret | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707..., its first half
	want := []experiment.Secret{
		{Name: "EMPTY", Set: true, Hash: "9dac6a74401b46ed9b489d0e19d68d1b"},
		{Name: "NOWHERE"},
		{Name: "TOKEN", Set: true, Hash: "a0ce682db4b1b641b913f31c0dcdee3d"},
	}
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"EMPTY": "", "TOKEN": "s3cret"}, values); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// Without a variable that is set, no key is made.
func TestNoSecretNoKey(t *testing.T) {
	key := func() ([]byte, error) { return nil, errors.New("no key is needed") }
	none := func(string) (string, bool) { return "", false }
	if _, _, err := secretsOf([]string{"NOWHERE"}, none, key); err != nil {
		t.Error(err)
	}
	some := func(string) (string, bool) { return "x", true }
	if _, _, err := secretsOf([]string{"TOKEN"}, some, key); err == nil || err.Error() != "${env:TOKEN}: no key is needed" {
		t.Errorf("got %v", err)
	}
}

// Another value is another sweep, and so is none.
func TestSecretsAreOfTheSweep(t *testing.T) {
	hashes := map[string]string{}
	for _, secrets := range [][]experiment.Secret{nil, {{Name: "TOKEN"}}, {{Name: "TOKEN", Set: true, Hash: "aa"}}, {{Name: "TOKEN", Set: true, Hash: "bb"}}} {
		m := experiment.Matrix{Secrets: secrets}
		if other, known := hashes[m.Hash()]; known {
			t.Errorf("%v and %s are one sweep", secrets, other)
		}
		hashes[m.Hash()] = cmp.Diff(nil, secrets)
	}
}

func TestKeyIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "ceteris", "key")
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			key, err := readKey(path)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	all.Wait()
	for _, key := range keys {
		if len(key) != keySize || !bytes.Equal(key, keys[0]) {
			t.Errorf("keys %x and %x", key, keys[0])
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	beside, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(beside) != 1 {
		t.Errorf("beside the key: %v, %v", beside, err)
	}
	if another, err := readKey(filepath.Join(t.TempDir(), "key")); err != nil || bytes.Equal(another, keys[0]) {
		t.Errorf("another key is the same, or %v", err)
	}
}

func TestKeyThatIsNone(t *testing.T) {
	for _, c := range []struct {
		name string
		size int
		mode fs.FileMode
		want string
	}{
		{"for all to read", keySize, 0o644, " is open to other users"},
		{"cut off", 5, 0o600, " has 5 bytes, not 32"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(path, make([]byte, c.size), c.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil { // whatever the umask says
				t.Fatal(err)
			}
			if _, err := readKey(path); err == nil || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("got %v, want ...%s", err, c.want)
			}
		})
	}
}
