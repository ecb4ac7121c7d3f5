package report

import (
	"fmt"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// Rounds that the method asks for.
const (
	minimumRounds     = 3
	recommendedRounds = 10
)

// advice says how many rounds would decide what is open. Where a rule decides on the
// rounds, it says nothing.
func (r Report) advice() []string {
	if r.interim() || len(r.Results.Comparisons) == 0 || r.Sweep.Stopping.Until != experiment.StopFixed {
		return nil
	}
	if why, _ := r.Incomparable(); why != "" {
		return nil // more of the same would not help
	}
	done := r.Results.RoundsDone
	if done < minimumRounds {
		return []string{fmt.Sprintf("%d of at least %d: fewer give no interval (%s)", done, minimumRounds, r.again(experiment.DefaultRounds))}
	}
	var (
		open    []string
		most    int
		beyond  []row // no number of rounds that there can be decides them
		decided []string
	)
	for _, g := range r.judged() {
		for _, x := range g.rows {
			c, _ := x.judged()
			switch {
			case c.Verdict != experiment.VerdictInconclusive || c.RoundsNeeded <= 0:
			case done+c.RoundsNeeded > experiment.MaxRounds:
				beyond = append(beyond, x)
			default:
				open = append(open, fmt.Sprintf("%s about %d", r.fullLabel(x.cell), c.RoundsNeeded))
				most = max(most, c.RoundsNeeded)
			}
		}
	}
	if len(open) > maxNames+1 {
		open = append(open[:maxNames:maxNames], fmt.Sprintf("%d more cells up to %d", len(open)-maxNames, most))
	}
	if len(open) > 0 {
		decided = append(decided, fmt.Sprintf("to decide what is inconclusive, by estimate: %s (%s)", strings.Join(open, ", "), r.again(done+most)))
	}
	if len(beyond) > 0 {
		decided = append(decided, fmt.Sprintf("more than %d rounds, the limit, would be needed for %s: the effect sought (%s) is too small for this noise",
			experiment.MaxRounds, names(beyond, func(x row) string { return r.fullLabel(x.cell) }), share(r.settings().MinimumEffect)))
	}
	if decided == nil && done < experiment.DefaultRounds {
		return []string{fmt.Sprintf("%d rounds show only large effects; %d are the default, %d are recommended", done, experiment.DefaultRounds, recommendedRounds)}
	}
	return decided
}

// again says how a sweep gets to so many rounds.
func (r Report) again(rounds int) string {
	if r.Sweep.Runner == experiment.RunnerImported {
		return fmt.Sprintf("import %d in all", rounds)
	}
	return fmt.Sprintf("run again with --rounds %d", rounds)
}
