package conduct

import (
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
