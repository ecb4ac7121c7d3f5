//go:build integration

package docker

import "testing"

// An engine that lives is called the same each time, by whatever runner.
func TestIncarnationOfAnEngine(t *testing.T) {
	var names []string
	for range 2 {
		r, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Check(t.Context()); err != nil {
			t.Skipf("no engine answers: %v", err) // a fault elsewhere (TestConformance)
		}
		name, err := r.Incarnation(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if names[0] == "" || names[0] != names[1] {
		t.Errorf("got %q", names)
	}
}
