//go:build !linux

package load

import (
	"context"
	"time"
)

// fineTimer is not known here: waits are as fine as the runtime's timers.
type fineTimer struct{}

func newFineTimer(context.Context) *fineTimer { return nil }

func (*fineTimer) set(time.Duration) bool { return false }

func (*fineTimer) expired() bool { return false }

func (*fineTimer) close() {}
