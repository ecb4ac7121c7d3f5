package load

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

const (
	prSetTimerSlack = 29 // prctl(2)
	defaultSlack    = 0  // the one that the thread had at first
	leastSlack      = 1  // ns
)

// lockSleeper gives the calling goroutine a thread of its own, whose sleeps the kernel does
// not put off to save wake-ups (usually by up to 50 µs). It reports whether that can be done.
func lockSleeper() bool {
	runtime.LockOSThread()
	if setTimerSlack(leastSlack) {
		return true
	}
	runtime.UnlockOSThread()
	return false
}

// unlockSleeper takes back what lockSleeper did.
func unlockSleeper() {
	setTimerSlack(defaultSlack)
	runtime.UnlockOSThread()
}

func setTimerSlack(ns uintptr) bool {
	_, _, errno := syscall.Syscall(syscall.SYS_PRCTL, prSetTimerSlack, ns, 0)
	return errno == 0
}

// sleep has the thread sleep; a signal may wake it early.
func sleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_, _, _ = syscall.Syscall6(syscall.SYS_CLOCK_NANOSLEEP, clockMonotonic, 0, uintptr(unsafe.Pointer(&t)), 0, 0, 0)
}
