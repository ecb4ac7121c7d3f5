package docker

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Where the engine's containers run on this host's kernel, their counters are read
// from the kernel, at the moment of asking. The engine itself may read them only
// on a tick of one second (20.10 does), which at the edges of a window of a few
// seconds takes idle time for load.

// groups are the control groups of a container: the directory of each controller
// on cgroup v1, that of all under the empty name on v2.
type groups struct {
	root string // of the file system: "/" but for tests
	pid  int
	dirs map[string]string
}

// groupsOf finds the control groups of a container by a process of it. pid is by
// the engine's count: where the engine runs elsewhere, or in another namespace,
// that is anybody's number here, so the groups must bear the container's id.
func groupsOf(root string, pid int, id string) (groups, bool) {
	g := groups{root: root, pid: pid, dirs: map[string]string{}}
	b, err := os.ReadFile(filepath.Join(root, "proc", strconv.Itoa(pid), "cgroup"))
	if err != nil || id == "" {
		return g, false
	}
	for line := range strings.Lines(string(b)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, ok := strings.Cut(rest, ":")
		if !ok || !strings.Contains(path, id) {
			continue
		}
		for name := range strings.SplitSeq(controllers, ",") {
			g.dirs[name] = filepath.Join(root, "sys/fs/cgroup", controllers, path)
		}
	}
	return g, len(g.dirs) > 0
}

// usage reads the counters and the time at which they were true. False where the
// kernel does not show at least the processor time.
func (g groups) usage() (experiment.Usage, bool) {
	u := experiment.Usage{At: time.Now(), Counters: map[experiment.Counter]float64{}}
	if dir, v1 := g.dirs["cpuacct"]; v1 {
		set(u.Counters, experiment.CounterCPU, 1e-9, number(filepath.Join(dir, "cpuacct.usage")))
		set(u.Counters, experiment.CounterThrottled, 1e-9, field(filepath.Join(g.dirs["cpu"], "cpu.stat"), "throttled_time"))
	} else {
		stat := filepath.Join(g.dirs[""], "cpu.stat")
		set(u.Counters, experiment.CounterCPU, 1e-6, field(stat, "usage_usec"))
		set(u.Counters, experiment.CounterThrottled, 1e-6, field(stat, "throttled_usec"))
	}
	if _, known := u.Counters[experiment.CounterCPU]; !known {
		return u, false
	}
	g.memory(u.Counters)
	g.network(u.Counters)
	return u, true
}

// memory is without the inactive part of the page cache, as the engine's own tools
// count it; the peak is with all of it. cgroup v2 keeps one since Linux 5.19.
func (g groups) memory(c map[experiment.Counter]float64) {
	dir, used, peak, cache := g.dirs["memory"], "memory.usage_in_bytes", "memory.max_usage_in_bytes", "total_inactive_file"
	if dir == "" {
		dir, used, peak, cache = g.dirs[""], "memory.current", "memory.peak", "inactive_file"
	}
	if all := number(filepath.Join(dir, used)); all != nil {
		inactive := field(filepath.Join(dir, "memory.stat"), cache)
		if inactive == nil {
			inactive = new(0.0)
		}
		c[experiment.CounterMemory] = *all - min(*inactive, *all)
	}
	set(c, experiment.CounterMemoryPeak, 1, number(filepath.Join(dir, peak)))
}

// network sums the interfaces of the container, loopback left out.
func (g groups) network(c map[experiment.Counter]float64) {
	b, err := os.ReadFile(filepath.Join(g.root, "proc", strconv.Itoa(g.pid), "net/dev"))
	if err != nil {
		return
	}
	received, sent, interfaces := 0.0, 0.0, 0
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		name, counts, ok := strings.Cut(lines.Text(), ":")
		f := strings.Fields(counts)
		if !ok || strings.TrimSpace(name) == "lo" || len(f) < 9 {
			continue
		}
		rx, err1 := strconv.ParseFloat(f[0], 64)
		tx, err2 := strconv.ParseFloat(f[8], 64)
		if err1 != nil || err2 != nil {
			continue
		}
		received, sent, interfaces = received+rx, sent+tx, interfaces+1
	}
	if interfaces > 0 {
		c[experiment.CounterNetReceived], c[experiment.CounterNetSent] = received, sent
	}
}

// set enters a value in its base unit, if it is known.
func set(c map[experiment.Counter]float64, name experiment.Counter, unit float64, v *float64) {
	if v != nil {
		c[name] = *v * unit
	}
}

// number reads a file that holds one number; nil if it does not.
func number(path string) *float64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return parsed(string(b))
}

// field reads one line "name value" of a file; nil if there is none.
func field(path, name string) *float64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	f := strings.Fields(string(b))
	if i := slices.Index(f, name); i >= 0 && i+1 < len(f) {
		return parsed(f[i+1])
	}
	return nil
}

func parsed(s string) *float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		return nil
	}
	return &v
}
