package process

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/experiment"
)

// maxCore is the highest core that a unix.CPUSet can name.
const maxCore = 1023

// allowedCores gives the cores that the calling thread may use.
func allowedCores() (experiment.CoreSet, error) {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		return nil, err
	}
	var set experiment.CoreSet
	for c := 0; c <= maxCore; c++ {
		if mask.IsSet(c) {
			set = append(set, c)
		}
	}
	return set, nil
}

// start starts a command in a process group of its own, pinned to the cores. The
// pin belongs to the thread that forks, so it is in force before the first
// instruction of the program. The thread is given up afterwards, for it keeps the
// pin: its goroutine ends locked, which ends the thread.
func start(cmd *exec.Cmd, cores experiment.CoreSet) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if err := pin(cores); err != nil {
			done <- err
			return
		}
		done <- cmd.Start()
	}()
	return <-done
}

// pin binds the calling thread to the cores and checks that the kernel took all
// of them: it leaves out those that do not exist as long as one does.
func pin(cores experiment.CoreSet) error {
	var mask unix.CPUSet
	for _, c := range cores {
		if c > maxCore {
			return fmt.Errorf("pin to cores %s: core %d is out of range", cores, c)
		}
		mask.Set(c)
	}
	if err := unix.SchedSetaffinity(0, &mask); err != nil {
		return fmt.Errorf("pin to cores %s: %w", cores, err)
	}
	var got unix.CPUSet
	if err := unix.SchedGetaffinity(0, &got); err != nil {
		return fmt.Errorf("pin to cores %s: %w", cores, err)
	}
	if got != mask {
		return fmt.Errorf("pin to cores %s: not all of them can be used", cores)
	}
	return nil
}
