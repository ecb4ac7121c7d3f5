package probe

import (
	"bytes"
	"context"
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

// enginePrograms are the names of an engine's processes. The kernel keeps 15
// bytes of a name, so all shims have the same.
func enginePrograms() []string {
	return []string{"dockerd", "containerd", "containerd-shim", "docker-proxy"}
}

// readEngine reads the times of the container engine of this host: the daemons,
// and the shims and port proxies of all containers. It finds none where the engine
// runs elsewhere. Times count in hundredths of a second.
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
	// The name, in parentheses, may hold anything; field 3 follows it.
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 20 {
		return "", 0, fmt.Errorf("unreadable stat %q", stat)
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

// Engine observes engine.cpu: the processors that the container engine itself
// used (cores). Where no process of an engine is in sight it observes nothing.
type Engine struct{ read func() (engineTimes, error) }

var _ experiment.Probe = (*Engine)(nil)

// NewEngine makes the probe of the engine on this host.
func NewEngine() *Engine { return &Engine{read: readEngine} }

// Start implements experiment.Probe. It reads once, so that a host that cannot be
// read is known before the load.
func (e *Engine) Start(context.Context, experiment.ProbeTarget) (experiment.Sampling, error) {
	if _, err := e.read(); err != nil {
		return nil, err
	}
	return &engineSampling{window[engineTimes]{read: e.read}}, nil
}

type engineSampling struct{ window window[engineTimes] }

// Mark implements experiment.Sampling.
func (s *engineSampling) Mark(p experiment.Phase) error { return s.window.mark(p) }

// Stop implements experiment.Sampling. A process that began inside the window
// counts whole; what one used that ended inside it is not known. Without both
// ends of the window the error wraps ErrWindow.
func (s *engineSampling) Stop(context.Context) ([]experiment.Observation, []experiment.SeriesPoint, error) {
	a, b, err := s.window.ends()
	if err != nil {
		return nil, nil, fmt.Errorf("probe engine: %w", err)
	}
	elapsed := b.at.Sub(a.at).Seconds()
	if elapsed <= 0 {
		return nil, nil, fmt.Errorf("probe engine: no time passed between the readings: %w", ErrWindow)
	}
	if len(b.processes) == 0 {
		return nil, nil, nil
	}
	used := 0.0
	for id, end := range b.processes {
		used += max(end-a.processes[id], 0)
	}
	return []experiment.Observation{observed(experiment.EngineName, "cpu", used/elapsed, experiment.UnitCores)}, nil, nil
}
