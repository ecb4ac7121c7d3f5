package conduct

import (
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Clocks is one reading of this host's clocks. Mono counts from any moment and does
// not move while the host sleeps.
type Clocks struct {
	Wall time.Time
	Mono time.Duration
}

func (c *Conductor) clocks() func() Clocks {
	if c.Clocks != nil {
		return c.Clocks
	}
	return SystemClocks()
}

// SystemClocks gives a function that reads the clocks of this host.
func SystemClocks() func() Clocks {
	origin := time.Now()
	return func() Clocks {
		now := time.Now()
		return Clocks{Wall: now.Round(0), Mono: now.Sub(origin)}
	}
}

// tick is how often the conductor looks at its clocks during a run.
const tick = 100 * time.Millisecond

// ticker looks at the clocks during a run, so that a host that slept and a conductor
// that was stopped do not pass for a slow subject.
type ticker struct {
	read  func() Clocks
	first Clocks
	quit  chan struct{}
	done  sync.WaitGroup

	mu   sync.Mutex
	last Clocks
	gaps []gap
	most time.Duration // that the clocks were apart, by its size
}

// gap is the time between two ticks of which the second came late.
type gap struct {
	from, to time.Time
	late     time.Duration
}

func startTicker(read func() Clocks) *ticker {
	t := &ticker{read: read, first: read(), quit: make(chan struct{})}
	t.last = t.first
	ticks := time.NewTicker(tick)
	t.done.Go(func() {
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				t.look()
			case <-t.quit:
				return
			}
		}
	})
	return t
}

// look compares one reading with the last and with the first.
func (t *ticker) look() {
	now := t.read()
	t.mu.Lock()
	defer t.mu.Unlock()
	if late := now.Mono - t.last.Mono - tick; late > tick { // less is no pause, and common
		t.gaps = append(t.gaps, gap{from: t.last.Wall, to: now.Wall, late: late})
	}
	apart := now.Wall.Sub(t.first.Wall) - (now.Mono - t.first.Mono)
	if apart.Abs() > t.most.Abs() {
		t.most = apart
	}
	t.last = now
}

// stop ends the ticking, after one last look.
func (t *ticker) stop() {
	close(t.quit)
	t.done.Wait()
	t.look()
}

// check gives what was seen; ticks count inside the window alone. Without a window
// none count.
func (t *ticker) check(from, to time.Time, measured bool) experiment.ClockCheck {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := experiment.ClockCheck{Apart: t.most}
	for _, g := range t.gaps {
		if measured && g.from.Before(to) && g.to.After(from) {
			out.Late = max(out.Late, g.late)
		}
	}
	return out
}
