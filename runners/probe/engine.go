package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// engineTimes is the processor time that each process of a container engine has
// used, in seconds, by an identity that is never given again.
type engineTimes struct {
	at        time.Time
	processes map[string]float64
}

func (t engineTimes) when() time.Time { return t.at }

// enginePrograms are the names of an engine's processes. The kernel keeps 15
// bytes of a name, so all shims have the same.
func enginePrograms() []string {
	return []string{"dockerd", "containerd", "containerd-shim", "docker-proxy"}
}

// readEngine reads the times of the container engine of this host: the daemons,
// and the shims and port proxies of all containers. Times count in hundredths of a
// second.
func readEngine() (engineTimes, error) {
	times, err := engineProcesses("/proc")
	if err != nil {
		return engineTimes{}, fmt.Errorf("read processor times of the engine: %w", err)
	}
	return engineTimes{at: time.Now(), processes: times}, nil
}

func engineProcesses(proc string) (map[string]float64, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, err
	}
	times := map[string]float64{}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		name, err := os.ReadFile(filepath.Join(proc, e.Name(), "comm"))
		if err != nil || !slices.Contains(enginePrograms(), strings.TrimSpace(string(name))) {
			continue // somebody else's, or gone
		}
		stat, err := os.ReadFile(filepath.Join(proc, e.Name(), "stat"))
		if err != nil {
			continue
		}
		started, used, err := parseStat(stat)
		if err != nil {
			return nil, fmt.Errorf("process %s: %w", e.Name(), err)
		}
		times[e.Name()+"@"+started] = used
	}
	return times, nil
}

// parseStat gives the start time of a process, in clock ticks since boot, and the
// processor time that it used itself, in seconds; see proc_pid_stat(5).
func parseStat(stat []byte) (started string, used float64, err error) {
	const ticksPerSecond = 100 // the same on every Linux
	f, err := experiment.StatFields(stat)
	if err != nil {
		return "", 0, err
	}
	user, err := strconv.ParseInt(f[11], 10, 64)
	if err != nil {
		return "", 0, fmt.Errorf("unreadable stat: %w", err)
	}
	system, err := strconv.ParseInt(f[12], 10, 64)
	if err != nil {
		return "", 0, fmt.Errorf("unreadable stat: %w", err)
	}
	return f[19], float64(user+system) / ticksPerSecond, nil
}

// NewEngine makes the probe of the container engine on this host. It observes
// engine.cpu, the processors that the engine itself used (cores): a process that
// began inside the window counts whole; what one used that ended inside it is not
// known. Where no process of an engine is in sight it observes nothing.
func NewEngine() experiment.Probe { return engineProbe(readEngine) }

func engineProbe(read func() (engineTimes, error)) experiment.Probe {
	return &probe[engineTimes]{name: experiment.EngineName, read: read, observe: engineUse}
}

func engineUse(first, last engineTimes, elapsed float64) ([]experiment.Observation, error) {
	if len(last.processes) == 0 {
		return nil, nil
	}
	used := 0.0
	for id, end := range last.processes {
		used += max(end-first.processes[id], 0)
	}
	return []experiment.Observation{observed(experiment.EngineName, "cpu", used/elapsed, experiment.UnitCores)}, nil
}
