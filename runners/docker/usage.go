package docker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
)

// Usage reads the counters of the container, from the kernel where that is this
// host's, else through the engine, and the time at which they were read. After the
// container's end only the out-of-memory kill and the restarts are left to tell, and
// of a job what was read last before it.
func (p *proc) Usage(ctx context.Context) (experiment.Usage, error) {
	u, err := p.usage(ctx)
	if err != nil {
		return experiment.Usage{}, fmt.Errorf("usage of service %s: %w", p.service.Name, err)
	}
	return u, nil
}

func (p *proc) usage(ctx context.Context) (experiment.Usage, error) {
	u, here := p.kernelUsage()
	if !here && p.hasEnded() {
		u, here = p.readings.last()
	}
	if !here {
		var err error
		if u, err = p.engineUsage(ctx); err != nil {
			return u, err
		}
	}
	seen, err := p.api.ContainerInspect(ctx, p.id, client.ContainerInspectOptions{})
	if err != nil {
		return experiment.Usage{}, err
	}
	u.Counters[experiment.CounterRestarts] = float64(seen.Container.RestartCount)
	u.Counters[experiment.CounterOOMKills] = 0
	if seen.Container.State != nil && seen.Container.State.OOMKilled {
		u.Counters[experiment.CounterOOMKills] = 1 // the engine remembers that, not how often
	}
	return u, nil
}

// kernelUsage reads the counters from this host's kernel, if the container runs on it.
func (p *proc) kernelUsage() (experiment.Usage, bool) {
	g, here := groupsOf("/", p.pid, p.id)
	if !here {
		return experiment.Usage{}, false
	}
	return g.usage()
}

// engineUsage asks the engine, which may take a second to answer.
func (p *proc) engineUsage(ctx context.Context) (experiment.Usage, error) {
	res, err := p.api.ContainerStats(ctx, p.id, client.ContainerStatsOptions{}) // one reading, without waiting for a second
	if err != nil {
		return experiment.Usage{}, err
	}
	defer func() { _ = res.Body.Close() }() // only read
	var stats container.StatsResponse
	if err := json.NewDecoder(res.Body).Decode(&stats); err != nil {
		return experiment.Usage{}, err
	}
	u := experiment.Usage{At: stats.Read, Counters: map[experiment.Counter]float64{}}
	if stats.Read.IsZero() { // it has ended
		exit, err := p.Wait(ctx)
		u.At = exit.At
		return u, err
	}
	countStats(stats, u.Counters)
	return u, nil
}

// countStats takes what the engine's statistics tell, in base units. Memory is
// without the inactive part of the page cache, as the engine's own tools count
// it; the peak, which the engine tells on cgroup v1 alone, is with all of it.
func countStats(s container.StatsResponse, c map[experiment.Counter]float64) {
	const nanosecond = 1e-9
	c[experiment.CounterCPU] = float64(s.CPUStats.CPUUsage.TotalUsage) * nanosecond
	c[experiment.CounterThrottled] = float64(s.CPUStats.ThrottlingData.ThrottledTime) * nanosecond
	inactive, ok := s.MemoryStats.Stats["total_inactive_file"] // cgroup v1
	if !ok {
		inactive = s.MemoryStats.Stats["inactive_file"] // cgroup v2
	}
	c[experiment.CounterMemory] = float64(s.MemoryStats.Usage - min(inactive, s.MemoryStats.Usage))
	if s.MemoryStats.MaxUsage > 0 {
		c[experiment.CounterMemoryPeak] = float64(s.MemoryStats.MaxUsage)
	}
	if len(s.Networks) == 0 {
		return
	}
	var received, sent uint64
	for _, n := range s.Networks {
		received += n.RxBytes
		sent += n.TxBytes
	}
	c[experiment.CounterNetReceived] = float64(received)
	c[experiment.CounterNetSent] = float64(sent)
}
