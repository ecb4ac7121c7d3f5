package probe

import (
	"context"
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

// Host observes host.steal, the share of the processor time of all cores that the
// hypervisor took (ratio), and host.busy, the processors in use by anything
// (cores).
type Host struct {
	read func() (processorTimes, error)
}

var _ experiment.Probe = (*Host)(nil)

// NewHost makes the probe of this host.
func NewHost() *Host { return &Host{read: readHost} }

// Start implements experiment.Probe. It reads once, so that a host that cannot be
// read is known before the load.
func (h *Host) Start(context.Context, experiment.ProbeTarget) (experiment.Sampling, error) {
	if _, err := h.read(); err != nil {
		return nil, err
	}
	return &hostSampling{window[processorTimes]{read: h.read}}, nil
}

type hostSampling struct{ window window[processorTimes] }

// Mark implements experiment.Sampling.
func (s *hostSampling) Mark(p experiment.Phase) error { return s.window.mark(p) }

// Stop implements experiment.Sampling. Without both ends of the window the error
// wraps ErrWindow.
func (s *hostSampling) Stop(context.Context) ([]experiment.Observation, []experiment.SeriesPoint, error) {
	a, b, err := s.window.ends()
	if err != nil {
		return nil, nil, fmt.Errorf("probe host: %w", err)
	}
	elapsed, total := b.at.Sub(a.at).Seconds(), b.total-a.total
	if elapsed <= 0 || total <= 0 {
		return nil, nil, fmt.Errorf("probe host: no time passed between the readings: %w", ErrWindow)
	}
	return []experiment.Observation{
		observed(experiment.HostName, "steal", max(b.steal-a.steal, 0)/total, experiment.UnitRatio),
		observed(experiment.HostName, "busy", max(b.busy-a.busy, 0)/elapsed, experiment.UnitCores),
	}, nil, nil
}
