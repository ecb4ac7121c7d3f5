package experiment

import "time"

// ClockCheck is what the conductor's clocks showed during a run. The zero value:
// nothing remarkable.
type ClockCheck struct {
	// Apart is how far wall and monotonic clock moved apart over the run; positive
	// where the wall clock went ahead, as it does while the host sleeps.
	Apart time.Duration
	// Late is the most by which a tick of the conductor came late inside the measured
	// window.
	Late time.Duration
}
