package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

// accepted is the sample after three of five rounds, which were taken for all.
func accepted() report.Report {
	r := sample()
	r.Sweep.Rounds, r.Results.Planned, r.Sweep.Ended = 5, 5, "aborted"
	for i := range r.Results.Comparisons {
		r.Results.Comparisons[i].State = "stopped: 3 of 5"
	}
	for i := range r.Results.Intervals {
		r.Results.Intervals[i].State = "stopped: 3 of 5"
	}
	return r
}

func ended(how string) report.Report {
	r := interim()
	r.Sweep.Ended = how
	for i := range r.Results.Intervals {
		r.Results.Intervals[i].State = "interim: 3 of 5"
	}
	return r
}

// ruled is the sample by a rule, as it stands by it.
func ruled(rule experiment.Stopping, stop experiment.StopReport) report.Report {
	r := sample()
	r.Sweep.Stopping, r.Results.Stop = rule, stop
	r.Results.RoundsDone, r.Sweep.Rounds, r.Results.Planned = stop.At, rule.AtMost, rule.AtMost
	if stop.Met {
		r.Results.Planned = stop.At
	}
	return r
}

// What must be known before the numbers are read stands above every table, and in
// json; what all of csv says of it is the state.
func TestLabels(t *testing.T) {
	precise := experiment.Stopping{Until: experiment.StopPrecise, AtMost: 30}
	decided := experiment.Stopping{Until: experiment.StopDecided, AtMost: 30}
	other := func(change func(*experiment.Settings)) report.Report {
		r := sample()
		r.Results.Settings = r.Sweep.Settings
		change(&r.Results.Settings)
		return r
	}
	const by = "stopped by hand after 3 of 5 rounds: no verdicts; run it again to go on, or judge what there is by ceteris analyse 3 --accept-rounds"
	for name, tt := range map[string]struct {
		r    report.Report
		want []string
	}{
		"whole":          {sample(), []string{}},
		"still running":  {interim(), []string{}},
		"engine gone":    {ended("engine-gone"), []string{}},
		"drained":        {ended("drained"), []string{by}},
		"aborted":        {ended("aborted"), []string{by}},
		"until a moment": {ended("until"), []string{by}},
		"one stage is whole": {func() report.Report {
			r := ended("drained")
			r.Results.Comparisons[1].Verdict = experiment.VerdictWorse
			return r
		}(), []string{strings.Replace(by, "no verdicts", "no verdicts where rounds are missing", 1)}},
		"accepted": {accepted(), []string{"stopped by hand after 3 of 5 rounds: n was not fixed beforehand"}},
		"precise, met": {
			ruled(precise, experiment.StopReport{Met: true, At: 9, Confidence: 0.97, Target: 0.03, HalfWidth: new(0.0214)}),
			[]string{"rounds until precise: half-width 2.14% at 97%, wanted 3%, met after 9 of at most 30"},
		},
		"precise, not met": {
			ruled(precise, experiment.StopReport{At: 7, Confidence: 0.97, Target: 0.03, HalfWidth: new(0.05), Open: 2}),
			[]string{"rounds until precise: half-width 5% at 97%, wanted 3%, not met after 7 of at most 30"},
		},
		"precise, without a width": {
			ruled(precise, experiment.StopReport{At: 7, Confidence: 0.97, Target: 0.03, Open: 2}),
			[]string{"rounds until precise: 2 comparisons open at 97%, not met after 7 of at most 30"},
		},
		"no look yet": {ruled(precise, experiment.StopReport{}), []string{"rounds until precise: the first look comes after 5 of at most 30"}},
		"decided, met": {
			ruled(decided, experiment.StopReport{Met: true, At: 10, Confidence: 0.9875}),
			[]string{"rounds until decided: none open at 98.8%, met after 10 of at most 30"},
		},
		"decided, met in one stage": {
			ruled(decided, experiment.StopReport{MetIn: []string{"found"}, At: 10, Confidence: 0.9875, Open: 1}),
			[]string{"rounds until decided: 1 comparison open at 98.8%, not met after 10 of at most 30, except in stage found"},
		},
		"a rule, stopped by hand": {func() report.Report {
			r := ruled(precise, experiment.StopReport{})
			r.Sweep.Ended, r.Results.RoundsDone, r.Results.Comparisons = "drained", 4, nil
			return r
		}(), []string{
			strings.Replace(by, "3 of 5", "4 of at most 30", 1), "rounds until precise: the first look comes after 5 of at most 30",
		}},
		"differences of shares": {func() report.Report {
			r := ruled(precise, experiment.StopReport{Met: true, At: 9, Confidence: 0.97, Target: 0.001, HalfWidth: new(0.0005)})
			r.Sweep.Settings.Metric = "error_rate"
			return r
		}(), []string{"rounds until precise: half-width 0.05 pp at 97%, wanted 0.1 pp, met after 9 of at most 30"}},
		"the settings of the matrix": {other(func(*experiment.Settings) {}), []string{}},
		"other settings": {other(func(s *experiment.Settings) {
			s.Metric, s.Confidence, s.MinimumEffect, s.ErrorRate = "latency_p99", 0.99, 0.05, 0.02
			s.Without = []string{"threads=4"}
			s.Guards = map[string]experiment.GuardSetting{"spread": {Off: true}}
			s.Objectives = []experiment.Objective{{Metric: "latency_p99", Limit: 1}}
		}), []string{
			"judged by other settings than those of the matrix: metric latency_p99, not throughput; confidence 99%, not 95%; " +
				"minimum effect 5%, not 3%; error rate 2%, not 1%; other guards; other objectives; without threads=4",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var out struct {
				Labels []string `json:"labels"`
			}
			if err := json.Unmarshal(render(t, comparison(tt.r, report.JSON)), &out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.Labels); diff != "" {
				t.Errorf("json (-want +got):\n%s", diff)
			}
			for _, f := range []report.Format{report.Text, report.Markdown} {
				head, _, _ := strings.Cut(string(render(t, comparison(tt.r, f))), "baseline   ")
				head = strings.Join(strings.Fields(head), " ")
				for _, want := range tt.want {
					if !strings.Contains(head, want) {
						t.Errorf("%s: no %q above the first table: %s", f, want, head)
					}
				}
			}
		})
	}
}

func TestStoppedByHandInEveryFormat(t *testing.T) {
	for name, tt := range map[string]struct {
		r     report.Report
		state string // in csv
		hand  bool
	}{
		"drained":  {ended("drained"), "interim: 3 of 5, stopped by hand: drained", true},
		"running":  {ended(""), "interim: 3 of 5", false},
		"accepted": {accepted(), "stopped: 3 of 5", true},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := csv.NewReader(bytes.NewReader(render(t, comparison(tt.r, report.CSV)))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range all[1:] {
				if row[19] != tt.state {
					t.Fatalf("%s is %q, want %q", all[0][19], row[19], tt.state)
				}
			}
			var out struct {
				Sweep struct {
					Stopped bool `json:"stopped_by_hand"`
				} `json:"sweep"`
			}
			if err := json.Unmarshal(render(t, comparison(tt.r, report.JSON)), &out); err != nil || out.Sweep.Stopped != tt.hand {
				t.Errorf("stopped_by_hand is %v, %v; want %v", out.Sweep.Stopped, err, tt.hand)
			}
		})
	}
}

func TestListAndStatusOfASweepStoppedByHand(t *testing.T) {
	line := report.SweepLine{ID: 3, Name: "coupon-lookup", Hash: "1a2b3c4d5e6f", Runner: "process", RoundsDone: 3, Rounds: 5, State: "drained", Cells: 7}
	list := string(render(t, func(b *bytes.Buffer) error {
		return report.List(b, []report.SweepLine{line}, report.Text, report.Options{})
	}))
	if !strings.Contains(list, "  stopped by hand: drained  ") {
		t.Errorf("list:\n%s", list)
	}
	line.RoundsDone = 5
	list = string(render(t, func(b *bytes.Buffer) error {
		return report.List(b, []report.SweepLine{line}, report.Text, report.Options{})
	}))
	if strings.Contains(list, "by hand") {
		t.Errorf("list of a whole sweep:\n%s", list)
	}
	v := report.StatusView{Line: line, Sweep: sample().Sweep}
	v.Line.RoundsDone, v.Line.Rounds = 7, 30
	v.Sweep.Stopping = experiment.Stopping{Until: experiment.StopPrecise, AtMost: 30}
	got := string(render(t, func(b *bytes.Buffer) error { return report.Status(b, v, report.Text) }))
	want := `coupon-lookup: sweep 3 (1a2b3c4d5e6f), runner process, stopped by hand: drained
7 of at most 30 rounds done, 0 of at most 210 runs count
stopped by hand after 7 of at most 30 rounds: run it again to go on
`
	if !strings.HasPrefix(got, want) {
		t.Errorf("status:\n%s\nwant it to begin with\n%s", got, want)
	}
}

// Cells that the settings leave out are in no table.
func TestCellsLeftOut(t *testing.T) {
	r := sample()
	r.Results.Settings = r.Sweep.Settings
	r.Results.Settings.Without = []string{"threads=4", "baseline"}
	for _, f := range report.Formats() {
		out := string(render(t, comparison(r, f)))
		body := strings.ReplaceAll(out, "without threads=4", "")
		if f == report.JSON {
			_, body, _ = strings.Cut(out, `"cells"`)
		}
		if strings.Contains(body, "threads=4") || strings.Contains(body, "threads,4,") {
			t.Errorf("%s holds the cell that was left out:\n%s", f, out)
		}
		if !strings.Contains(body, "baseline") {
			t.Errorf("%s lost the baseline", f)
		}
	}
	if got := r.Summary(); strings.Contains(got[0], "threads=4") {
		t.Errorf("summary: %s", got)
	}
}

func TestCalibrationLines(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*report.Report)
		want   string
	}{
		"as it should be": {func(*report.Report) {}, `
calibration:
  identical cells here on 2026-11-30 (calm): 3 of 60 comparisons alarmed at 5% (limit 7); one comparison alone shows
    effects from 4.1% in 5 rounds
  controls of other sweeps here: 2 of 41 differed from their baseline at 5%
`},
		"too many alarms, another metric, fewer rounds than were looked at": {func(r *report.Report) {
			c := r.Sweep.Calibration
			c.Alarms, c.Metric, c.Shows, r.Sweep.AA = 7, "latency_p99", c.Shows[2:], experiment.AAHistory{}
		}, `
calibration:
  identical cells here on 2026-11-30 (calm): 7 of 60 comparisons alarmed at 5% (limit 7) for latency_p99; that is too
    often: verdicts here are not to be trusted
`},
		"the metric is compared on another scale now": {func(r *report.Report) {
			r.Sweep.Calibration.Scale, r.Sweep.AA = experiment.ScaleDifference, experiment.AAHistory{}
		}, `
calibration:
  identical cells here on 2026-11-30 (calm): 3 of 60 comparisons alarmed at 5% (limit 7)
`},
		"controls alone": {func(r *report.Report) { r.Sweep.Calibration = nil }, `
calibration:
  controls of other sweeps here: 2 of 41 differed from their baseline at 5%
`},
	} {
		t.Run(name, func(t *testing.T) {
			r := concluded()
			tt.change(&r)
			text := textOf(t, r)
			_, got, _ := strings.Cut(text, "\ncalibration:")
			got, _, _ = strings.Cut("\ncalibration:"+got, "generator CPU")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
