package load

import (
	"fmt"

	"github.com/ceteris/ceteris/experiment"
)

// CheckDescriptors finds out whether this process, or one that it starts, may open as
// many connections as the load has. The error says what to do. Programs in Go raise
// their limit as far as they may when they start.
func CheckDescriptors(l experiment.Load) error {
	limit, known := descriptorLimit()
	if need := uint64(l.Descriptors()); known && need > limit { //nolint:gosec // no load has less than no connections
		return fmt.Errorf("load: %d connections need %d file descriptors, and the limit here is %d: raise it (ulimit -n) or lower connections", l.Connections, need, limit)
	}
	return nil
}
