package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/experiment"
)

// conductorNice is how far the conductor steps back for the generator, with which
// it may share a core.
const conductorNice = 10

// pinSelf puts every thread of this process on the given cores; threads that come
// later inherit it. nice lowers their priority too: not where services are child
// processes, which would inherit that as well and may not undo it.
func pinSelf(cores experiment.CoreSet, nice bool) error {
	if len(cores) == 0 {
		return nil
	}
	var set unix.CPUSet
	for _, c := range cores {
		set.Set(c)
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("list own threads: %w", err)
	}
	for _, t := range tasks {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		err = unix.SchedSetaffinity(tid, &set)
		if err == nil && nice {
			err = unix.Setpriority(unix.PRIO_PROCESS, tid, conductorNice)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) { // the thread may have ended meanwhile
			return fmt.Errorf("pin thread %d to cores %s: %w", tid, cores, err)
		}
	}
	return nil
}
