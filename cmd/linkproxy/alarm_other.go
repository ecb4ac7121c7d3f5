//go:build !linux

package main

import "time"

// alarm waits for short times as exactly as Go's timers do on this system.
type alarm struct{}

func (*alarm) wait(d time.Duration) { time.Sleep(d) }
func (*alarm) close()               {}
