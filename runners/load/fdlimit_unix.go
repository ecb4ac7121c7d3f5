//go:build unix

package load

import "syscall"

// descriptorLimit is how many file descriptors this process may have.
func descriptorLimit() (limit uint64, known bool) {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return 0, false
	}
	return uint64(r.Cur), true //nolint:unconvert // signed on some systems
}
