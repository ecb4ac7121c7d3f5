package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
)

// tally counts runs by their state and reason. The zero value is empty.
type tally struct {
	reasons map[experiment.RunState]map[string]int
}

// on counts the end of a run.
func (t *tally) on(e conduct.Event) {
	if e.Kind == conduct.EventRunEnded {
		t.add(e.Run.State, shortReason(e.Run.Reason), 1)
	}
}

func (t *tally) add(state experiment.RunState, reason string, n int) {
	if t.reasons == nil {
		t.reasons = map[experiment.RunState]map[string]int{}
	}
	if t.reasons[state] == nil {
		t.reasons[state] = map[string]int{}
	}
	t.reasons[state][reason] += n
}

func (t *tally) merge(o tally) {
	for state, reasons := range o.reasons {
		for reason, n := range reasons {
			t.add(state, reason, n)
		}
	}
}

// tallied are the states that a run ends with, as people read them.
func tallied() []struct {
	state experiment.RunState
	name  string
} {
	return []struct {
		state experiment.RunState
		name  string
	}{
		{experiment.StateOK, "ok"},
		{experiment.StateInvalid, "invalid"},
		{experiment.StateFailedSubject, "failed"},
		{experiment.StateFailedInfra, "failed by the infrastructure"},
		{experiment.StateInterrupted, "interrupted"},
		{experiment.StateSkipped, "skipped"},
	}
}

// maxReasons is how many reasons of a state are given, the most frequent first.
const maxReasons = 2

// String gives the counts with the most frequent reasons.
func (t *tally) String() string {
	var parts []string
	for _, s := range tallied() {
		reasons, total := t.reasons[s.state], 0
		for _, n := range reasons {
			total += n
		}
		if total == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", total, s.name)
		if why := frequent(reasons); why != "" && s.state != experiment.StateOK {
			part += " (" + why + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// frequent names the most frequent reasons; their counts where there are several.
func frequent(reasons map[string]int) string {
	names := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		if reasons[a] != reasons[b] {
			return reasons[b] - reasons[a]
		}
		return strings.Compare(a, b)
	})
	if len(names) == 1 {
		return names[0]
	}
	var out []string
	for _, name := range names[:min(len(names), maxReasons)] {
		out = append(out, fmt.Sprintf("%s %d", name, reasons[name]))
	}
	if rest := len(names) - maxReasons; rest > 0 {
		out = append(out, fmt.Sprintf("%d other", rest))
	}
	return strings.Join(out, ", ")
}

// maxReason bounds a reason, in characters.
const maxReason = 60

// shortReason cuts what a subject said off a reason: the runs that it is about are
// then counted together.
func shortReason(reason string) string {
	reason, _, _ = strings.Cut(reason, "; its last output:")
	return cut(report.Plain(reason), maxReason)
}

// cut shortens a text to n characters.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
