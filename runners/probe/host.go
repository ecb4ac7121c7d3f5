package probe

import (
	"errors"
	"fmt"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"

	"github.com/ceteris/ceteris/experiment"
)

// processorTimes is the processor time of a host since it started, summed over all
// cores, in seconds.
type processorTimes struct {
	at    time.Time
	busy  float64 // used by processes, kernel and interrupts
	steal float64 // taken by the hypervisor
	total float64 // all of it, idle too
}

func (t processorTimes) when() time.Time { return t.at }

// readHost reads the times of this host. They count in hundredths of a second.
func readHost() (processorTimes, error) {
	all, err := cpu.Times(false)
	if err != nil {
		return processorTimes{}, fmt.Errorf("read processor times of the host: %w", err)
	}
	if len(all) != 1 {
		return processorTimes{}, errors.New("read processor times of the host: none are told")
	}
	return hostTimes(time.Now(), all[0]), nil
}

// hostTimes sums up. Time of guests counts as user time already, see proc(5).
func hostTimes(at time.Time, t cpu.TimesStat) processorTimes {
	busy := t.User + t.Nice + t.System + t.Irq + t.Softirq
	return processorTimes{at: at, busy: busy, steal: t.Steal, total: busy + t.Steal + t.Idle + t.Iowait}
}

// NewHost makes the probe of this host. It observes host.steal, the share of the
// processor time of all cores that the hypervisor took (ratio), and host.busy, the
// processors in use by anything (cores).
func NewHost() experiment.Probe { return hostProbe(readHost) }

func hostProbe(read func() (processorTimes, error)) experiment.Probe {
	return &probe[processorTimes]{name: experiment.HostName, read: read, observe: hostUse}
}

func hostUse(first, last processorTimes, elapsed float64) ([]experiment.Observation, error) {
	total := last.total - first.total
	if total <= 0 {
		return nil, errNoTime
	}
	return []experiment.Observation{
		observed(experiment.HostName, "steal", max(last.steal-first.steal, 0)/total, experiment.UnitRatio),
		observed(experiment.HostName, "busy", max(last.busy-first.busy, 0)/elapsed, experiment.UnitCores),
	}, nil
}
