package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"

	"github.com/ceteris/ceteris/experiment"
)

// HostTimes is the processor time of a host since it started, summed over all
// cores, in seconds.
type HostTimes struct {
	At    time.Time
	Busy  float64 // used by processes, kernel and interrupts
	Steal float64 // taken by the hypervisor
	Total float64 // all of it, idle too
}

// ReadHost reads the times of this host. They count in hundredths of a second.
func ReadHost() (HostTimes, error) {
	all, err := cpu.Times(false)
	if err != nil {
		return HostTimes{}, fmt.Errorf("read processor times of the host: %w", err)
	}
	if len(all) != 1 {
		return HostTimes{}, errors.New("read processor times of the host: none are told")
	}
	return hostTimes(time.Now(), all[0]), nil
}

// hostTimes sums up. Time of guests counts as user time already, see proc(5).
func hostTimes(at time.Time, t cpu.TimesStat) HostTimes {
	busy := t.User + t.Nice + t.System + t.Irq + t.Softirq
	return HostTimes{At: at, Busy: busy, Steal: t.Steal, Total: busy + t.Steal + t.Idle + t.Iowait}
}

// Host observes host.steal, the share of the processor time of all cores that the
// hypervisor took (ratio), and host.busy, the processors in use by anything
// (cores).
type Host struct{ read func() (HostTimes, error) }

var _ experiment.Probe = (*Host)(nil)

// NewHost makes the probe; read is ReadHost, but for tests.
func NewHost(read func() (HostTimes, error)) *Host { return &Host{read: read} }

// Start implements experiment.Probe. It reads once, so that a host that cannot be
// read is known before the load.
func (h *Host) Start(context.Context, experiment.ProbeTarget) (experiment.Sampling, error) {
	if _, err := h.read(); err != nil {
		return nil, err
	}
	return &hostSampling{window[HostTimes]{read: h.read}}, nil
}

type hostSampling struct{ window window[HostTimes] }

// Mark implements experiment.Sampling.
func (s *hostSampling) Mark(p experiment.Phase) error { return s.window.mark(p) }

// Stop implements experiment.Sampling. Without both ends of the window the error
// wraps ErrWindow.
func (s *hostSampling) Stop(context.Context) ([]experiment.Observation, []experiment.SeriesPoint, error) {
	a, b, err := s.window.ends()
	if err != nil {
		return nil, nil, fmt.Errorf("probe host: %w", err)
	}
	elapsed, total := b.At.Sub(a.At).Seconds(), b.Total-a.Total
	if elapsed <= 0 || total <= 0 {
		return nil, nil, fmt.Errorf("probe host: no time passed between the readings: %w", ErrWindow)
	}
	return []experiment.Observation{
		observed(experiment.HostName, "steal", max(b.Steal-a.Steal, 0)/total, experiment.UnitRatio),
		observed(experiment.HostName, "busy", max(b.Busy-a.Busy, 0)/elapsed, experiment.UnitCores),
	}, nil, nil
}
