//go:build unix && !linux

package load

import "syscall"

func writeNow(fd uintptr, p []byte) (int, error) { return syscall.Write(int(fd), p) }

func readNow(fd uintptr, p []byte) (int, error) { return syscall.Read(int(fd), p) }
