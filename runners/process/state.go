package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// stateSuffix ends the name of the state file of a run. The run's directory lies
// beside it and has the same name without the suffix. The file is there before
// anything else of the run, and goes last.
const stateSuffix = ".json"

func (r *Runner) runsDir() string { return filepath.Join(r.stateDir, "runs") }

// runState is what is known of a run by whoever has to clean up after it.
type runState struct {
	Owner     string         `json:"owner"`
	Sweep     int64          `json:"sweep"`
	Run       int64          `json:"run"`
	Processes []processState `json:"processes"`
}

// processState is a service. It is written without PID before the service is
// started; should ceteris die in between, the marker finds it.
type processState struct {
	Service    string `json:"service"`
	Executable string `json:"executable"` // as asked for; once started, as the kernel names it
	PID        int    `json:"pid,omitempty"`
	Group      int    `json:"group,omitempty"`
	Started    string `json:"started,omitempty"` // clock ticks since boot
}

// matches says whether a process that lives is the one that was started.
func (s processState) matches(p process) bool {
	if s.PID == 0 || s.PID != p.pid || s.Started != p.start || p.dead() {
		return false
	}
	exe, err := executable(p.pid)
	return err == nil && exe == s.Executable
}

// executable gives the path of what a process executes.
func executable(pid int) (string, error) {
	return os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
}

// save replaces the state file in one step.
func (s runState) save(path string) error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("save state of run: %w", err)
	}
	// Not the suffix of a state file: half a file is never read.
	temp := strings.TrimSuffix(path, stateSuffix) + ".part"
	if err := os.WriteFile(temp, b, 0o600); err != nil {
		return fmt.Errorf("save state of run: %w", err)
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("save state of run: %w", err)
	}
	return nil
}

func loadState(path string) (runState, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return runState{}, err
	}
	var s runState
	if err := json.Unmarshal(b, &s); err != nil {
		return runState{}, fmt.Errorf("state file %s: %w", path, err)
	}
	return s, nil
}

// newRun makes the state file of a run and then its directory.
func (r *Runner) newRun(key experiment.RunKey) (dir string, err error) {
	if err := os.MkdirAll(r.runsDir(), 0o700); err != nil {
		return "", fmt.Errorf("open run: %w", err)
	}
	for n := 1; ; n++ {
		dir = filepath.Join(r.runsDir(), fmt.Sprintf("%d-%d-%d", key.Sweep, key.Run, n))
		// The file is claimed by its creation; two ceteris with databases of their own
		// may have runs of the same number.
		f, err := os.OpenFile(dir+stateSuffix, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("open run: %w", err)
		}
		if err := f.Close(); err != nil {
			return "", fmt.Errorf("open run: %w", err)
		}
		state := runState{Owner: key.Owner, Sweep: key.Sweep, Run: key.Run}
		if err := state.save(dir + stateSuffix); err != nil {
			return "", err
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", fmt.Errorf("open run: %w", err)
		}
		return dir, nil
	}
}

// removeRun removes a run's directory and then its state file. What is gone
// already is no error.
func removeRun(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove directory of run: %w", err)
	}
	for _, path := range []string{dir + ".part", dir + stateSuffix} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove state of run: %w", err)
		}
	}
	return nil
}
