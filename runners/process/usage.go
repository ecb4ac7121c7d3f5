package process

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/experiment"
)

// ticksPerSecond is the unit of processor times in /proc, the same on every Linux.
const ticksPerSecond = 100

// Usage implements experiment.Proc. Processor time is that of all processes of
// the service and of those children for which one of them has waited; memory is
// the sum of what is resident, in which shared pages count in each process. After
// the end it gives the last values, at the time of the end.
func (p *proc) Usage(context.Context) (experiment.Usage, error) {
	if _, gone := p.gone(); gone {
		return p.final, p.err
	}
	p.reading.Lock()
	defer p.reading.Unlock()
	all, err := processes()
	if err != nil {
		return experiment.Usage{}, fmt.Errorf("read usage of service %s: %w", p.service.Name, err)
	}
	at := time.Now()
	if err := p.files.mark(at); err != nil {
		return experiment.Usage{}, fmt.Errorf("read usage of service %s: %w", p.service.Name, err)
	}
	members := family(all, p.group)
	sum := map[experiment.Counter]float64{}
	for _, m := range members {
		sum[experiment.CounterCPU] += processorTime(m.pid).Seconds() + float64(m.childTicks)/ticksPerSecond
	}
	for _, m := range members {
		if m.dead() {
			continue
		}
		resident, peak := residentMemory(m.pid)
		sum[experiment.CounterMemory] += resident
		sum[experiment.CounterMemoryPeak] += peak
	}
	return experiment.Usage{At: at, Counters: p.grown(sum)}, nil
}

// finalUsage gives the counters at the end. The kernel's account of the main
// process holds the children that it waited for.
func (p *proc) finalUsage() experiment.Usage {
	p.reading.Lock()
	defer p.reading.Unlock()
	sum := map[experiment.Counter]float64{experiment.CounterMemory: 0}
	if r, ok := p.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		sum[experiment.CounterCPU] = time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
		sum[experiment.CounterMemoryPeak] = float64(r.Maxrss) * 1024
	}
	_ = p.files.mark(p.exit.At) // without files there is nothing to count
	return experiment.Usage{At: p.exit.At, Counters: p.grown(sum)}
}

// grown keeps counters from falling when a process ends whose time nobody
// inherits.
func (p *proc) grown(sum map[experiment.Counter]float64) map[experiment.Counter]float64 {
	for _, c := range []experiment.Counter{experiment.CounterCPU, experiment.CounterMemoryPeak} {
		sum[c] = max(sum[c], p.last[c])
	}
	p.last = sum
	return maps.Clone(sum)
}

// processorTime reads the clock of a process: the time that its threads, ended
// ones too, have used, in nanoseconds where /proc counts in hundredths of a
// second. It is zero for a process that is gone.
func processorTime(pid int) time.Duration {
	// The number of the clock is made as clock_getcpuclockid(3) makes it.
	const processClock = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|processClock), &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// residentMemory gives the bytes that a process has and had at most in memory;
// zero for one that is gone.
func residentMemory(pid int) (now, peak float64) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		if name != "VmRSS" && name != "VmHWM" {
			continue
		}
		kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		if err != nil {
			continue
		}
		if name == "VmRSS" {
			now = kib * 1024
		} else {
			peak = kib * 1024
		}
	}
	return now, peak
}
