package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ceteris/ceteris/experiment"
)

// secretsOf looks up the variables that a matrix takes from its caller. What is
// stored of each is whether it is set, and a keyed hash by which another value can be
// told; the values themselves stay in this process. The key is asked for only if
// there is something to hash.
func secretsOf(names []string, lookup func(string) (string, bool), key func() ([]byte, error)) (stored []experiment.Secret, values map[string]string, err error) {
	values = map[string]string{}
	var secret []byte
	for _, name := range names {
		s := experiment.Secret{Name: name}
		if value, ok := lookup(name); ok {
			if secret == nil {
				if secret, err = key(); err != nil {
					return nil, nil, fmt.Errorf("${env:%s}: %w", name, err)
				}
			}
			s.Set, s.Hash = true, keyedHash(secret, value)
			values[name] = value
		}
		stored = append(stored, s)
	}
	return stored, values, nil
}

// keyedHash gives the first 16 bytes of the HMAC-SHA256 of a value, in hex.
func keyedHash(key []byte, value string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(value))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// keySize is that of the key of hashes, in bytes.
const keySize = 32

// userKey gives the key of hashes of this user, made on first use: without it nobody
// can try likely values against what a database holds.
func userKey() ([]byte, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("find the key of hashes: %w", err)
	}
	return readKey(filepath.Join(dir, "ceteris", "key"))
}

// readKey reads a key, or makes it.
func readKey(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(path); err != nil {
			return nil, fmt.Errorf("make the key of hashes: %w", err)
		}
		info, err = os.Stat(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of hashes: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, experiment.WithHint(fmt.Errorf("the key of hashes %s is open to other users", path), "chmod 600 "+path)
	}
	key, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key of hashes: %w", err)
	}
	if len(key) != keySize {
		return nil, experiment.WithHint(fmt.Errorf("the key of hashes %s has %d bytes, not %d", path, len(key), keySize),
			"remove it to have another made: every secret then counts as changed")
	}
	return key, nil
}

// makeKey puts a new key in place, whole, unless another ceteris is quicker.
func makeKey(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	_, err = f.Write(key)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
