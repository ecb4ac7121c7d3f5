package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// Below the state directory, owners holds a directory for each owner, named after
// it, with a state file for each of its runs; runs holds the directories of runs.
// A state file is there before its run's directory and goes after it, and who owns
// it can be told from its place alone: at whatever moment ceteris dies, nothing is
// left that nobody can be asked about. The names of runs are short, because paths
// of sockets must be.

// stateSuffix ends the name of a state file; the rest of it is the run's id.
const stateSuffix = ".json"

func (r *Runner) runsDir() string   { return filepath.Join(r.stateDir, "runs") }
func (r *Runner) ownersDir() string { return filepath.Join(r.stateDir, "owners") }

func (r *Runner) ownerDir(owner string) string {
	return filepath.Join(r.ownersDir(), url.PathEscape(owner))
}

// files are the places of one run.
type files struct{ state, dir string }

func (r *Runner) files(key experiment.RunKey) files {
	id := experiment.HashJSON(key)[:12]
	return files{state: filepath.Join(r.ownerDir(key.Owner), id+stateSuffix), dir: filepath.Join(r.runsDir(), id)}
}

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
	temp := path + ".part"
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
func (r *Runner) newRun(key experiment.RunKey) (files, error) {
	r.filing.Lock()
	defer r.filing.Unlock()
	f := r.files(key)
	for _, dir := range []string{r.runsDir(), filepath.Dir(f.state)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return files{}, fmt.Errorf("open run: %w", err)
		}
	}
	if _, err := os.Stat(f.state); err == nil {
		return files{}, fmt.Errorf("open run: run %d of sweep %d is open already: %w", key.Run, key.Sweep, fs.ErrExist)
	}
	state := runState{Owner: key.Owner, Sweep: key.Sweep, Run: key.Run}
	if err := state.save(f.state); err != nil {
		return files{}, err
	}
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		return files{}, errors.Join(fmt.Errorf("open run: %w", err), os.Remove(f.state))
	}
	return f, nil
}

// removeRun removes a run's directory and then its state file, and the owner's
// directory with the last of its runs. What is gone already is no error.
func (r *Runner) removeRun(f files) error {
	r.filing.Lock()
	defer r.filing.Unlock()
	if err := os.RemoveAll(f.dir); err != nil {
		return fmt.Errorf("remove directory of run: %w", err)
	}
	if err := os.Remove(f.state); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove state of run: %w", err)
	}
	_ = os.Remove(filepath.Dir(f.state)) // refused while others are in it
	return nil
}

// ownedRuns are the runs of an owner, by the id in the names of their files.
type ownedRuns struct {
	owner string
	runs  map[string]runState
}

// owned reads all state files. One that cannot be read gives an empty state; that
// of a run that is closed meanwhile is left out.
func (r *Runner) owned() ([]ownedRuns, error) {
	entries, err := os.ReadDir(r.ownersDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []ownedRuns
	for _, e := range entries {
		owner, err := url.PathUnescape(e.Name())
		if err != nil {
			continue // not ours
		}
		o := ownedRuns{owner: owner, runs: map[string]runState{}}
		states, err := os.ReadDir(filepath.Join(r.ownersDir(), e.Name()))
		if err != nil {
			continue // its last run was closed meanwhile
		}
		for _, f := range states {
			id, ok := strings.CutSuffix(f.Name(), stateSuffix)
			if !ok {
				continue // half a file
			}
			s, err := loadState(filepath.Join(r.ownersDir(), e.Name(), f.Name()))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				r.log.Warn("a state file cannot be read", "owner", owner, "err", err)
			}
			if !experiment.OfThisBoot(owner) {
				s.Processes = nil // none outlived it, and another process may have the same id and start time now
			}
			o.runs[id] = s
		}
		all = append(all, o)
	}
	return all, nil
}
