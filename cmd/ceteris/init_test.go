package main

import (
	"path/filepath"
	"testing"

	"github.com/ceteris/ceteris/experiment/matrixfile"
	"github.com/ceteris/ceteris/experiment/matrixfile/compose"
)

// TestInitGivesAMatrix: what init prints is read without a fault.
func TestInitGivesAMatrix(t *testing.T) {
	dir, err := filepath.Abs("../../experiment/matrixfile/compose/testdata/shop")
	if err != nil {
		t.Fatal(err)
	}
	m, err := compose.Convert(t.Context(), filepath.Join(dir, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := matrixfile.Parse("matrix.yaml", dir, []byte(m.Text)); err != nil {
		t.Errorf("%v\n%s", err, m.Text)
	}
}
