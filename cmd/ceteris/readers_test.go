package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	readers "github.com/ceteris/ceteris/runners/load/reader"
)

// A matrix can name every reader that there is, and no other.
func TestReadersOfMatrices(t *testing.T) {
	if diff := cmp.Diff(experiment.OutputReaders(), slices.Sorted(maps.Keys(readers.All()))); diff != "" {
		t.Errorf("readers (-matrix +built):\n%s", diff)
	}
}
