package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

// bare is a sweep of which nothing is known but its cells.
func bare() report.Report {
	return report.Report{Sweep: experiment.Sweep{Cells: matrix.Cells()}}
}

// nils has results in which every pointer is nil, for cells known and unknown.
func nils() report.Report {
	r := bare()
	for _, k := range []experiment.CellKey{r.Sweep.Cells[0].Key, r.Sweep.Cells[3].Key, "of no cell"} {
		r.Results.Intervals = append(r.Results.Intervals, experiment.Interval{Cell: k, Metric: "throughput"}, experiment.Interval{Cell: k, Metric: "app.cpu"})
		r.Results.Comparisons = append(r.Results.Comparisons, experiment.Comparison{Cell: k, Metric: "throughput"},
			experiment.Comparison{Cell: k, Metric: "x", Verdict: experiment.VerdictWorse})
		r.Sweep.Runs = append(r.Sweep.Runs, experiment.RunRecord{Run: experiment.Run{ID: 5, Cell: k, State: experiment.StateInvalid}})
	}
	r.Findings = []experiment.Finding{{}, {Run: 77, Cell: "of no cell"}}
	return r
}

// Whatever is in the report, each format keeps its form.
func TestEveryFormatKeepsItsForm(t *testing.T) {
	for name, r := range map[string]report.Report{
		"empty": {}, "bare": bare(), "nils": nils(), "sample": sample(), "interim": interim(), "conditions": conditions(), "hostile": hostile(),
		"concluded": concluded(), "hostile conclusions": hostileConclusions(), "accepted": accepted(), "ended": ended("drained"),
	} {
		t.Run(name, func(t *testing.T) {
			checkText(t, render(t, comparison(r, report.Text)))
			checkMarkdown(t, render(t, comparison(r, report.Markdown)))
			checkCSV(t, render(t, comparison(r, report.CSV)))
			checkJSON(t, render(t, comparison(r, report.JSON)))
			for _, f := range report.Formats() {
				if diff := cmp.Diff(render(t, comparison(r, f)), render(t, comparison(r, f))); diff != "" {
					t.Errorf("%s differs from one time to the next:\n%s", f, diff)
				}
			}
		})
	}
}

func checkText(t *testing.T, b []byte) {
	t.Helper()
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if i := strings.IndexFunc(line, unicode.IsControl); i >= 0 {
			t.Errorf("text: control character at %d of %q", i, line)
		}
		if n := len([]rune(line)); n > 120 {
			t.Errorf("text: line of %d columns: %q", n, line)
		}
		if strings.HasSuffix(line, " ") {
			t.Errorf("text: trailing space: %q", line)
		}
	}
	checkNumbers(t, b)
}

func checkMarkdown(t *testing.T, b []byte) {
	t.Helper()
	bars := -1
	for line := range strings.Lines(string(b)) {
		if strings.ContainsAny(strings.TrimSuffix(line, "\n"), "<>\x1b\r\x00") {
			t.Errorf("md: unescaped: %q", line)
		}
		if !strings.HasPrefix(line, "|") {
			bars = -1
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if bars >= 0 && n != bars {
			t.Errorf("md: %d bars after a row of %d: %q", n, bars, line)
		}
		bars = n
	}
	checkNumbers(t, b)
}

func checkCSV(t *testing.T, b []byte) {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(b)).ReadAll() // also: as many fields in every row
	if err != nil || len(all) == 0 {
		t.Fatalf("csv: %d rows, %v", len(all), err)
	}
	checkNumbers(t, b)
}

func checkJSON(t *testing.T, b []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("json: %v", err)
	}
	checkNumbers(t, b)
}

// checkNumbers looks for what no format may hold.
func checkNumbers(t *testing.T, b []byte) {
	t.Helper()
	for _, bad := range []string{"NaN", "+Inf", "-Inf"} {
		if bytes.Contains(b, []byte(bad)) {
			t.Errorf("%s in the output", bad)
		}
	}
}

func TestCSVKeepsFullPrecisionAndNames(t *testing.T) {
	r := sample()
	odd := "a|b\n=1+1\x1b[31m"
	third := 1.0 / 3
	r.Sweep.Cells[2].Level = odd
	r.Results.Comparisons[1].Estimate = &third
	all, err := csv.NewReader(bytes.NewReader(render(t, comparison(r, report.CSV)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, c := range all[0] {
		column[c] = i
	}
	for _, row := range all[1:] {
		if row[column["level"]] == odd && row[column["metric"]] == "throughput" {
			if got, want := row[column["compared"]], "0.3333333333333333"; got != want {
				t.Errorf("compared = %s, want %s", got, want)
			}
			if got := row[column["p"]]; got != "" {
				t.Errorf("p that is unknown = %q, want nothing", got)
			}
			return
		}
	}
	t.Errorf("no row with the level %q", odd)
}

func TestWidth(t *testing.T) {
	r := sample()
	for _, width := range []int{80, 100, 120, 160} {
		r.Options.Width = width
		for line := range strings.Lines(string(render(t, comparison(r, report.Text)))) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > max(width, 96) { // what is never left out needs 96
				t.Errorf("width %d: line of %d columns: %q", width, n, line)
			}
		}
	}
	r.Options.Width = 160
	if text := render(t, comparison(r, report.Text)); !bytes.Contains(text, []byte("redis cpu\n")) || bytes.Contains(text, []byte("left out")) {
		t.Errorf("width 160 leaves out a column:\n%s", text)
	}
}

func TestColorOnlyWhenAsked(t *testing.T) {
	r := sample()
	r.Options.Color = true
	colored := string(render(t, comparison(r, report.Text)))
	if !strings.Contains(colored, "\x1b[31mworse, proven\x1b[0m") {
		t.Errorf("no colour:\n%s", colored)
	}
	stripped := strings.NewReplacer("\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[0m", "").Replace(colored)
	r.Options.Color = false
	if diff := cmp.Diff(string(render(t, comparison(r, report.Text))), stripped); diff != "" {
		t.Errorf("colour moves columns (-plain +stripped):\n%s", diff)
	}
	r.Options.Color = true
	if md := render(t, comparison(r, report.Markdown)); bytes.Contains(md, []byte("\x1b")) {
		t.Error("colour in md")
	}
}

func TestSummary(t *testing.T) {
	differ := func(change func(*report.Report)) report.Report {
		r := sample()
		change(&r)
		return r
	}
	verdicts := func(v experiment.Verdict) report.Report {
		return differ(func(r *report.Report) {
			for i := range r.Results.Comparisons {
				r.Results.Comparisons[i].Verdict, r.Results.Comparisons[i].Material, r.Results.Comparisons[i].Reason = v, "", ""
			}
		})
	}
	tests := map[string]struct {
		r    report.Report
		want string
	}{
		"largest effect first": {sample(), "validate_connection=true is worse (proven): throughput 0.12x the baseline [0.11, 0.13]. " +
			"Also log_level=debug worse 0.74x. Equivalent: log_level=info. Inconclusive: threads=128. Not tested: threads=4."},
		"interim": {interim(), "Interim: 3 of 5 rounds done, no verdicts yet."},
		"interim by a rule": {differ(func(r *report.Report) {
			for i := range r.Results.Comparisons {
				r.Results.Comparisons[i].Verdict, r.Results.Comparisons[i].State = experiment.VerdictPending, "interim: 7 of at most 30"
			}
		}), "Interim: 7 of at most 30 rounds done, no verdicts yet."},
		"no results": {differ(func(r *report.Report) { r.Results.Comparisons = nil }), "Nothing to compare yet (3 of 3 rounds done)."},
		"no cells":   {report.Report{}, "No cells."},
		"no effect": {verdicts(experiment.VerdictEquivalent), "No setting is shown to change throughput. " +
			"Equivalent: validate_connection=true, log_level=info, log_level=debug, threads=4, threads=128."},
		"all fail": {verdicts(experiment.VerdictFails), "validate_connection=true, log_level=info, log_level=debug, threads=4, " +
			"threads=128 fail in every round."},
		"one fails": {differ(func(r *report.Report) {
			r.Results.Comparisons[1].Verdict, r.Results.Comparisons[3].Verdict = experiment.VerdictFails, experiment.VerdictInconclusive
		}), "validate_connection=true fails in every round. No other setting is shown to change throughput. " +
			"Equivalent: log_level=info. Inconclusive: log_level=debug, threads=128. Not tested: threads=4."},
		"one has no success": {differ(func(r *report.Report) {
			r.Results.Comparisons[1].Verdict, r.Results.Comparisons[1].Reason = experiment.VerdictFails, "no request succeeded in any round"
		}), "validate_connection=true fails: no request succeeded in any round. log_level=debug is worse (proven): throughput 0.74x the baseline [0.72, 0.76]. " +
			"Equivalent: log_level=info. Inconclusive: threads=128. Not tested: threads=4."},
		"nothing tested": {verdicts(experiment.VerdictNotTested), "Not tested: validate_connection=true, log_level=info, log_level=debug, " +
			"threads=4, threads=128."},
		"the baseline fails": {
			differ(func(r *report.Report) { ends(r, 0, experiment.StateFailedSubject) }),
			"Nothing can be compared: the baseline fails in every round.",
		},
		"the baseline is invalid": {
			differ(func(r *report.Report) { ends(r, 0, experiment.StateInvalid) }),
			"Nothing can be compared: every run of the baseline is invalid.",
		},
		"the baseline has no success": {
			differ(func(r *report.Report) { zero(r, 0) }),
			"Nothing can be compared: the baseline has no successful request.",
		},
		"no latency where the baseline has no success": {differ(func(r *report.Report) {
			zero(r, 0)
			r.Sweep.Settings.Metric = "latency_p99"
			for i := range r.Results.Comparisons {
				r.Results.Comparisons[i].Metric = "latency_p99"
			}
			r.Results.Intervals[2].N, r.Results.Intervals[2].Estimate = 0, nil
		}), "Nothing can be compared: the baseline has no successful request."},
		"on differences": {differ(func(r *report.Report) {
			r.Sweep.Settings.Metric = "error_rate"
			r.Results.Comparisons = []experiment.Comparison{{
				Cell: r.Sweep.Cells[2].Key, Metric: "error_rate", Scale: experiment.ScaleDifference,
				Estimate: new(0.02), Low: new(0.011), High: new(0.029), Verdict: experiment.VerdictWorse,
			}}
		}), "validate_connection=true is worse: error_rate +2.00 pp against the baseline [+1.10, +2.90]."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]string{tt.want}, tt.r.Summary()); diff != "" {
				t.Errorf("Summary (-want +got):\n%s", diff)
			}
		})
	}
}

// zero makes all requests of a cell fail.
func zero(r *report.Report, cell int) {
	for i, x := range r.Results.Intervals {
		if x.Cell == r.Sweep.Cells[cell].Key && x.Metric == "throughput" {
			none := 0.0
			r.Results.Intervals[i].Estimate, r.Results.Intervals[i].Min, r.Results.Intervals[i].Max = &none, &none, &none
		}
	}
}

// ends gives all runs of a cell a state.
func ends(r *report.Report, cell int, state experiment.RunState) {
	for i, x := range r.Sweep.Runs {
		if x.Cell == r.Sweep.Cells[cell].Key {
			r.Sweep.Runs[i].State, r.Sweep.Runs[i].Reason = state, fmt.Sprintf("for reason %d", x.Round)
		}
	}
}

// TestIncomparable: rates that may be zero need no baseline above it, and other
// cells may fail.
func TestIncomparable(t *testing.T) {
	for name, tt := range map[string]struct {
		change    func(*report.Report)
		why, last string
	}{
		"all is well":        {func(*report.Report) {}, "", ""},
		"another cell fails": {func(r *report.Report) { ends(r, 2, experiment.StateFailedSubject) }, "", ""},
		"one run of the baseline counts": {func(r *report.Report) {
			ends(r, 0, experiment.StateFailedSubject)
			i := slices.IndexFunc(r.Sweep.Runs, func(x experiment.RunRecord) bool { return x.Cell == r.Sweep.Cells[0].Key })
			r.Sweep.Runs[i].State = experiment.StateOK
		}, "", ""},
		"the baseline fails": {
			func(r *report.Report) { ends(r, 0, experiment.StateFailedSubject) },
			"the baseline fails in every round", "for reason 3",
		},
		"the baseline fails or is invalid": {func(r *report.Report) {
			ends(r, 0, experiment.StateFailedSubject)
			i := slices.IndexFunc(r.Sweep.Runs, func(x experiment.RunRecord) bool { return x.Cell == r.Sweep.Cells[0].Key })
			r.Sweep.Runs[i].State = experiment.StateInvalid
		}, "no run of the baseline counts", "for reason 3"},
		"no success": {func(r *report.Report) { zero(r, 0) }, "the baseline has no successful request", ""},
		"no success, by error rate": {func(r *report.Report) {
			zero(r, 0)
			r.Sweep.Settings.Metric = "error_rate"
		}, "", ""},
		"nothing has run": {func(r *report.Report) { r.Sweep.Runs = nil }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := sample()
			tt.change(&r)
			if why, last := r.Incomparable(); why != tt.why || last != tt.last {
				t.Errorf("got %q, %q; want %q, %q", why, last, tt.why, tt.last)
			}
		})
	}
}

// TestRemarks looks for lines below the table, which is in one line each.
func TestRemarks(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*report.Report)
		want   string // in the text
		not    string
	}{
		"a code has words": {
			func(r *report.Report) { r.Results.Comparisons[4].Reason = "ErrNonPositive" },
			"\n  threads=4: not-tested, a run's value is zero or negative, which gives no ratio (ErrNonPositive)\n", "",
		},
		"words stay as they are": {
			func(r *report.Report) { r.Results.Comparisons[4].Reason = "too few requests" },
			"\n  threads=4: not-tested, too few requests\n", "",
		},
		"rounds within the limit": {func(r *report.Report) { r.Results.Comparisons[5].RoundsNeeded = 997 }, "(run again with --rounds 1000)", "the limit,"},
		"rounds beyond the limit": {
			func(r *report.Report) { r.Results.Comparisons[5].RoundsNeeded = 998 },
			"more than 1000 rounds, the limit, would be needed for threads=128: the effect sought (3%) is too small for this noise\n", "--rounds",
		},
		"some within, some beyond": {func(r *report.Report) {
			r.Results.Comparisons[4].Verdict, r.Results.Comparisons[4].RoundsNeeded = experiment.VerdictInconclusive, 5000
		}, "threads=128 about 4 (run again with --rounds 7)\n  more than 1000 rounds, the limit, would be needed for threads=4", ""},
		"no advice without a baseline": {func(r *report.Report) { zero(r, 0) }, "Nothing can be compared", "more rounds"},
		"of fewer runs":                {func(r *report.Report) { r.Results.Intervals[2].N = 2 }, "; * = of fewer runs than n\n", ""},
		"of as many runs":              {func(*report.Report) {}, "method: ", "* ="},
		"of fewer, marked":             {func(r *report.Report) { r.Results.Intervals[2].N = 2 }, "  15.4*  ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := sample()
			r.Options.Width = 300
			tt.change(&r)
			got := string(render(t, comparison(r, report.Text)))
			if !strings.Contains(got, tt.want) || tt.not != "" && strings.Contains(got, tt.not) {
				t.Errorf("want %q in it, and not %q:\n%s", tt.want, tt.not, got)
			}
		})
	}
}

func TestUnknownFormat(t *testing.T) {
	var b bytes.Buffer
	for name, err := range map[string]error{
		"comparison": report.Comparison(&b, sample(), "xml"),
		"plan":       report.Plan(&b, report.PlanView{}, "xml"),
		"list":       report.List(&b, nil, "xml", report.Options{}),
		"status":     report.Status(&b, report.StatusView{}, "xml"),
		"rows":       report.Rows(&b, nil, nil, "xml"),
	} {
		if err == nil || err.Error() != `"xml" is no format (text, md, csv, json)` {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b.Len() > 0 {
		t.Errorf("written: %q", b.String())
	}
	if _, err := report.ParseFormat("md"); err != nil {
		t.Error(err)
	}
}

func plan() report.PlanView {
	m := *matrix
	users := experiment.Literal("64")
	m.Load = experiment.LoadSpec{
		Service: "app", Port: 8080, Requests: []experiment.RequestSpec{{Method: "GET", Path: experiment.Literal("/coupons")}},
		Closed: &experiment.ClosedSpec{Users: users}, Ramp: experiment.Literal("0s"),
		Warmup: experiment.WarmupSpec{For: experiment.Literal("1s")}, Measure: experiment.MeasureSpec{For: experiment.Literal("4s")},
	}
	return report.PlanView{
		Matrix: &m, Cells: m.Cells(), Order: experiment.Schedule(m.Cells(), 3, 42), Hash: "a62225e1bbc4f00d",
		Placement: experiment.Placement{Subject: experiment.CoreSet{0}, Backing: experiment.CoreSet{0}, Load: experiment.CoreSet{1}, Reason: "2 cores"},
		Duration:  2*time.Minute + 6*time.Second, DiskBytes: 3 << 20, Warnings: []string{"nothing confirms log_level"},
	}
}

var lines = []report.SweepLine{
	{
		ID: 3, Name: "coupon-lookup", Hash: "1a2b3c4d5e6f708192a3", Runner: "docker", RoundsDone: 2, Rounds: 5, Runs: 19, State: "running",
		Began: time.Date(2026, 11, 2, 8, 30, 0, 0, time.UTC), ETA: 12*time.Minute + 3*time.Second, Cells: 28, Stages: 2, Conditions: 7,
	},
	{ID: 1, Name: "a|b\n\x1b[31m<i>", Runner: "process", Rounds: 3, State: "planned", Cells: 7},
}

func status() report.StatusView {
	r := sample()
	r.Sweep.Runs[20].State, r.Sweep.Runs[19].State = experiment.StatePending, experiment.StateRunning
	return report.StatusView{Line: lines[0], Sweep: r.Sweep, Findings: r.Findings}
}

func TestOtherTablesGolden(t *testing.T) {
	tables := map[string]func(report.Format) func(*bytes.Buffer) error{
		"plan": func(f report.Format) func(*bytes.Buffer) error {
			return func(b *bytes.Buffer) error { return report.Plan(b, plan(), f) }
		},
		"list": func(f report.Format) func(*bytes.Buffer) error {
			return func(b *bytes.Buffer) error { return report.List(b, lines, f, report.Options{}) }
		},
		"status": func(f report.Format) func(*bytes.Buffer) error {
			return func(b *bytes.Buffer) error { return report.Status(b, status(), f) }
		},
		"empty-plan": func(f report.Format) func(*bytes.Buffer) error {
			return func(b *bytes.Buffer) error { return report.Plan(b, report.PlanView{}, f) }
		},
		"empty-list": func(f report.Format) func(*bytes.Buffer) error {
			return func(b *bytes.Buffer) error { return report.List(b, nil, f, report.Options{}) }
		},
		"empty-status": func(f report.Format) func(*bytes.Buffer) error {
			return func(b *bytes.Buffer) error { return report.Status(b, report.StatusView{}, f) }
		},
		"rows": func(f report.Format) func(*bytes.Buffer) error {
			return func(b *bytes.Buffer) error { return report.Rows(b, rowsColumns, each(rowsValues, nil), f) }
		},
		"empty-rows": func(f report.Format) func(*bytes.Buffer) error {
			return func(b *bytes.Buffer) error { return report.Rows(b, rowsColumns, each(nil, nil), f) }
		},
	}
	check := map[report.Format]func(*testing.T, []byte){report.Text: checkText, report.Markdown: checkMarkdown, report.CSV: checkCSV, report.JSON: checkJSON}
	for name, table := range tables {
		for _, f := range report.Formats() {
			t.Run(fmt.Sprintf("%s.%s", name, f), func(t *testing.T) {
				got := render(t, table(f))
				check[f](t, got)
				golden(t, fmt.Sprintf("%s.%s", name, f), got)
			})
		}
	}
}

var (
	rowsColumns = []string{"n", "value", "n", "text|", "blob", "at"}
	rowsValues  = [][]any{
		{int64(1), 0.1, true, "a|b\n\x1b[1m<c> \"q\", é", []byte{0, 255}, time.Date(2026, 11, 2, 8, 30, 0, 5, time.UTC)},
		{int64(-20), nil, false, "", nil, nil},
		{int64(3), math.Inf(1)},
	}
)

func each(rows [][]any, end error) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
		if end != nil {
			yield(nil, end)
		}
	}
}

func TestRowsReturnsTheErrorOfTheRows(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, f := range report.Formats() {
		var b bytes.Buffer
		if err := report.Rows(&b, rowsColumns, each(rowsValues, broken), f); !errors.Is(err, broken) {
			t.Errorf("%s: %v, want the error of the rows", f, err)
		}
	}
}
