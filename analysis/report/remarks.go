package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ceteris/ceteris/experiment"
)

// remark is what stands below the table under one heading.
type remark struct {
	title string
	lines []string
	list  bool // a list even when it has one line
}

func remarksText(all []remark, width int) string {
	var b strings.Builder
	for _, m := range all {
		if len(m.lines) == 1 && !m.list {
			b.WriteString(wrap(m.title+": "+Plain(m.lines[0]), width, "  ") + "\n")
			continue
		}
		b.WriteString(m.title + ":\n")
		for _, l := range m.lines {
			b.WriteString("  " + wrap(Plain(l), width-len("  "), "    ") + "\n")
		}
	}
	return b.String()
}

func remarksMarkdown(all []remark) string {
	var b strings.Builder
	for _, m := range all {
		if len(m.lines) == 1 && !m.list {
			b.WriteString("- **" + markdown(m.title) + "**: " + markdown(m.lines[0]) + "\n")
			continue
		}
		b.WriteString("- **" + markdown(m.title) + "**:\n")
		for _, l := range m.lines {
			b.WriteString("  - " + markdown(l) + "\n")
		}
	}
	return b.String()
}

func (r Report) remarks() []remark {
	return filled(
		remark{title: "method", lines: []string{r.method()}},
		remark{title: "changes", lines: r.changeMethod()},
		remark{title: "verdicts", lines: r.degrees()},
		remark{title: "flags", lines: r.legend()},
		remark{title: "objectives", lines: r.objectives(), list: true},
		remark{title: "calibration", lines: r.calibration(), list: true},
		remark{title: "generator CPU", lines: r.generatorCPU()},
		remark{title: "not tested", lines: r.notTested(), list: true},
		remark{title: "distrust", lines: r.grouped(experiment.SeverityInvalid, experiment.SeverityWarn), list: true},
		remark{title: "notes", lines: r.grouped(experiment.SeverityNote), list: true},
		remark{title: "excluded runs", lines: r.excluded(), list: true},
		remark{title: "more rounds", lines: r.advice()},
	)
}

// filled leaves out remarks that say nothing.
func filled(all ...remark) []remark {
	return slices.DeleteFunc(all, func(m remark) bool { return len(m.lines) == 0 })
}

// method says how the intervals were made.
func (r Report) method() string {
	var methods, control []string
	confidence := r.settings().Confidence
	for _, c := range r.Results.Comparisons {
		if c.Metric != r.primary() || c.Method == "" {
			continue
		}
		confidence = c.Confidence
		list := &methods
		if cell, ok := r.Sweep.Cell(c.Cell); ok && cell.Role == experiment.RoleControl {
			list = &control
		}
		if m := methodName(c.Method); !slices.Contains(*list, m) {
			*list = append(*list, m)
		}
	}
	parts := []string{"no intervals yet"}
	if len(methods) > 0 {
		slices.Sort(methods)
		parts = []string{strings.Join(methods, " and "), share(confidence) + " simultaneous intervals"}
	}
	parts = append(parts, r.rounds(), "minimum effect "+share(r.settings().MinimumEffect))
	if len(control) > 0 {
		parts = append(parts, "the control's interval is its own and not adjusted")
	}
	return strings.Join(parts, ", ")
}

// rounds says how many are done, of each stage where they differ.
func (r Report) rounds() string {
	var names, counts []string
	for _, g := range r.groups() {
		if !slices.Contains(names, g.stage) {
			names, counts = append(names, g.stage), append(counts, r.progress(g))
		}
	}
	if len(slices.Compact(slices.Clone(counts))) < 2 {
		return r.of(r.Results.RoundsDone) + " rounds"
	}
	for i := range names {
		names[i] += " " + counts[i]
	}
	return "rounds by stage: " + strings.Join(names, "; ")
}

// degrees explains how much of an effect is shown, where it is said.
func (r Report) degrees() []string {
	var parts []string
	least := share(r.settings().MinimumEffect)
	for _, d := range []struct {
		material experiment.Material
		help     string
	}{
		{experiment.MaterialProven, "the whole interval lies beyond the minimum effect of " + least},
		{experiment.MaterialLikely, "the estimate does, the interval not as a whole"},
		{experiment.MaterialUnproven, "there is an effect, but it may be below the minimum of " + least},
	} {
		if slices.ContainsFunc(r.Results.Comparisons, func(c experiment.Comparison) bool {
			return c.Metric == r.primary() && c.Material == d.material
		}) || slices.ContainsFunc(r.Results.Changes, func(c experiment.Change) bool {
			return c.Metric == r.primary() && c.Material == d.material
		}) {
			parts = append(parts, string(d.material)+" = "+d.help)
		}
	}
	if parts == nil {
		return nil
	}
	return []string{strings.Join(parts, "; ")}
}

func methodName(m experiment.Method) string {
	switch m {
	case experiment.MethodPooledOwn:
		return "pooled+own (Dunnett)"
	case experiment.MethodOwn:
		return "own (paired t, Bonferroni)"
	case experiment.MethodWelch:
		return "welch (unpaired, Bonferroni)"
	default:
		return string(m)
	}
}

// generatorUse is what the generator used over the runs that stand.
type generatorUse struct {
	low, high float64 // cores
	cores     int     // 0 if not pinned
	limit     float64 // share of the cores
}

func (r Report) generatorUse() (generatorUse, bool) {
	use := generatorUse{cores: len(r.Sweep.Placement.Load), limit: experiment.DefaultGeneratorCPU}
	if above := r.settings().Guards["generator-cpu"].Above; above != nil {
		use.limit = *above
	}
	seen := false
	for _, run := range r.Sweep.Runs {
		v, ok := run.Observed(experiment.GeneratorName + ".cpu")
		if !ok || !finite(v) || !run.State.Settled() {
			continue
		}
		if !seen {
			use.low, use.high = v, v
		}
		use.low, use.high, seen = min(use.low, v), max(use.high, v), true
	}
	return use, seen
}

// loaded reports whether anything was sent: starts and jobs are studied without.
func (r Report) loaded() bool {
	return slices.ContainsFunc(r.Results.Intervals, func(i experiment.Interval) bool {
		return i.N > 0 && experiment.SplitMetricName(i.Metric).Base == experiment.DefaultMetric
	})
}

func (r Report) generatorCPU() []string {
	use, ok := r.generatorUse()
	switch {
	case !ok && (r.Results.RoundsDone == 0 || !r.loaded()):
		return nil
	case !ok:
		return []string{"not measured, so the generator cannot be ruled out as the limit"}
	case use.cores == 0:
		return []string{fmt.Sprintf("%s to %s cores over the runs (not pinned)", number(use.low), number(use.high))}
	default:
		noun := "cores"
		if use.cores == 1 {
			noun = "core"
		}
		return []string{fmt.Sprintf("%s to %s of %d %s over the runs (limit %s)", number(use.low), number(use.high), use.cores, noun, share(use.limit))}
	}
}

func number(v float64) string { return trimZeros(fixed(v, decimals(v))) }

// inWords explains the reasons that are codes; the others are words already.
func inWords(reason string) string {
	words := map[string]string{
		"ErrNoData":                         "no run has a value",
		"ErrNotFinite":                      "a run's value is no finite number",
		"ErrNonPositive":                    "a run's value is zero or negative, which gives no ratio",
		"n < 3":                             "fewer than 3 rounds to compare",
		"errors":                            "too many requests failed",
		string(experiment.FlagAllTied):      "all values are one number",
		string(experiment.FlagZeroVariance): "the rounds do not differ at all",
	}[reason]
	if words == "" {
		return reason
	}
	return words + " (" + reason + ")"
}

// notTested gives the reasons, each with its cells.
func (r Report) notTested() []string {
	return r.reasons(experiment.VerdictNotTested, experiment.VerdictFails, experiment.VerdictInvalid)
}

func (r Report) reasons(verdicts ...experiment.Verdict) []string {
	var order []string
	cells := map[string][]row{}
	for _, g := range r.judged() {
		for _, x := range g.rows {
			c, ok := x.judged()
			if !ok || c.Reason == "" || !slices.Contains(verdicts, c.Verdict) {
				continue
			}
			key := string(c.Verdict) + ", " + inWords(c.Reason)
			if cells[key] == nil {
				order = append(order, key)
			}
			cells[key] = append(cells[key], x)
		}
	}
	lines := make([]string, len(order))
	for i, key := range order {
		lines[i] = names(cells[key], func(x row) string { return r.fullLabel(x.cell) }) + ": " + key
	}
	return lines
}

// allFindings gives each finding once, without those of runs that were replaced.
func (r Report) allFindings() []experiment.Finding {
	replaced := map[int64]bool{}
	for _, run := range r.Sweep.Runs {
		replaced[run.ID] = run.State == experiment.StateSuperseded || run.State == experiment.StateInterrupted
	}
	type identity struct {
		code, service, metric, message string
		run                            int64
		cell                           experiment.CellKey
	}
	seen := map[identity]bool{}
	var all []experiment.Finding
	for _, f := range slices.Concat(r.Findings, r.Results.Findings) {
		id := identity{f.Code, f.Service, f.Metric, f.Message, f.Run, f.Cell}
		if seen[id] || f.Run != 0 && replaced[f.Run] {
			continue
		}
		seen[id] = true
		all = append(all, f)
	}
	return all
}

// grouped gives one line for each code and severity: how often, and the first.
func (r Report) grouped(severities ...experiment.Severity) []string {
	type key struct {
		severity    experiment.Severity
		code, about string
	}
	count := map[key]int{}
	first := map[key]experiment.Finding{}
	var order []key
	for _, f := range r.allFindings() {
		k := key{f.Severity, f.Code, ""}
		if f.Code == "external-tool" { // a code of many traps, each with numbers of its run
			k.about = strings.Map(withoutDigits, f.Message)
		}
		if !slices.Contains(severities, f.Severity) {
			continue
		}
		if count[k] == 0 {
			order, first[k] = append(order, k), f
		}
		count[k]++
	}
	slices.SortStableFunc(order, func(a, b key) int {
		return slices.Index(severities, a.severity) - slices.Index(severities, b.severity)
	})
	lines := make([]string, len(order))
	for i, k := range order {
		lines[i] = fmt.Sprintf("%s (%s)", k.code, k.severity)
		if count[k] > 1 {
			lines[i] += fmt.Sprintf(", %d times", count[k])
		}
		lines[i] += ": " + first[k].Message
		if where := r.where(first[k]); where != "" {
			lines[i] += " (" + where + ")"
		}
	}
	return lines
}

func withoutDigits(r rune) rune {
	if unicode.IsDigit(r) || r == '.' {
		return -1
	}
	return r
}

// where names the cell and round of a finding.
func (r Report) where(f experiment.Finding) string {
	var parts []string
	if c, ok := r.Sweep.Cell(f.Cell); ok {
		parts = append(parts, r.fullLabel(c))
	}
	i := slices.IndexFunc(r.Sweep.Runs, func(x experiment.RunRecord) bool { return x.ID == f.Run })
	if f.Run != 0 && i >= 0 {
		parts = append(parts, fmt.Sprintf("round %d", r.Sweep.Runs[i].Round))
	}
	return strings.Join(parts, ", ")
}

const maxExcluded = 10

// excluded gives the runs that do not count: those that stand, by cell, state
// and reason, and how many were replaced by another.
func (r Report) excluded() []string {
	type key struct {
		cell   experiment.CellKey
		state  experiment.RunState
		reason string
	}
	rounds := map[key][]string{}
	var order []key
	replaced := map[experiment.RunState]int{}
	for _, run := range r.Sweep.Runs {
		switch run.State {
		case experiment.StateInvalid, experiment.StateFailedSubject, experiment.StateSkipped:
			k := key{run.Cell, run.State, run.Reason}
			if rounds[k] == nil {
				order = append(order, k)
			}
			rounds[k] = append(rounds[k], fmt.Sprint(run.Round))
		case experiment.StateFailedInfra, experiment.StateInterrupted, experiment.StateSuperseded:
			replaced[run.State]++
		case experiment.StateOK, experiment.StatePending, experiment.StateRunning:
		}
	}
	var lines []string
	for i, k := range order {
		if i == maxExcluded && len(order) > maxExcluded+1 {
			lines = append(lines, fmt.Sprintf("and %d more cells and reasons", len(order)-maxExcluded))
			break
		}
		name := string(k.cell)
		if c, ok := r.Sweep.Cell(k.cell); ok {
			name = r.fullLabel(c)
		}
		line := fmt.Sprintf("%s, round %s: %s", name, strings.Join(rounds[k], ", "), k.state)
		if k.reason != "" {
			line += " (" + k.reason + ")"
		}
		lines = append(lines, line)
	}
	for _, s := range []experiment.RunState{experiment.StateFailedInfra, experiment.StateInterrupted, experiment.StateSuperseded} {
		if replaced[s] > 0 {
			lines = append(lines, fmt.Sprintf("%s and not counted: %d", s, replaced[s]))
		}
	}
	return lines
}
