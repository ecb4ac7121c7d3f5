package conduct

import (
	"context"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// sampler reads the counters of every process when phases begin. Rates are made
// with the counters' own timestamps, so that a late reading costs no accuracy.
type sampler struct {
	procs map[string]experiment.Proc
	log   *slog.Logger
	marks map[experiment.Phase]map[string]experiment.Usage
	at    map[experiment.Phase]time.Time // by the generator's clock
}

func newSampler(procs map[string]experiment.Proc, log *slog.Logger) *sampler {
	return &sampler{
		procs: procs, log: log,
		marks: map[experiment.Phase]map[string]experiment.Usage{}, at: map[experiment.Phase]time.Time{},
	}
}

// mark reads all counters, side by side: one reading may take tens of
// milliseconds.
func (s *sampler) mark(ctx context.Context, p experiment.Phase, at time.Time) {
	s.at[p] = at
	if p != experiment.PhaseMeasure && p != experiment.PhaseDrain {
		return
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	read := map[string]experiment.Usage{experiment.ConductorName: ownUsage()}
	for name, proc := range s.procs {
		all.Go(func() {
			u, err := proc.Usage(ctx)
			if err != nil {
				s.log.Warn("counters not read", "service", name, "phase", p, "err", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			read[name] = u
		})
	}
	all.Wait()
	s.marks[p] = read
}

// ownUsage is the processor time of this process.
func ownUsage() experiment.Usage {
	var r syscall.Rusage
	now := time.Now()
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return experiment.Usage{At: now}
	}
	cpu := time.Duration(r.Utime.Nano() + r.Stime.Nano())
	return experiment.Usage{At: now, Counters: map[experiment.Counter]float64{experiment.CounterCPU: cpu.Seconds()}}
}

// derived is a metric that a counter gives.
type derived struct {
	counter experiment.Counter
	metric  string
	unit    experiment.Unit
}

// rates are counters whose growth over the window is divided by its length.
func rates() []derived {
	return []derived{
		{experiment.CounterCPU, "cpu", experiment.UnitCores},
		{experiment.CounterThrottled, "throttled", experiment.UnitRatio},
		{experiment.CounterNetReceived, "net_received", experiment.UnitBytesRate},
		{experiment.CounterNetSent, "net_sent", experiment.UnitBytesRate},
	}
}

// levels are counters of which the last reading is taken.
func levels() []derived {
	return []derived{
		{experiment.CounterMemory, "memory", experiment.UnitBytes},
		{experiment.CounterMemoryPeak, "memory_peak", experiment.UnitBytes},
		{experiment.CounterOOMKills, "oom_kills", experiment.UnitCount},
		{experiment.CounterRestarts, "restarts", experiment.UnitCount},
	}
}

// observe gives the metrics of the window for which both readings are known.
func (s *sampler) observe(give func(metric string, p experiment.Phase, value float64, unit experiment.Unit)) {
	for name, last := range s.marks[experiment.PhaseDrain] {
		for _, l := range levels() {
			if v, ok := last.Counters[l.counter]; ok {
				give(name+"."+l.metric, experiment.PhaseMeasure, v, l.unit)
			}
		}
		first, ok := s.marks[experiment.PhaseMeasure][name]
		elapsed := last.At.Sub(first.At).Seconds()
		if !ok || elapsed <= 0 || !s.cover(first.At, last.At) {
			s.log.Warn("rates not known: the counters were not read at the ends of the window", "service", name)
			continue
		}
		for _, r := range rates() {
			a, known1 := first.Counters[r.counter]
			b, known2 := last.Counters[r.counter]
			if known1 && known2 {
				give(name+"."+r.metric, experiment.PhaseMeasure, (b-a)/elapsed, r.unit)
			}
		}
	}
}

// slip is how far readings may lie from the ends of the window, as a share of it.
const slip = 0.1

// cover reports whether two readings stand for the window: late ones would take
// what came after it for what was in it.
func (s *sampler) cover(first, last time.Time) bool {
	from, to, ok := s.window()
	most := time.Duration(slip * float64(to.Sub(from)))
	return ok && first.Sub(from).Abs() <= most && last.Sub(to).Abs() <= most
}

// window gives when the measured window began and ended.
func (s *sampler) window() (from, to time.Time, ok bool) {
	from, ok1 := s.at[experiment.PhaseMeasure]
	to, ok2 := s.at[experiment.PhaseDrain]
	return from, to, ok1 && ok2
}
