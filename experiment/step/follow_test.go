package step

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// spoken is a log of which a line comes every second, until ctx ends. It counts how
// often it is read from its beginning.
type spoken struct {
	lines  []string
	breaks int // readings that break off after the first line
	ends   bool
	opened int
}

func (l *spoken) follow(ctx context.Context) (io.ReadCloser, error) {
	l.opened++
	first := l.opened
	r, w := io.Pipe()
	go func() {
		for i, line := range l.lines {
			if i > 0 && first == 1 { // who comes later finds what was written
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
				}
			}
			if _, err := io.WriteString(w, line+"\n"); err != nil {
				return
			}
			if first <= l.breaks {
				w.CloseWithError(errors.New("broken off"))
				return
			}
		}
		if !l.ends {
			<-ctx.Done()
		}
		w.Close()
	}()
	return r, nil
}

func TestAwaitFollowsTheLog(t *testing.T) {
	ready := experiment.Step{Log: "^ready$", Within: time.Minute}
	for _, tc := range []struct {
		name   string
		log    spoken
		step   experiment.Step
		want   string // of the error
		took   time.Duration
		opened int
	}{
		{"a line that comes late is seen, and each is read once", spoken{lines: []string{"starting", "loading", "ready"}}, ready, "", 2 * time.Second, 1},
		{"as often as it must", spoken{lines: []string{"ready", "not yet", "ready"}}, experiment.Step{Log: "^ready$", Times: 2, Within: time.Minute}, "", 2 * time.Second, 1},
		{
			"too few",
			spoken{lines: []string{"ready", "not yet"}},
			experiment.Step{Log: "^ready$", Times: 2, Within: time.Minute},
			`service app: not ready within 1m0s: the log matched "^ready$" 1 times of 2`, time.Minute, 1,
		},
		{"a reading that broke off begins again", spoken{lines: []string{"starting", "ready"}, breaks: 1}, ready, "", 0, 2},
		{"a long line", spoken{lines: []string{strings.Repeat("x", 5*longLine), "ready"}}, ready, "", time.Second, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				began := time.Now()
				err := Await(ctx, tc.step, Target{Name: "app", Follow: tc.log.follow}, 5*time.Millisecond)
				got := ""
				if err != nil {
					got = err.Error()
				}
				if got != tc.want || tc.log.opened != tc.opened {
					t.Errorf("got %q, read %d times; want %q, %d", got, tc.log.opened, tc.want, tc.opened)
				}
				if took := time.Since(began); took < tc.took || took > tc.took+20*time.Millisecond {
					t.Errorf("took %v, want %v", took, tc.took)
				}
			})
		})
	}
}

func TestAwaitFollowsToTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := spoken{lines: []string{"starting", "cannot"}, ends: true}
		began := time.Now()
		target := Target{Name: "app", Follow: log.follow, Gone: func() (experiment.Exit, bool) {
			return experiment.Exit{Code: 3}, time.Since(began) > 1500*time.Millisecond
		}}
		err := Await(t.Context(), experiment.Step{Log: "^ready$", Within: time.Minute}, target, 5*time.Millisecond)
		if !errors.Is(err, experiment.ErrExited) {
			t.Errorf("got %v", err)
		}
	})
}
