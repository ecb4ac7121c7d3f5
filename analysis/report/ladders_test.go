package report_test

import (
	"strings"
	"testing"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

// A ladder is shown as it was judged, whatever its runs would now come to.
func TestLaddersAsJudged(t *testing.T) {
	judged := func(r report.Report, label string, change func(l *experiment.LadderResult, rung func(i int) experiment.CellKey)) report.Report {
		for _, l := range r.Sweep.Ladders {
			if l.Cell.Label() != label {
				continue
			}
			is := experiment.LadderResult{Cell: l.Cell.Key, Tail: "latency_p99", State: "final"}
			for _, k := range l.Rungs {
				is.Rungs = append(is.Rungs, experiment.RungResult{Cell: k, N: 3})
			}
			change(&is, func(i int) experiment.CellKey { return l.Rungs[i] })
			r.Results.Ladders = []experiment.LadderResult{is}
		}
		return r
	}
	for name, tt := range map[string]struct {
		label  string
		change func(l *experiment.LadderResult, rung func(i int) experiment.CellKey)
		want   []string // in the part of the ladder
	}{
		"found lower": {"baseline", func(l *experiment.LadderResult, rung func(int) experiment.CellKey) {
			l.Status, l.Sustained, l.Broken, l.TailFirst = "found", rung(1), rung(2), rung(4)
			l.Rungs[2].Broken, l.Rungs[3].N = "objective", 0
		}, []string{
			"no: objective\n", "\n 3200  0            -             -          -      -       -       -  -\n",
			"sustained up to 800 /s, broken from 1.6 k/s; latency_p99 moves first at 6.4 k/s\n",
		}},
		"non-monotone": {"baseline", func(l *experiment.LadderResult, rung func(int) experiment.CellKey) {
			l.Status, l.Sustained, l.Broken, l.MedianFirst = "non-monotone", rung(1), rung(2), rung(5)
		}, []string{
			"non-monotone: a rung above 1.6 k/s is sustained although that one is not; run the ladder again; the median at 9.6 k/s\n",
		}},
		"nothing known": {"baseline", func(*experiment.LadderResult, func(int) experiment.CellKey) {}, []string{"\nno rung has run yet\n"}},
		"a rung that there is not": {"baseline", func(l *experiment.LadderResult, _ func(int) experiment.CellKey) {
			l.Status, l.Sustained, l.Broken = "found", "of no cell", ""
		}, []string{"sustained up to -, broken from -\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := laddered("ceiling")
			r.Results.Ladders = nil
			for i := range r.Results.Intervals {
				r.Results.Intervals[i].Estimate = nil // the plateau stands before the sentence
			}
			text := textOf(t, judged(r, tt.label, tt.change))
			_, part, _ := strings.Cut(text, "ladder of "+tt.label+":\n")
			part, _, _ = strings.Cut(part, "\n\n")
			for _, want := range tt.want {
				if !strings.Contains(part+"\n", want) {
					t.Errorf("no %q in\n%s", want, part)
				}
			}
		})
	}
}

// What is left out takes no ladder with it but its own.
func TestLaddersBesideCellsThatAreLeftOut(t *testing.T) {
	r := laddered("ceiling")
	r.Results.Settings = r.Sweep.Settings
	r.Results.Settings.Without = []string{"pool=64"}
	for format, has := range map[report.Format]string{report.Text: "ladder of baseline:", report.JSON: `"label": "baseline",
      "status"`} {
		out := string(render(t, comparison(r, format)))
		if !strings.Contains(out, has) || strings.Contains(out, strings.Replace(has, "baseline", "pool=64", 1)) {
			t.Errorf("%s: want the ladder of the baseline and none of pool=64:\n%s", format, out)
		}
	}
}

func TestAboveTheLadderAsJudged(t *testing.T) {
	r := laddered("ceiling")
	for _, l := range r.Sweep.Ladders {
		if l.Cell.Label() == "pool=64" {
			r.Results.Ladders = []experiment.LadderResult{{Cell: l.Cell.Key, Status: "not-reached", Above: new(12700.0)}}
		}
	}
	if text := textOf(t, r); !strings.Contains(text, "\npool=64   0  above 12.7 ") {
		t.Errorf("the rate above is not the one that is stored:\n%s", text)
	}
}
