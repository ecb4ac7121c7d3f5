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

	// Restart: it is back at once, as if it had never been away, and its services have
	// ended with 143. For is not used.
	Restart bool
}

// engine is what an outage takes away.
type engine struct {
	gone bool
	life int           // how often it began anew
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
	r.engine.gone = !o.Restart
	r.engine.life++
	var open []*env
	for e := range r.engine.envs {
		open = append(open, e)
	}
	r.mu.Unlock()
	for _, e := range open {
		if o.Restart {
			e.terminate()
		} else {
			e.lose()
		}
	}
	if o.For > 0 && !o.Restart {
		time.AfterFunc(o.For, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.engine.gone = false
		})
	}
}

// Incarnation implements experiment.Incarnate.
func (r *Runner) Incarnation(ctx context.Context) (string, error) {
	if err := r.answer(ctx); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("life %d", r.engine.life), nil
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

// terminate ends all services of an environment by SIGTERM.
func (e *env) terminate() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.procs {
		p.end(143, false)
	}
}
