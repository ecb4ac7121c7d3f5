//go:build integration

package docker

import (
	"slices"
	"testing"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/gobuild"
)

// Missing looks, and leaves what is missing where it is.
func TestMissing(t *testing.T) {
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Check(t.Context()); err != nil {
		t.Skipf("no engine answers: %v", err) // a fault elsewhere (TestConformance)
	}
	const nowhere = "localhost:1/ceteris/nowhere:1"
	built, err := gobuild.Tool("loadgen", ".")
	if err != nil {
		t.Fatal(err)
	}
	services := []experiment.Service{{Image: nowhere}, {Build: &built}, redisService(), {Image: nowhere}}
	for range 2 {
		got, err := r.Missing(t.Context(), services)
		if err != nil || !slices.Equal(got, []string{nowhere}) {
			t.Errorf("got %q, %v, want %s", got, err, nowhere)
		}
	}
}
