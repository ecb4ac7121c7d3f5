package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/experiment"
)

// conductorNice is how far the conductor steps back for the generator, with which
// it may share a core.
const conductorNice = 10

// ownPlace puts this process on the conductor's cores, and back.
type ownPlace struct {
	home unix.CPUSet // where it may run when it is not pinned
	nice bool        // lower the priority, too
	log  *slog.Logger
}

// newOwnPlace remembers the present place. nice is for sweeps in containers only:
// services that are child processes would inherit it and may not undo it.
func newOwnPlace(nice bool, log *slog.Logger) (*ownPlace, error) {
	p := &ownPlace{nice: nice, log: log}
	if err := unix.SchedGetaffinity(os.Getpid(), &p.home); err != nil {
		return nil, fmt.Errorf("read own cores: %w", err)
	}
	return p, nil
}

// pin puts every thread of this process on the given cores; threads that come
// later inherit it. The engine's cores may be others than those that this process is
// allowed to use (it may be in a container itself): then it stays where it is, which
// is logged and no reason not to measure.
func (p *ownPlace) pin(cores experiment.CoreSet) error {
	if len(cores) == 0 {
		return nil
	}
	var set unix.CPUSet
	for _, c := range cores {
		set.Set(c)
	}
	var refused error
	err := eachThread(func(tid int) error {
		err := unix.SchedSetaffinity(tid, &set)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
			refused, err = err, nil
		}
		if err != nil || !p.nice {
			return err
		}
		return unix.Setpriority(unix.PRIO_PROCESS, tid, conductorNice)
	})
	if err == nil && refused != nil {
		p.log.Warn("the conductor may not run on its cores and stays where it is", "cores", cores, "err", refused)
	}
	return err
}

// restore undoes pin, but for the priority, which only root may raise.
func (p *ownPlace) restore(log *slog.Logger) {
	if err := eachThread(func(tid int) error { return unix.SchedSetaffinity(tid, &p.home) }); err != nil {
		log.Warn("still on the conductor's cores", "err", err)
	}
}

// eachThread treats every thread of this process, also those that one which was
// not treated yet has started meanwhile.
func eachThread(treat func(tid int) error) error {
	treated := map[int]bool{}
	for more := true; more; {
		more = false
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("list own threads: %w", err)
		}
		for _, t := range tasks {
			tid, err := strconv.Atoi(t.Name())
			if err != nil || treated[tid] {
				continue
			}
			more, treated[tid] = true, true
			if err := treat(tid); err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended meanwhile
				return fmt.Errorf("place thread %d: %w", tid, err)
			}
		}
	}
	return nil
}
