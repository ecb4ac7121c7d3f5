package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Kinds of leftovers.
const (
	kindProcess   = "process"
	kindDirectory = "directory"
)

// Leftovers implements experiment.Cleaner. It lists processes first, then the
// directories of runs, whoever owns them; what cannot be read has no owner, and
// an unknown fate.
func (r *Runner) Leftovers(context.Context) ([]experiment.Leftover, error) {
	states, err := r.states()
	if err != nil {
		return nil, fmt.Errorf("find leftovers: %w", err)
	}
	all, err := processes()
	if err != nil {
		return nil, fmt.Errorf("find leftovers: %w", err)
	}
	var out []experiment.Leftover
	for _, p := range all {
		if m, ok := belongs(p, states); ok {
			out = append(out, experiment.Leftover{
				Kind: kindProcess, ID: processID(p), Owner: m.owner, Fate: experiment.FateOf(m.owner),
				Name: fmt.Sprintf("service %s of run %d of sweep %d", m.service, m.run, m.sweep),
			})
		}
	}
	for path, s := range states {
		out = append(out, experiment.Leftover{
			Kind: kindDirectory, ID: strings.TrimSuffix(path, stateSuffix), Owner: s.Owner, Fate: experiment.FateOf(s.Owner),
			Name: fmt.Sprintf("directory of run %d of sweep %d", s.Run, s.Sweep),
		})
	}
	return out, nil
}

func processID(p process) string { return strconv.Itoa(p.pid) + "@" + p.start }

// states reads the state files, by path. A file that cannot be read gives an
// empty state.
func (r *Runner) states() (map[string]runState, error) {
	paths, err := filepath.Glob(filepath.Join(r.runsDir(), "*"+stateSuffix))
	if err != nil {
		return nil, err
	}
	states := map[string]runState{}
	for _, path := range paths {
		s, err := loadState(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its run was closed meanwhile
		}
		if err != nil {
			r.log.Warn("a state file cannot be read", "path", path, "err", err)
		}
		states[path] = s
	}
	return states, nil
}

// belongs says which service of which run a living process is, by its marker or
// else by full agreement with a state file.
func belongs(p process, states map[string]runState) (marker, bool) {
	if p.dead() {
		return marker{}, false
	}
	if m, ok := markerOf(p.pid); ok {
		return m, true
	}
	for _, s := range states {
		if i := slices.IndexFunc(s.Processes, func(s processState) bool { return s.matches(p) }); i >= 0 {
			return marker{owner: s.Owner, sweep: s.Sweep, run: s.Run, service: s.Processes[i].Service}, true
		}
	}
	return marker{}, false
}

// Remove implements experiment.Cleaner. It removes nothing whose owner is not
// dead, and kills no process that is not beyond doubt the owner's.
func (r *Runner) Remove(_ context.Context, l experiment.Leftover) error {
	if fate := experiment.FateOf(l.Owner); fate != experiment.OwnerDead {
		return fmt.Errorf("remove %s %s: its owner is %s", l.Kind, l.ID, fate)
	}
	var err error
	switch l.Kind {
	case kindProcess:
		err = r.removeProcess(l)
	case kindDirectory:
		err = r.removeDirectory(l)
	default:
		err = errors.New("no such kind here")
	}
	if err != nil {
		return fmt.Errorf("remove %s %s: %w", l.Kind, l.ID, err)
	}
	return nil
}

func (r *Runner) removeProcess(l experiment.Leftover) error {
	states, err := r.states()
	if err != nil {
		return err
	}
	number, _, _ := strings.Cut(l.ID, "@")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(killPatience); ; time.Sleep(2 * time.Millisecond) {
		p, err := readProcess(pid)
		if err != nil || processID(p) != l.ID || p.dead() {
			return nil // gone
		}
		if time.Now().After(deadline) {
			return errors.New("it survives SIGKILL")
		}
		err = kill(p, func(now process) bool {
			m, ok := belongs(now, states)
			return ok && m.owner == l.Owner
		})
		if err != nil {
			return err
		}
	}
}

// removeDirectory ends what may still run there before the state file goes.
func (r *Runner) removeDirectory(l experiment.Leftover) error {
	if filepath.Dir(l.ID) != r.runsDir() {
		return errors.New("it is no directory of a run")
	}
	s, err := loadState(l.ID + stateSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.Owner != l.Owner {
		return errors.New("it belongs to somebody else by now")
	}
	err = killMarked(func(m marker) bool { return m.owner == s.Owner && m.sweep == s.Sweep && m.run == s.Run })
	if err != nil {
		return err
	}
	for _, entry := range s.Processes {
		if p, err := readProcess(entry.PID); err == nil && entry.matches(p) {
			if err := kill(p, entry.matches); err != nil {
				return err
			}
		}
	}
	return removeRun(l.ID)
}
