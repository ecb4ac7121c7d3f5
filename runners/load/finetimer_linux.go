package load

import (
	"context"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// fineTimer is a timer of the kernel (timerfd_create(2)) that the runtime's
// poller watches: it wakes within microseconds and holds no thread.
type fineTimer struct {
	fd     uintptr
	file   *os.File
	forget func() bool
	buf    [8]byte // takes the number of expirations
}

const (
	clockMonotonic  = 1
	timerfdNonblock = syscall.O_NONBLOCK
	timerfdCloexec  = syscall.O_CLOEXEC
)

// newFineTimer gives nil when the kernel has none to give.
func newFineTimer(ctx context.Context) *fineTimer {
	fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, timerfdNonblock|timerfdCloexec, 0)
	if errno != 0 {
		return nil
	}
	file := os.NewFile(fd, "timerfd")
	if file.SetDeadline(time.Time{}) != nil { // not watched by the poller
		_ = file.Close()
		return nil
	}
	return &fineTimer{fd: fd, file: file, forget: context.AfterFunc(ctx, func() {
		_ = file.SetReadDeadline(time.Unix(1, 0)) // wakes the waiter
	})}
}

// set has the timer expire once, after d, above 0; what was set before is forgotten. It
// reports whether it could.
func (t *fineTimer) set(d time.Duration) bool {
	spec := [2]syscall.Timespec{1: syscall.NsecToTimespec(int64(d))} // interval, value
	_, _, errno := syscall.Syscall6(syscall.SYS_TIMERFD_SETTIME, t.fd, 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	return errno == 0
}

// expired waits until it has, or the context ended; it reports whether it could.
func (t *fineTimer) expired() bool {
	_, err := t.file.Read(t.buf[:])
	return err == nil
}

func (t *fineTimer) close() {
	t.forget()
	_ = t.file.Close()
}
