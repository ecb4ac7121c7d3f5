package docker

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
)

// errEnough ends a reading of which the rest is not wanted.
var errEnough = errors.New("enough was read")

// firstBytes keeps the first bytes of what is written to it.
type firstBytes struct {
	most int64
	kept []byte
}

func (h *firstBytes) Write(b []byte) (int, error) {
	n := min(int64(len(b)), h.most-int64(len(h.kept)))
	h.kept = append(h.kept, b[:n]...)
	if n < int64(len(b)) {
		return int(n), errEnough
	}
	return len(b), nil
}

// lastBytes keeps the last bytes of what is written to it.
type lastBytes struct {
	most int64
	kept []byte
}

func (t *lastBytes) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if over := int64(len(t.kept)) - t.most; over > t.most {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

func (t *lastBytes) last() []byte { return t.kept[max(int64(len(t.kept))-t.most, 0):] }

// tailLines is how many lines the engine is asked for, for the end of a log.
const tailLines = 4000

var _ experiment.LogEnder = (*proc)(nil)

// LogEnds gives the ends of what is still there of the log. Of one that is longer than
// both, the end is of so many lines at most, and nobody counts the whole.
func (p *proc) LogEnds(ctx context.Context, most int64) (experiment.LogEnds, error) {
	var e experiment.LogEnds
	first := &firstBytes{most: 2 * most}
	both := client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true}
	err := p.copyLogs(ctx, first, first, both)
	e.Head = first.kept
	switch {
	case err == nil:
		e.Full = int64(len(e.Head))
		if e.Full > most {
			e.Head, e.Tail = e.Head[:most:most], e.Head[most:]
		}
		return e, nil
	case !errors.Is(err, errEnough):
		return e, fmt.Errorf("logs of service %s: %w", p.service.Name, err)
	}
	e.Head, e.Cut = e.Head[:min(most, int64(len(e.Head)))], true
	end := &lastBytes{most: most}
	both.Tail = strconv.Itoa(tailLines)
	if err := p.copyLogs(ctx, end, end, both); err != nil {
		return e, fmt.Errorf("end of the logs of service %s: %w", p.service.Name, err)
	}
	e.Tail = end.last()
	return e, nil
}
