package conduct

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

func TestFirstFailure(t *testing.T) {
	at := func(s int, e experiment.Exit) experiment.Exit {
		e.At = time.Unix(int64(s), 0)
		return e
	}
	app := at(5, experiment.Exit{Code: 1})
	for _, tc := range []struct {
		name  string
		exits map[string]experiment.Exit
		want  string
	}{
		{"nobody ended", nil, ""},
		{"one", map[string]experiment.Exit{"app": app}, "restarted: app ended with 1 under load"},
		{"the first", map[string]experiment.Exit{"app": app, "store": at(4, experiment.Exit{Code: 2}), "z": at(6, experiment.Exit{})}, "restarted: store ended with 2 under load"},
		{"by name at the same time", map[string]experiment.Exit{"b": app, "a": app, "c": app}, "restarted: a ended with 1 under load"},
		{"memory explains the rest", map[string]experiment.Exit{"app": app, "store": at(9, experiment.Exit{Code: 137, OOMKilled: true})}, "oom: store"},
		{"the proxy is ours", map[string]experiment.Exit{"app": app, "linkproxy": at(9, experiment.Exit{Code: 2})}, "the link proxy ended with 2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for range 20 { // maps have no order
				got := ""
				if err := firstFailure(tc.exits, "under load"); err != nil {
					got = err.Error()
				}
				if got != tc.want {
					t.Fatalf("got %q, want %q", got, tc.want)
				}
			}
		})
	}
}

// ending is a context that ends in the moment in which it is asked, as what a service
// does ends the load.
type ending struct {
	context.Context
	end func()
}

func (e ending) Err() error {
	e.end()
	return context.Canceled
}

// Whatever ends the load at the moment at which its output breaks off is the reason, not
// the end of the load.
func TestWhatEndsTheLoadIsTheReason(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(*watch)
		want string
	}{
		{"a service ends", func(w *watch) { w.gone["app"] = experiment.Exit{Code: 2} }, "restarted: app ended with 2 under load"},
		{"the engine goes", func(w *watch) { w.fault["app"] = errors.New("gone") }, "services are out of sight: gone"},
		{"nothing but the wish to stop", func(*watch) {}, "context canceled"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &oneRun{watch: newWatch()}
			t.Cleanup(r.watch.stop)
			ctx := ending{t.Context(), func() { tc.end(r.watch) }}
			if err := r.verify(ctx, errors.New("the output breaks off")); err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
