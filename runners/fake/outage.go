package fake

import (
	"context"
	"fmt"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Outage is a time in which the engine is gone. Its services end, nobody can say how;
// what was made is still there when it is back, and is removed by Close alone.
type Outage struct {
	Run   int           // begins with this opening,
	After time.Duration // so long after it; 0: the opening itself fails
	For   time.Duration // 0: for good
}

// engine is what an outage takes away.
type engine struct {
	gone bool
	envs map[*env]bool // that are open
}

// plan begins the outages of an opening, some of them later.
func (r *Runner) plan(n int) {
	for _, o := range r.script.Outages {
		switch {
		case o.Run != n:
		case o.After == 0:
			r.begin(o)
		default:
			time.AfterFunc(o.After, func() { r.begin(o) })
		}
	}
}

func (r *Runner) begin(o Outage) {
	r.mu.Lock()
	r.engine.gone = true
	var open []*env
	for e := range r.engine.envs {
		open = append(open, e)
	}
	r.mu.Unlock()
	for _, e := range open {
		e.lose()
	}
	if o.For > 0 {
		time.AfterFunc(o.For, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.engine.gone = false
		})
	}
}

// answer is the error of an engine that is gone.
func (r *Runner) answer(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine.gone {
		return fmt.Errorf("fake: %w", experiment.ErrNoRuntime)
	}
	return ctx.Err()
}

// lose ends all services of an environment, and whoever waits for them is told that
// nobody knows how.
func (e *env) lose() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.procs {
		p.ending.Do(func() {
			p.lost = fmt.Errorf("watch service %s: %w", p.service.Name, experiment.ErrNoRuntime)
			p.out.fail(p.lost)
			p.runner.happened(-1, "lose %d %s", p.n, p.service.Name)
			close(p.ended)
		})
	}
}
