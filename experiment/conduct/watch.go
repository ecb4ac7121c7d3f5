package conduct

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// settle is how long the end of a process may take to become known after its
// effects: a closed connection is seen before an exit code.
const settle = 2 * time.Second

// watch waits for services that end before they are asked to.
type watch struct {
	ctx     context.Context // of the waiting; ends with stop
	cancel  context.CancelFunc
	some    context.Context // ends when a service ends by itself
	mark    context.CancelFunc
	waiting sync.WaitGroup

	mu    sync.Mutex
	gone  map[string]experiment.Exit
	known map[string]chan struct{} // closed when the waiting for a service is over
	fault map[string]error         // of the waiting itself, by service
}

func newWatch() *watch {
	w := &watch{gone: map[string]experiment.Exit{}, fault: map[string]error{}, known: map[string]chan struct{}{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.some, w.mark = context.WithCancel(context.Background())
	return w
}

// add waits for the end of a service in the background. The generator may end: it
// is not a sign of anything.
func (w *watch) add(name string, p experiment.Proc) {
	known := make(chan struct{})
	w.mu.Lock()
	w.known[name] = known
	w.mu.Unlock()
	w.waiting.Go(func() {
		defer close(known)
		exit, err := p.Wait(w.ctx)
		if w.ctx.Err() != nil {
			return
		}
		w.mu.Lock()
		if err != nil {
			w.fault[name] = err
		} else {
			w.gone[name] = exit
		}
		w.mu.Unlock()
		if name != experiment.GeneratorName {
			w.mark()
		}
	})
}

// onEnd calls f, once, as soon as a service has ended by itself or can no longer be
// watched.
func (w *watch) onEnd(f func()) (stop func() bool) { return context.AfterFunc(w.some, f) }

// exits gives the services that ended by themselves so far.
func (w *watch) exits() map[string]experiment.Exit {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.gone)
}

// lost says why services can no longer be watched, if so: what goes for one goes for
// all, so that the first by name speaks.
func (w *watch) lost() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := slices.Sorted(maps.Keys(w.fault))
	if len(names) == 0 {
		return nil
	}
	return w.fault[names[0]]
}

// endOf gives the end of a service, waiting a little for it to become known.
func (w *watch) endOf(ctx context.Context, name string, patience time.Duration) (experiment.Exit, bool) {
	w.mu.Lock()
	known := w.known[name]
	w.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-known:
	case <-timer.C:
	case <-ctx.Done():
	}
	exit, ended := w.exits()[name]
	return exit, ended
}

// someEnd waits a little for the end of a service, the generator not counted, to become
// known.
func (w *watch) someEnd(ctx context.Context, patience time.Duration) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.some.Done():
	case <-timer.C:
	case <-ctx.Done():
	}
}

// stop ends the waiting; what ends from now on was asked to.
func (w *watch) stop() {
	w.cancel()
	w.waiting.Wait()
	w.mark()
}
