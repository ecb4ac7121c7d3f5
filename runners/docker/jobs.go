package docker

import (
	"maps"
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// jobReading is how often the counters of a job are read. They go with its container's
// control groups, and nobody is told before it ends: at most so much of its end is
// missing in the last reading.
const jobReading = 50 * time.Millisecond

// lastReading is the newest reading of the counters of a job.
type lastReading struct {
	mu    sync.Mutex
	usage experiment.Usage
}

func (l *lastReading) set(u experiment.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.usage = u
}

// last gives the newest reading; false if there is none.
func (l *lastReading) last() (experiment.Usage, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return experiment.Usage{At: l.usage.At, Counters: maps.Clone(l.usage.Counters)}, l.usage.Counters != nil
}

// keepReading reads the counters of a job from this host's kernel again and again,
// until it has ended. An engine elsewhere is not asked: it takes too long to answer.
func (p *proc) keepReading() {
	ticker := time.NewTicker(jobReading)
	defer ticker.Stop()
	for {
		if u, ok := p.kernelUsage(); ok {
			p.readings.set(u)
		}
		select {
		case <-p.ended:
			return
		case <-ticker.C:
		}
	}
}
