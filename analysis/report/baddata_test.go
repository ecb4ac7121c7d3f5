package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

// defects is a sweep whose levels say what is wrong with their values.
func defects() report.Report {
	m := &experiment.Matrix{
		Name: "defects", Runner: experiment.RunnerProcess,
		Factors: []experiment.Factor{{Name: "x", Levels: levels("fine", "nan", "infinite", "nothing", "zero", "few", "half", "silent")}},
		Repeat:  experiment.RepeatPlan{Rounds: 5, Seed: 7},
		Judge:   experiment.Settings{Metric: "latency_p50", MinimumEffect: 0.03, Confidence: 0.95, ErrorRate: 0.01},
	}
	return analysed(m, func(c experiment.Cell, round int) map[string]float64 {
		out := map[string]float64{"throughput": 500 * noise(c, round, "t"), "latency_p50": 0.1 * noise(c, round, "l"), "latency_count": 5000}
		defect, _ := c.Lookup("x")
		switch {
		case defect == "nan" && round == 2:
			out["latency_p50"] = math.NaN()
		case defect == "infinite" && round == 2:
			out["latency_p50"] = math.Inf(1)
		case defect == "nothing", defect == "few" && round > 2, defect == "half" && round == 5:
			delete(out, "latency_p50")
		case defect == "zero" && round == 3:
			out["latency_p50"] = 0
		case defect == "silent":
			out["throughput"], out["error_rate"] = 0, 1
			delete(out, "latency_p50")
		}
		return out
	})
}

// Data that cannot be tested has the same name everywhere, and no format breaks.
func TestDefectsHaveNames(t *testing.T) {
	r := defects()
	want := map[string]string{
		"nan": "not-tested: ErrNotFinite", "infinite": "not-tested: ErrNotFinite", "nothing": "not-tested: ErrNoData", "zero": "not-tested: ErrNonPositive",
		"few": "not-tested: n < 3", "silent": "fails: no request succeeded in any round",
	}
	named := map[string]string{}
	all, err := csv.NewReader(bytes.NewReader(render(t, comparison(r, report.CSV)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, c := range all[0] {
		column[c] = i
	}
	for _, row := range all[1:] {
		if reason := row[column["reason"]]; row[column["primary"]] == "true" && reason != "" {
			named[row[column["level"]]] = row[column["verdict"]] + ": " + reason
		}
	}
	if diff := cmp.Diff(want, named); diff != "" {
		t.Errorf("csv (-want +got):\n%s", diff)
	}

	var out struct {
		Cells []struct {
			Level   string
			Metrics []struct {
				Primary  bool
				Compared *struct{ Verdict, Reason string }
			}
		}
	}
	if err := json.Unmarshal(render(t, comparison(r, report.JSON)), &out); err != nil {
		t.Fatal(err)
	}
	named = map[string]string{}
	for _, c := range out.Cells {
		for _, m := range c.Metrics {
			if m.Primary && m.Compared != nil && m.Compared.Reason != "" {
				named[c.Level] = m.Compared.Verdict + ": " + m.Compared.Reason
			}
		}
	}
	if diff := cmp.Diff(want, named); diff != "" {
		t.Errorf("json (-want +got):\n%s", diff)
	}

	text := render(t, comparison(r, report.Text))
	checkText(t, text)
	checkMarkdown(t, render(t, comparison(r, report.Markdown)))
	_, listed, _ := strings.Cut(string(text), "\nnot tested:\n")
	listed, _, _ = strings.Cut(listed, "\ndistrust:")
	if diff := cmp.Diff(`  x=nan, x=infinite: not-tested, a run's value is no finite number (ErrNotFinite)
  x=nothing: not-tested, no run has a value (ErrNoData)
  x=zero: not-tested, a run's value is zero or negative, which gives no ratio (ErrNonPositive)
  x=few: not-tested, fewer than 3 rounds to compare (n < 3)
  x=silent: fails, no request succeeded in any round
`, listed); diff != "" {
		t.Errorf("text (-want +got):\n%s\n%s", diff, text)
	}
}
