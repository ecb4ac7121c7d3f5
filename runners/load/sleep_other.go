//go:build !linux

package load

import "time"

// lockSleeper cannot have a thread sleep precisely here.
func lockSleeper() bool { return false }

func unlockSleeper() {}

func sleep(time.Duration) {}
