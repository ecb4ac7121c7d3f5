//go:build integration

package docker

import (
	"strings"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// The ends of a log are had without what lies between; one that is not longer than
// both is whole.
func TestEndsOfALog(t *testing.T) {
	const script = "echo first; seq -w 1 300000; echo last; sleep 600"
	s := experiment.Service{
		Name: "talker", Image: "debian:bookworm-slim",
		Command: []experiment.Template{experiment.Literal("sh"), experiment.Literal("-c"), experiment.Literal(script)},
		Ready:   &experiment.Step{Log: "^last$", Within: time.Minute},
	}
	const full = int64(len("first\n") + 300_000*len("000001\n") + len("last\n"))
	_, e := openEnv(t, s)
	p, err := e.Launch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []int64{1000, 2 * full} {
		got, err := p.(experiment.LogEnder).LogEnds(t.Context(), most)
		if err != nil {
			t.Fatal(err)
		}
		cut := most < full
		if got.Cut != cut || (got.Full == full) == cut || int64(len(got.Head)) != min(most, full) {
			t.Errorf("%d bytes of each end: %d and %d of %d, cut: %v", most, len(got.Head), len(got.Tail), got.Full, got.Cut)
		}
		whole := string(got.Head) + string(got.Tail)
		if !strings.HasPrefix(whole, "first\n000001\n") || !strings.HasSuffix(whole, "\n300000\nlast\n") || cut && int64(len(got.Tail)) != most {
			t.Errorf("%d bytes of each end: %.20q ... %.20q", most, whole, whole[len(whole)-20:])
		}
	}
}
