package probe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMillisFrom: no two readings fall on one millisecond, not even around the begin of
// the window.
func TestMillisFrom(t *testing.T) {
	from := time.Unix(100, 0)
	clock := millisFrom(from)
	var got []int64
	for _, us := range []int{-250_400, -900, -100, 200, 900, 250_000} {
		got = append(got, clock(from.Add(time.Duration(us)*time.Microsecond)))
	}
	if diff := cmp.Diff(got, []int64{-251, -1, 0, 1, 2, 250}); diff != "" {
		t.Errorf("milliseconds (-got +want):\n%s", diff)
	}
}
