package analysis

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// A cell that is left out is as if it had never been: a noisy one widens nothing.
func TestWithoutACell(t *testing.T) {
	whole := sampleSweep(4, 5, []string{"throughput"}, 1)
	left := whole.Cells[len(whole.Cells)-1]
	never := whole
	never.Cells = whole.Cells[:len(whole.Cells)-1]
	never.Runs = nil
	for _, r := range whole.Runs {
		if r.Cell != left.Key {
			never.Runs = append(never.Runs, r)
		}
	}
	set := defaults()
	want, err := New().Analyse(never, set)
	if err != nil {
		t.Fatal(err)
	}
	set.Without = []string{left.Label()}
	got, err := New().Analyse(whole, set)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got.Intervals, want.Intervals); diff != "" {
		t.Errorf("intervals: %s", diff)
	}
	if diff := cmp.Diff(got.Comparisons, want.Comparisons); diff != "" {
		t.Errorf("comparisons: %s", diff)
	}
	if got.SettingsHash == want.SettingsHash {
		t.Error("the results do not tell that a cell was left out")
	}
}

func TestWhatCannotBeLeftOut(t *testing.T) {
	s := sampleSweep(4, 5, []string{"throughput"}, 1)
	label := s.Cells[len(s.Cells)-1].Label()
	for name, c := range map[string]struct{ label, want string }{
		"the baseline":  {"baseline", "the baseline cannot be left out"},
		"a misspelling": {strings.ToUpper(label), "did you mean " + label},
		"no such cell":  {"zzzzzzzz", "there are "},
	} {
		t.Run(name, func(t *testing.T) {
			set := defaults()
			set.Without = []string{c.label}
			if _, err := New().Analyse(s, set); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// Rounds that are accepted as they are have verdicts, and say what they are.
func TestAcceptedRounds(t *testing.T) {
	s := sampleSweep(4, 5, []string{"throughput"}, 1)
	s.Rounds = 8
	set := defaults()
	open, err := New().Analyse(s, set)
	if err != nil {
		t.Fatal(err)
	}
	set.AcceptRounds = true
	accepted, err := New().Analyse(s, set)
	if err != nil {
		t.Fatal(err)
	}
	s.Rounds = 5
	done, err := New().Analyse(s, set)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range accepted.Comparisons {
		if o := open.Comparisons[i]; o.Verdict != experiment.VerdictPending || o.State != "interim: 5 of 8" {
			t.Errorf("open: %s, %s", o.Verdict, o.State)
		}
		if c.State != "stopped: 5 of 8" || done.Comparisons[i].State != "final" {
			t.Errorf("states %q and %q", c.State, done.Comparisons[i].State)
		}
		c.State = done.Comparisons[i].State
		if diff := cmp.Diff(c, done.Comparisons[i]); diff != "" {
			t.Error(diff)
		}
	}
}
