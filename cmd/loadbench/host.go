//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Noise is what the host did besides, as shares of all its cores' time.
type Noise struct {
	Cores  int     `json:"cores"`
	Others float64 `json:"others"` // processes that are no part of the measurement
	Steal  float64 `json:"steal"`  // the hypervisor
}

// mostNoise is the share of others and of the hypervisor above which figures are doubtful.
const mostNoise = 0.05

// quiet reports whether figures can be believed.
func (n Noise) quiet() bool { return n.Others+n.Steal <= mostNoise }

// String is a sentence.
func (n Noise) String() string {
	text := fmt.Sprintf("%d cores; others used %.1f%% of them, the hypervisor took %.1f%%.", n.Cores, 100*n.Others, 100*n.Steal)
	if !n.quiet() {
		text += " That is no quiet host: these figures are doubtful."
	}
	return text
}

// clock is processor time since the host, or since this process, began.
type clock struct {
	all, busy, steal time.Duration // of the host; busy is without steal
	own              time.Duration // of this process and of all that it waited for
}

// tick is the unit of /proc/stat: USER_HZ is 100 on every architecture of Linux that Go
// knows.
const tick = 10 * time.Millisecond

// ticks reads the clocks.
func ticks() (clock, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return clock{}, err
	}
	c, err := parseStat(string(stat))
	if err != nil {
		return c, err
	}
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if err := unix.Getrusage(who, &u); err != nil {
			return c, err
		}
		c.own += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return c, nil
}

// parseStat reads the first line of /proc/stat. Time of guests is part of user and nice.
func parseStat(stat string) (clock, error) {
	var user, nice, system, idle, iowait, irq, softirq, steal time.Duration
	line, _, _ := strings.Cut(stat, "\n")
	if _, err := fmt.Sscanf(line, "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal); err != nil {
		return clock{}, fmt.Errorf("read /proc/stat: %w", err)
	}
	busy := user + nice + system + irq + softirq
	return clock{all: (busy + idle + iowait + steal) * tick, busy: busy * tick, steal: steal * tick}, nil
}

// noise is what the host did since then. Whatever was measured was waited for.
func noise(before clock) (Noise, error) {
	now, err := ticks()
	if err != nil {
		return Noise{}, err
	}
	return noiseBetween(before, now), nil
}

func noiseBetween(before, now clock) Noise {
	n := Noise{Cores: runtime.NumCPU()}
	if all := (now.all - before.all).Seconds(); all > 0 {
		others := (now.busy - before.busy) - (now.own - before.own)
		n.Others, n.Steal = max(others.Seconds(), 0)/all, (now.steal-before.steal).Seconds()/all
	}
	return n
}
