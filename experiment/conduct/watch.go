package conduct

import (
	"context"
	"maps"
	"sync"

	"github.com/ceteris/ceteris/experiment"
)

// watch waits for services that end before they are asked to.
type watch struct {
	ctx     context.Context // of the waiting; ends with stop
	cancel  context.CancelFunc
	some    context.Context // ends when a service ends by itself
	mark    context.CancelFunc
	waiting sync.WaitGroup

	mu   sync.Mutex
	gone map[string]experiment.Exit
}

func newWatch() *watch {
	w := &watch{gone: map[string]experiment.Exit{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.some, w.mark = context.WithCancel(context.Background())
	return w
}

// add waits for the end of a service in the background. The generator may end: it
// is not a sign of anything.
func (w *watch) add(name string, p experiment.Proc) {
	w.waiting.Go(func() {
		exit, err := p.Wait(w.ctx)
		if err != nil || w.ctx.Err() != nil {
			return
		}
		w.mu.Lock()
		w.gone[name] = exit
		w.mu.Unlock()
		if name != experiment.GeneratorName {
			w.mark()
		}
	})
}

// onEnd calls f as soon as a service has ended by itself, unless stop is called
// before.
func (w *watch) onEnd(f func()) (stop func() bool) { return context.AfterFunc(w.some, f) }

// exits gives the services that ended by themselves so far.
func (w *watch) exits() map[string]experiment.Exit {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.gone)
}

// stop ends the waiting; what ends from now on was asked to.
func (w *watch) stop() {
	w.cancel()
	w.waiting.Wait()
	w.mark()
}
