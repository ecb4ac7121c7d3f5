package main

import (
	"encoding/json"
	"testing"
)

func TestPoliciesAreJSONOfTheLengthAskedFor(t *testing.T) {
	for _, length := range []int{170, 180, 300, 1024, 64 << 10} {
		for id := range policies {
			text := policyText(id, length)
			var p struct {
				ID    int
				Terms string
			}
			if err := json.Unmarshal([]byte(text), &p); err != nil || p.ID != id || p.Terms[:len(terms)] != terms {
				t.Fatalf("policy %d of %d bytes: %q, %v", id, length, text, err)
			}
			if n := len(text); n < length || n > max(length, 180) {
				t.Errorf("policy %d has %d bytes, want %d", id, n, length)
			}
		}
	}
}
