package conduct_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
)

// slow is an analyst that takes its time, and notes over how many counting runs it
// has thought.
type slow struct {
	experiment.Analyst
	takes time.Duration
	seen  []int
}

func (a *slow) Analyse(s experiment.Sweep, set experiment.Settings) (experiment.Results, error) {
	time.Sleep(a.takes)
	ok := 0
	for _, r := range s.Runs {
		if r.State == experiment.StateOK {
			ok++
		}
	}
	a.seen = append(a.seen, ok)
	return a.Analyst.Analyse(s, set)
}

// Rounds of 20 s are analysed each as long as that takes a second at the most; else
// as often as a twentieth of the time allows, and always at the end.
func TestInterimAnalyses(t *testing.T) {
	for _, tc := range []struct {
		takes time.Duration
		want  []int // runs at each analysis: at the beginning, after rounds, at the end
	}{
		{0, []int{0, 4, 8, 12, 16, 20, 24}},
		{time.Second, []int{0, 4, 8, 12, 16, 20, 24}},
		{time.Second + 1, []int{0, 8, 16, 24}},
		{50 * time.Second, []int{0, 24}},
	} {
		t.Run(tc.takes.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				s.script.Instant = false
				s.matrix.Repeat.Rounds = 6
				var analyst *slow
				s.change = func(c *conduct.Conductor) {
					analyst = &slow{Analyst: c.Analyst, takes: tc.takes}
					c.Analyst = analyst
				}
				s.mustConduct()
				if diff := cmp.Diff(analyst.seen, tc.want); diff != "" {
					t.Errorf("runs at each analysis (-got +want):\n%s", diff)
				}
			})
		})
	}
}
