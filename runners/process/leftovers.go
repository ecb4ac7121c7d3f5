package process

import (
	"context"
	"errors"
	"fmt"
	"os"
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
// directories of owners, whoever they are.
func (r *Runner) Leftovers(context.Context) ([]experiment.Leftover, error) {
	owners, err := r.owned()
	if err != nil {
		return nil, fmt.Errorf("find leftovers: %w", err)
	}
	all, err := processes()
	if err != nil {
		return nil, fmt.Errorf("find leftovers: %w", err)
	}
	var out []experiment.Leftover
	for _, p := range all {
		if m, ok := belongs(p, owners); ok {
			out = append(out, experiment.Leftover{
				Kind: kindProcess, ID: processID(p), Owner: m.owner, Fate: experiment.FateOf(m.owner),
				Name: fmt.Sprintf("service %s of run %d of sweep %d", m.service, m.run, m.sweep),
			})
		}
	}
	for _, o := range owners {
		out = append(out, experiment.Leftover{
			Kind: kindDirectory, ID: r.ownerDir(o.owner), Owner: o.owner, Fate: experiment.FateOf(o.owner),
			Name: fmt.Sprintf("files of %d runs", len(o.runs)),
		})
	}
	return out, nil
}

func processID(p process) string { return strconv.Itoa(p.pid) + "@" + p.start }

// belongs says which service of which run a living process is, by its marker or
// else by full agreement with a state file.
func belongs(p process, owners []ownedRuns) (marker, bool) {
	if p.dead() {
		return marker{}, false
	}
	if m, ok := markerOf(p.pid); ok {
		return m, true
	}
	for _, o := range owners {
		for _, s := range o.runs {
			if i := slices.IndexFunc(s.Processes, func(s processState) bool { return s.matches(p) }); i >= 0 {
				return marker{owner: o.owner, sweep: s.Sweep, run: s.Run, service: s.Processes[i].Service}, true
			}
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
	owners, err := r.owned()
	if err != nil {
		return err
	}
	number, _, _ := strings.Cut(l.ID, "@")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	theirs := func(p process) bool {
		m, ok := belongs(p, owners)
		return ok && m.owner == l.Owner
	}
	for deadline := time.Now().Add(killPatience); ; time.Sleep(2 * time.Millisecond) {
		p, err := readProcess(pid)
		if err != nil || processID(p) != l.ID || p.dead() {
			return nil // gone
		}
		if time.Now().After(deadline) {
			return errors.New("it survives SIGKILL")
		}
		if err := killLed(p, theirs); err != nil {
			return err
		}
	}
}

// removeDirectory removes the files of all runs of an owner. It ends what may
// still run there before the state files go.
func (r *Runner) removeDirectory(l experiment.Leftover) error {
	if l.ID != r.ownerDir(l.Owner) {
		return errors.New("it is no directory of its owner")
	}
	owners, err := r.owned()
	if err != nil {
		return err
	}
	if err := killMarked(func(m marker) bool { return m.owner == l.Owner }); err != nil {
		return err
	}
	for _, o := range owners {
		if o.owner != l.Owner {
			continue
		}
		for id, s := range o.runs {
			for _, entry := range s.Processes {
				if p, err := readProcess(entry.PID); err == nil {
					if err := killLed(p, entry.matches); err != nil {
						return err
					}
				}
			}
			if err := os.RemoveAll(filepath.Join(r.runsDir(), id)); err != nil {
				return err
			}
		}
	}
	return os.RemoveAll(l.ID)
}

// killLed kills a process if it is meant, and with it those that it leads: they
// may have cleared their environment.
func killLed(p process, meant func(process) bool) error {
	all, err := processes()
	if err != nil {
		return err
	}
	if !meant(p) {
		return nil
	}
	led := []process{p}
	if p.group == p.pid {
		led = family(all, p.group)
	}
	return errors.Join(kill(p, meant), killAll(led))
}
