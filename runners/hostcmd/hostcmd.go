// Package hostcmd runs commands on this host as children of ceteris: builds, what comes
// before them, and what a matrix wants to be done at its end.
//
// A child has a process group of its own: an interrupt from the terminal is for ceteris
// alone, and all that a command has started ends with it when it is to end.
//
// Services are no children in this sense: they are watched, and outlive what starts
// them (see the process runner).
package hostcmd

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Run runs a command to its end. The end of the context under which it was made
// (exec.CommandContext) kills its whole group. If ceteris is killed itself, its first
// process is killed with it: of the others nobody knows by then.
func Run(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // called before it is reaped
	// The signal comes when the thread ends that has started the command: it must not
	// be given to others, who may end it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}
