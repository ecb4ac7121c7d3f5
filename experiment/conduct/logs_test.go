package conduct

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// logOnly is a service of which only the log is asked.
type logOnly struct {
	experiment.Proc
	log []byte
}

func (l logOnly) Logs(context.Context, bool) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(l.log)), nil
}

func TestEndsOfLogs(t *testing.T) {
	numbered := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + i*7%26)
		}
		return b
	}
	for _, n := range []int{0, 1, logKeep - 1, logKeep, logKeep + 1, 2*logKeep - 1, 2 * logKeep, 2*logKeep + 1, 3*logKeep + 5, 10 * logKeep} {
		log := numbered(n)
		want := log
		if n > 2*logKeep {
			want = append(append(bytes.Clone(log[:logKeep]), "\n[...]\n"...), log[n-logKeep:]...)
		}
		got, full, err := ends(t.Context(), logOnly{log: log})
		if err != nil {
			t.Fatal(err)
		}
		if full != int64(n) || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: kept %d of %d, want %d", n, len(got), full, len(want))
		}
	}
}
