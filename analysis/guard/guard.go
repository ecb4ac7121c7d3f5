package guard

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/ceteris/ceteris/experiment"
)

// Guard is one reason to distrust.
type Guard struct {
	Code     string
	Severity experiment.Severity // the gravest that it gives
	// Threshold is the default limit, in Unit: the guard speaks when the value
	// lies above it. Unit is empty for a guard without a threshold. It is moved
	// by Settings.Guards[Code].Above.
	Threshold float64
	Unit      experiment.Unit
	Help      string // one paragraph: what it means and what to do

	run   func(o experiment.Outcome, limit float64) []experiment.Finding
	sweep func(s experiment.Sweep, r experiment.Results, limit float64) []experiment.Finding
}

// All gives every guard, in the order in which findings are reported.
func All() []Guard {
	return []Guard{
		resultIncomplete(),
		settingIneffective(),
		oom(),
		restarted(),
		generatorCPU(),
		generatorLate(),
		sharedCores(),
		rateMissed(),
		dropped(),
		inFlightLimit(),
		errorRate(),
		windowShort(),
		cpuCap(),
		hostNoise(),
		hostSuspended(),
		conductorPaused(),
		engineBusy(),
		engineElsewhere(),
		scrapeGap(),
		limitNotApplied(),
		emulatedImage(),
		notEqual(),
		workDiffers(),
		flatLoad(),
		ceiling(),
		spread(),
		orderDrift(),
		aaFailed(),
		controlDiffers(),
		noisyCell(),
		roundWithoutBaseline(),
		notWarm(),
		drift(),
		workMissing(),
		externalTool(),
		nonMonotone(),
		clientLimited(),
		imported(),
	}
}

// Judge applies all guards. It is an experiment.Judge.
type Judge struct{ guards []Guard }

// New gives a judge with all guards.
func New() *Judge { return &Judge{guards: All()} }

var _ experiment.Judge = (*Judge)(nil)

// JudgeRun gives the findings on one run, in the order of All.
func (j *Judge) JudgeRun(o experiment.Outcome, s experiment.Settings) []experiment.Finding {
	var all []experiment.Finding
	for _, g := range j.guards {
		if g.run == nil || s.Guards[g.Code].Off {
			continue
		}
		limit := g.limit(s)
		for _, f := range g.run(o, limit) {
			f.Code, f.Run, f.Cell = g.Code, o.Run.ID, o.Run.Cell
			if g.Unit != "" && f.Value != nil {
				f.Threshold = &limit
			}
			if f.Severity == experiment.SeverityInvalid && failed(o.Run.State) {
				f.Severity = experiment.SeverityWarn
			}
			all = append(all, f)
		}
	}
	return all
}

// JudgeSweep gives the findings on the sweep as a whole, in the order of All.
func (j *Judge) JudgeSweep(s experiment.Sweep, r experiment.Results, set experiment.Settings) []experiment.Finding {
	var all []experiment.Finding
	for _, g := range j.guards {
		if g.sweep == nil || set.Guards[g.Code].Off {
			continue
		}
		limit := g.limit(set)
		for _, f := range g.sweep(s, r, limit) {
			f.Code = g.Code
			if g.Unit != "" && f.Value != nil {
				f.Threshold = &limit
			}
			all = append(all, f)
		}
	}
	return all
}

// limit is the threshold in force. The error rate has a setting of its own.
func (g Guard) limit(s experiment.Settings) float64 {
	switch above := s.Guards[g.Code].Above; {
	case above != nil:
		return *above
	case g.Code == codeErrors:
		return s.ErrorRate
	default:
		return g.Threshold
	}
}

func failed(s experiment.RunState) bool {
	return s == experiment.StateFailedSubject || s == experiment.StateFailedInfra
}

// observed gives a value of the measured window. What is no finite number is no
// evidence; result-incomplete speaks of it.
func observed(o experiment.Outcome, metric string) (float64, bool) {
	v, ok := o.Observed(metric)
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}

// finding makes a finding; JudgeRun and JudgeSweep add what all have in common.
func finding(sev experiment.Severity, format string, a ...any) experiment.Finding {
	return experiment.Finding{Severity: sev, Message: fmt.Sprintf(format, a...)}
}

// measured makes a finding with the value of the metric that caused it.
func measured(sev experiment.Severity, metric string, value float64, format string, a ...any) experiment.Finding {
	f := finding(sev, format, a...)
	f.Metric, f.Value = metric, &value
	return f
}

// share prints a fraction in percent, with 3 significant digits.
func share(x float64) string { return number(x*100) + "%" }

// number prints with 3 significant digits and without an exponent.
func number(x float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if err != nil {
		rounded = x
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// plural gives "1 core", "2 cores".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
