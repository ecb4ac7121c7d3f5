package report

import (
	"fmt"

	"github.com/ceteris/ceteris/experiment"
)

// calibration says what identical cells, and the controls of other sweeps, showed on the
// host.
func (r Report) calibration() []string {
	var lines []string
	if c := r.Sweep.Calibration; c != nil {
		line := fmt.Sprintf("identical cells here on %s (%s): %d of %s alarmed at 5%% (limit %d)",
			c.When.UTC().Format("2006-01-02"), c.Name, c.Alarms, counted(c.Comparisons, "comparison"), c.Limit)
		if c.Metric != r.primary() {
			line += " for " + c.Metric
		}
		if s, ok := shownBy(c.Shows, r.Results.RoundsDone, r.planned()); ok && c.Scale == r.metric(c.Metric).Scale {
			line += fmt.Sprintf("; one comparison alone shows effects from %s in %s", r.extent(s.Effect, c.Metric), counted(s.Rounds, "round"))
		}
		if c.Alarms >= c.Limit {
			line += "; that is too often: verdicts here are not to be trusted"
		}
		lines = append(lines, line)
	}
	if a := r.Sweep.AA; a.Comparisons > 0 {
		lines = append(lines, fmt.Sprintf("controls of other sweeps here: %d of %d differed from their baseline at 5%%", a.Alarms, a.Comparisons))
	}
	return lines
}

// shownBy gives what the rounds of a sweep can show: those that are done once there are
// enough, else those that are planned; of the rounds that were looked at, the most that
// are not more.
func shownBy(all []experiment.Shows, done, planned int) (experiment.Shows, bool) {
	rounds := planned
	if done >= minimumRounds {
		rounds = done
	}
	var best experiment.Shows
	for _, s := range all {
		if s.Rounds <= rounds && s.Rounds > best.Rounds && finite(s.Effect) {
			best = s
		}
	}
	return best, best.Rounds > 0
}
