//go:build integration

package docker

import (
	"errors"
	"io"
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

// An output of which the engine dropped the first is never taken for whole. A NUL takes
// six bytes of its log.
func TestOutputLongerThanTheLog(t *testing.T) {
	s := experiment.Service{
		Name: "talker", Image: "debian:bookworm-slim",
		Command: []experiment.Template{experiment.Literal("sh"), experiment.Literal("-c"), experiment.Literal("echo first; head -c 185000000 /dev/zero")},
	}
	_, e := openEnv(t, s)
	p, err := e.Launch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil { // as for the output of a load generator of others
		t.Fatal(err)
	}
	r, err := p.Logs(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	begin := make([]byte, len("first"))
	if _, err := io.ReadFull(r, begin); err != nil || string(begin) == "first" {
		t.Fatalf("it begins with %q, %v: nothing was dropped", begin, err)
	}
	if n, err := io.Copy(io.Discard, r); !errors.Is(err, errHeadGone) {
		t.Errorf("read %d bytes, %v", n, err)
	}
}
