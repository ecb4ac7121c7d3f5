package conduct_test

import (
	"testing"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
)

// excluding is a judge that makes the chosen runs invalid, by their executed order.
type excluding struct {
	experiment.Judge
	code string
	seqs map[int]bool
}

func (e excluding) JudgeRun(o experiment.Outcome, s experiment.Settings) []experiment.Finding {
	all := e.Judge.JudgeRun(o, s)
	if e.seqs[o.Run.Seq] {
		all = append(all, experiment.Finding{Code: e.code, Severity: experiment.SeverityInvalid})
	}
	return all
}

// What the host disturbed is tried once more; what is invalid for reasons of its own
// is not. With 4 runs a round the second attempt of the first is the fifth.
func TestInvalidIsTriedOnceMore(t *testing.T) {
	for _, tc := range []struct {
		name, code string
		seqs       map[int]bool
		want       map[string]int
	}{
		{"host noise", "host-noise", map[int]bool{1: true}, map[string]int{"ok": 12, "invalid (host-noise)": 1}},
		{"host noise again", "host-noise", map[int]bool{1: true, 5: true}, map[string]int{"ok": 11, "invalid (host-noise)": 2}},
		{"the generator was late", "generator-cpu", map[int]bool{1: true}, map[string]int{"ok": 11, "invalid (generator-cpu)": 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.change = func(c *conduct.Conductor) { c.Judge = excluding{c.Judge, tc.code, tc.seqs} }
			if r := s.mustConduct(); r.Ended != conduct.EndedDone || r.Missing != 0 {
				t.Errorf("ended %s, %d missing", r.Ended, r.Missing)
			}
			s.wantStates(tc.want)
			if r := s.mustConduct(); len(r.Counts) != 0 {
				t.Errorf("a finished sweep runs %v again", r.Counts)
			}
		})
	}
}
