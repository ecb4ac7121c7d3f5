package experiment

import "time"

// Calibration is what identical cells showed on a host: how often the method cries
// wolf there, and how small an effect it can show.
type Calibration struct {
	Sweep        int64     `json:"sweep"`
	Host         string    `json:"host"` // Host.ID
	Name         string    `json:"name"` // of the matrix
	Metric       string    `json:"metric"`
	Scale        Scale     `json:"scale"` // on which the copies were compared: of it are SD and the effects
	When         time.Time `json:"when"`
	Copies       int       `json:"copies"`        // identical cells, the baseline among them
	Rounds       int       `json:"rounds"`        // of the whole sweep
	Block        int       `json:"block"`         // rounds of each comparison
	Comparisons  int       `json:"comparisons"`   // of two identical cells, none of which is in another
	Alarms       int       `json:"alarms"`        // of them, those with an unadjusted p below 5%
	Limit        int       `json:"limit"`         // alarms from which on the method is not to be trusted here
	Families     int       `json:"families"`      // of all cells, one a block
	FamilyAlarms int       `json:"family_alarms"` // of them, those with a verdict other than equivalent and inconclusive
	SD           float64   `json:"sd"`            // of a round's effect: of the logarithm of a ratio, or of a difference
	Shows        []Shows   `json:"shows"`
}

// Shows is the smallest effect that a number of rounds shows with a chance of 80%.
type Shows struct {
	Rounds int     `json:"rounds"`
	Effect float64 `json:"effect"` // a fraction, or a difference
}

// AAHistory counts the controls of the other sweeps of a host, earlier and later ones:
// how often the baseline and its second copy differed.
type AAHistory struct {
	Comparisons int
	Alarms      int // with a p below 5%
}

// ID names a host by what its numbers depend on: not by its boot, its kernel or its
// engine.
func (h Host) ID() string {
	return HashJSON([]any{h.Name, h.OS, h.Arch, h.CPU, h.Cores, h.Memory})[:16]
}
