package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/experiment"
)

// Calibration writes what identical cells showed. The metric says how effects are
// printed.
func Calibration(w io.Writer, c experiment.Calibration, m experiment.Metric, f Format, o Options) error {
	r := calibrationReport{c, m}
	switch f {
	case Text:
		var b strings.Builder
		for _, line := range r.lines() {
			b.WriteString(wrap(Plain(line), o.width(), "  ") + "\n")
		}
		if len(r.Shows) > 0 {
			b.WriteString("\n" + r.table().text())
		}
		return write(w, b.String())
	case Markdown:
		lines := r.lines()
		for i := range lines {
			lines[i] = markdown(lines[i])
		}
		text := "## " + strings.Join(lines, "\n\n") + "\n"
		if len(r.Shows) > 0 {
			text += "\n" + r.table().markdown()
		}
		return write(w, text)
	case CSV:
		return r.csv(w)
	case JSON:
		return writeJSON(w, r.json())
	default:
		return unknownFormat(f)
	}
}

type calibrationReport struct {
	experiment.Calibration
	metric experiment.Metric
}

func (r calibrationReport) lines() []string {
	alarms := fmt.Sprintf("alarms: %d of %s of two identical cells over %d rounds differ at p < 5%% unadjusted; %d or more would be too many",
		r.Alarms, counted(r.Comparisons, "comparison"), r.Block, r.Limit)
	said := "The method is not seen to cry wolf more often here than it says."
	if r.Alarms >= r.Limit {
		said = "The method cries wolf more often here than it says: verdicts on this host are not to be trusted."
	}
	needed := analysis.ComparisonsToDetect()
	little := fmt.Sprintf("power: were the true rate 10%%, twice what it should be, %s would tell in %s of cases",
		counted(r.Comparisons, "comparison"), share(analysis.DetectChance(r.Comparisons)))
	if r.Comparisons < needed {
		little += fmt.Sprintf("; %d are needed for 80%%, that is --rounds %d with %d copies", needed, r.roundsFor(needed), r.Copies)
	}
	return []string{
		fmt.Sprintf("%s: %s, %d identical cells x %s, sweep %d", r.Name, r.Metric, r.Copies, counted(r.Rounds, "round"), r.Sweep),
		said,
		alarms,
		fmt.Sprintf("families: in %d of %s of %d rounds some copy was called different from the first", r.FamilyAlarms, counted(r.Families, "block"), r.Block),
		little,
		"noise: the effect of a round varies by " + r.effect(r.SD) + " (standard deviation)",
	}
}

// roundsFor gives the rounds that make so many comparisons.
func (r calibrationReport) roundsFor(comparisons int) int {
	pairs := max(r.Copies/2, 1)
	return (comparisons + pairs - 1) / pairs * r.Block
}

// effect prints a fraction, or a difference in the unit of the metric.
func (r calibrationReport) effect(v float64) string {
	if r.metric.Scale == experiment.ScaleDifference {
		return strings.TrimPrefix(difference(&v, nil, nil, r.metric.Unit), "+")
	}
	return share(v)
}

func (r calibrationReport) table() *grid {
	t := &grid{columns: []column{{title: "rounds", right: true}, {title: "smallest effect shown, in 80% of cases", right: true}}}
	for _, s := range r.Shows {
		t.rows = append(t.rows, []string{strconv.Itoa(s.Rounds), r.effect(s.Effect)})
	}
	return t
}

func (r calibrationReport) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{
		"sweep", "host", "name", "metric", "copies", "rounds", "block", "comparisons", "alarms", "limit", "families", "family_alarms", "sd", "scale",
		"planned_rounds", "effect",
	}); err != nil {
		return err
	}
	for _, s := range r.Shows {
		if err := out.Write([]string{
			strconv.FormatInt(r.Sweep, 10), r.Host, r.Name, r.Metric, strconv.Itoa(r.Copies), strconv.Itoa(r.Rounds), strconv.Itoa(r.Block),
			strconv.Itoa(r.Comparisons), strconv.Itoa(r.Alarms), strconv.Itoa(r.Limit), strconv.Itoa(r.Families), strconv.Itoa(r.FamilyAlarms),
			raw(&r.SD), string(r.metric.Scale), strconv.Itoa(s.Rounds), raw(&s.Effect),
		}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

type calibrationJSON struct {
	experiment.Calibration
	DetectRate   float64  `json:"detect_rate"`   // the true rate of alarms that
	DetectChance *float64 `json:"detect_chance"` // so many comparisons would notice, with this chance,
	Needed       int      `json:"needed"`        // and so many with a chance of 80%
}

func (r calibrationReport) json() calibrationJSON {
	return calibrationJSON{
		Calibration: r.Calibration, DetectRate: analysis.DetectRate,
		DetectChance: number64(analysis.DetectChance(r.Comparisons)), Needed: analysis.ComparisonsToDetect(),
	}
}
