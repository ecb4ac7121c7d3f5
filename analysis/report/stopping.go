package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// byHand reports whether an invocation ended because somebody asked for it.
func byHand(outcome string) bool {
	switch outcome {
	case "drained", "aborted", "until":
		return true
	default:
		return false
	}
}

// stoppedState is how lists call the state of a sweep.
func stoppedState(state string) string {
	if byHand(state) {
		return "stopped by hand: " + state
	}
	return state
}

// labels stand above every table: what must be known before its numbers are read.
func (r Report) labels() []string {
	return slices.DeleteFunc([]string{r.stopped(), r.rule(), r.changedSettings()}, func(s string) bool { return s == "" })
}

// stopped says that a sweep was stopped by hand; empty if it was not, or has all its
// rounds.
func (r Report) stopped() string {
	const lead = "stopped by hand after "
	if rounds := r.accepted(); rounds != "" {
		return lead + rounds + " rounds: n was not fixed beforehand"
	}
	if !r.halted() {
		return ""
	}
	verdicts := "no verdicts"
	if slices.ContainsFunc(r.Results.Comparisons, func(c experiment.Comparison) bool { return c.Verdict != experiment.VerdictPending }) {
		verdicts += " where rounds are missing"
	}
	return lead + r.of(r.Results.RoundsDone) + " rounds: " + verdicts + "; run it again to go on, or judge what there is by " +
		fmt.Sprintf("ceteris analyse %d --accept-rounds", r.Sweep.ID)
}

// halted reports whether a sweep was stopped by hand and waits for more rounds.
func (r Report) halted() bool { return r.interim() && byHand(r.Sweep.Ended) }

// accepted gives the rounds of results that were taken for all; empty if none were.
func (r Report) accepted() string {
	for _, c := range r.Results.Comparisons {
		if rounds, ok := strings.CutPrefix(c.State, experiment.ResultsStopped); ok {
			return rounds
		}
	}
	for _, i := range r.Results.Intervals {
		if rounds, ok := strings.CutPrefix(i.State, experiment.ResultsStopped); ok {
			return rounds
		}
	}
	return ""
}

// of tells how many rounds are done of those that are planned: 3 of 5, 7 of at most 30.
func (r Report) of(done int) string {
	return fmt.Sprintf("%d of %s", done, r.plannedText())
}

// plannedText is the number of rounds that are planned, or that there may be: a rule that
// is met has made them fewer.
func (r Report) plannedText() string {
	if r.open() {
		return fmt.Sprintf("at most %d", r.planned())
	}
	return fmt.Sprint(r.planned())
}

// open reports whether a rule is still to say how many rounds there will be.
func (r Report) open() bool {
	rule := r.Sweep.Stopping
	return rule.Until != experiment.StopFixed && !r.Results.Stop.Met && r.planned() >= rule.AtMost
}

// rule says how a sweep stands by its rule of stopping; empty for a fixed number.
func (r Report) rule() string {
	rule, stop := r.Sweep.Stopping, r.Results.Stop
	if rule.Until == experiment.StopFixed {
		return ""
	}
	lead := "rounds until " + Plain(string(rule.Until)) + ": "
	if stop.At == 0 {
		return fmt.Sprintf("%sthe first look comes after %d of at most %d", lead, min(experiment.FirstLook, rule.AtMost), rule.AtMost)
	}
	var parts []string
	at := " at " + share(stop.Confidence)
	switch {
	case rule.Until == experiment.StopPrecise && known(stop.HalfWidth) && *stop.HalfWidth == 0:
		parts = append(parts, "the rounds do not differ at all, and more would not")
	case rule.Until == experiment.StopPrecise && known(stop.HalfWidth):
		parts = append(parts, "half-width "+r.extent(*stop.HalfWidth, r.primary())+at)
		if stop.Target > 0 {
			parts = append(parts, "wanted "+r.extent(stop.Target, r.primary()))
		}
	case stop.Open > 0:
		parts = append(parts, counted(stop.Open, "comparison")+" open"+at)
	case stop.Met:
		parts = append(parts, "none open"+at)
	}
	met := "met"
	if !stop.Met {
		met = "not met"
	}
	line := lead + strings.Join(append(parts, fmt.Sprintf("%s after %d of at most %d", met, stop.At, rule.AtMost)), ", ")
	if !stop.Met && len(stop.MetIn) > 0 {
		line += ", except in stage " + strings.Join(stop.MetIn, ", ")
	}
	return line
}

// extent prints a half-width or the size of an effect: in percent, of shares in
// percentage points, and of what is compared by differences otherwise in its unit.
func (r Report) extent(v float64, metric string) string {
	m := r.metric(metric)
	switch {
	case m.Scale != experiment.ScaleDifference:
		return share(v)
	case m.Unit == experiment.UnitRatio:
		return strings.TrimSuffix(share(v), "%") + " pp"
	default:
		return Quantity(v, m.Unit)
	}
}
