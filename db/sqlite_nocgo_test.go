//go:build !cgo

package db

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// TestWithoutCgo runs by CGO_ENABLED=0 go test -run WithoutCgo ./db.
func TestWithoutCgo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	_, err := Open(t.Context(), path, Options{})
	checkRefusal(t, err, "built without cgo", experiment.ErrCannotRun)
	var hint *experiment.HintError
	if !errors.As(err, &hint) {
		t.Errorf("no hint: %v", err)
	}
}
