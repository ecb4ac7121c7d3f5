package conduct

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// sampler reads the counters of every process when measured phases begin and end.
// Rates are made with the counters' own timestamps, so that a late reading costs no
// accuracy.
type sampler struct {
	procs map[string]experiment.Proc
	log   *slog.Logger
	marks []mark
}

// mark is the beginning of a phase. A phase that is measured, and what comes after it,
// have readings.
type mark struct {
	phase experiment.Phase
	part  string    // of the load's own phase
	at    time.Time // by the generator's clock
	read  map[string]experiment.Usage
}

func newSampler(procs map[string]experiment.Proc, log *slog.Logger) *sampler {
	return &sampler{procs: procs, log: log}
}

// mark notes the beginning of a phase.
func (s *sampler) mark(ctx context.Context, e experiment.LoadEvent) {
	m := mark{phase: e.Phase, part: e.Part, at: e.At}
	if e.Phase == experiment.PhaseMeasure || len(s.marks) > 0 && s.marks[len(s.marks)-1].phase == experiment.PhaseMeasure {
		m.read = s.read(ctx, e.Phase)
		m.read[experiment.ConductorName] = ownUsage()
	}
	s.marks = append(s.marks, m)
}

// read reads all counters, side by side: one reading may take tens of milliseconds.
func (s *sampler) read(ctx context.Context, p experiment.Phase) map[string]experiment.Usage {
	var mu sync.Mutex
	var all sync.WaitGroup
	read := map[string]experiment.Usage{}
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
	return read
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

// give takes one observation.
type give func(metric string, p experiment.Phase, value float64, unit experiment.Unit)

// observe gives the metrics of the window for which both readings are known, and, as
// PART:SERVICE.METRIC, the rates of each measured phase that the load declares.
func (s *sampler) observe(to give) {
	first, last, ok := s.ends()
	if !ok {
		return
	}
	observeLevels(last.read, to)
	s.rates("", first, last, to)
	for i, m := range s.marks[:len(s.marks)-1] {
		if m.phase == experiment.PhaseMeasure && m.part != "" {
			s.rates(m.part+":", m, s.marks[i+1], to)
		}
	}
}

// levels reads the counters once, where there is no window, and gives those of which
// one reading is enough.
func (s *sampler) levels(ctx context.Context, to give) {
	observeLevels(s.read(ctx, experiment.PhaseMeasure), to)
}

func observeLevels(read map[string]experiment.Usage, to give) {
	for name, u := range read {
		for _, l := range levels() {
			if v, ok := u.Counters[l.counter]; ok {
				to(name+"."+l.metric, experiment.PhaseMeasure, v, l.unit)
			}
		}
	}
}

// rates gives the growth of counters between two marks.
func (s *sampler) rates(prefix string, from, until mark, to give) {
	for name, last := range until.read {
		first, ok := from.read[name]
		elapsed := last.At.Sub(first.At).Seconds()
		if !ok || elapsed <= 0 || !cover(first.At, last.At, from.at, until.at) {
			s.log.Warn("rates not known: the counters were not read at the ends of the window", "service", prefix+name)
			continue
		}
		for _, r := range rates() {
			a, known1 := first.Counters[r.counter]
			b, known2 := last.Counters[r.counter]
			if known1 && known2 {
				to(prefix+name+"."+r.metric, experiment.PhaseMeasure, (b-a)/elapsed, r.unit)
			}
		}
	}
}

// slip is how far readings may lie from the ends of the window, as a share of it.
const slip = 0.1

// cover reports whether two readings stand for the window: late ones would take
// what came after it for what was in it.
func cover(first, last, from, to time.Time) bool {
	most := time.Duration(slip * float64(to.Sub(from)))
	return first.Sub(from).Abs() <= most && last.Sub(to).Abs() <= most
}

// ends gives the marks between which the window lies: from the first phase that is
// measured to what comes after the last.
func (s *sampler) ends() (first, last mark, ok bool) {
	measured := func(m mark) bool { return m.phase == experiment.PhaseMeasure }
	i := slices.IndexFunc(s.marks, measured)
	if i < 0 {
		return first, last, false
	}
	for j := len(s.marks) - 1; j > i; j-- {
		if !measured(s.marks[j]) && measured(s.marks[j-1]) {
			return s.marks[i], s.marks[j], true
		}
	}
	return s.marks[i], last, false
}

// window gives when the measured window began and ended.
func (s *sampler) window() (from, to time.Time, ok bool) {
	first, last, ok := s.ends()
	return first.at, last.at, ok
}
