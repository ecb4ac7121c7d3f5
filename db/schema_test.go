package db

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestEveryQueryPrepares(t *testing.T) {
	ctx := context.Background()
	path := testPath(t)
	openAt(t, path)
	r := readAt(t, path)
	entries, err := queryFiles.ReadDir("queries")
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d queries, %v", len(entries), err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			text := query(e.Name())
			if !strings.HasPrefix(text, "-- ") {
				t.Error("does not begin with a comment")
			}
			s, err := r.pool.PrepareContext(ctx, text)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
		})
	}
}

// ours leaves out what SQLite and the migrations keep for themselves.
const ours = `name NOT LIKE 'sqlite_%' AND name NOT LIKE 'goose_%'`

func TestEveryTableIsStrictAndCommented(t *testing.T) {
	d := openAt(t, testPath(t))
	for _, name := range texts(t, d, `SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND NOT strict AND `+ours) {
		t.Errorf("table %s is not strict", name)
	}
	comment := regexp.MustCompile(`^CREATE (TABLE \w+ \(|VIEW \w+ AS)\s+-- \S.*\.`)
	for _, text := range texts(t, d, `SELECT sql FROM sqlite_master WHERE type IN ('table', 'view') AND `+ours) {
		if !comment.MatchString(text) {
			t.Errorf("does not begin with a comment: %.60s", text)
		}
	}
}

// TestSchemaIsDocumented: every table and view has a section of its own in
// DESIGN.md that names its columns.
func TestSchemaIsDocumented(t *testing.T) {
	d := openAt(t, testPath(t))
	doc, err := os.ReadFile("DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, s := range strings.Split(string(doc), "\n### ")[1:] {
		head, body, _ := strings.Cut(s, "\n")
		body, _, _ = strings.Cut(body, "\n## ")
		sections[strings.Trim(strings.Fields(head)[0], "`")] = body
	}
	names := map[string]bool{}
	for _, line := range texts(t, d, `SELECT m.name || ' ' || c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type IN ('table', 'view') AND m.`+strings.ReplaceAll(ours, "AND name", "AND m.name")) {
		object, column, _ := strings.Cut(line, " ")
		names[object] = true
		body, ok := sections[object]
		if !ok {
			t.Errorf("%s has no section", object)
			sections[object] = "*" // say it once
			continue
		}
		if body != "*" && !strings.Contains(body, "`"+column+"`") {
			t.Errorf("the section of %s does not name %s", object, column)
		}
	}
	for s := range sections {
		if !names[s] {
			t.Errorf("%s is documented and not there", s)
		}
	}
}

func TestViewsAreListedWithTheirComments(t *testing.T) {
	all, err := openAt(t, testPath(t)).Views(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range all {
		names = append(names, v.Name)
		if !strings.HasPrefix(v.Comment, "One row ") || len(v.Columns) == 0 {
			t.Errorf("%+v", v)
		}
	}
	want := []string{
		"calibrations", "comparison_table", "comparisons", "confidence_intervals", "excluded_runs", "host_calibrations", "imported_runs",
		"interactions", "ladder", "masking", "observations", "response_levels", "responses", "run_metrics", "series",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestConfidenceIntervalsHaveARowACell(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	head, spec := begin(t, d, 3)
	for n, want := range map[int]string{
		0: "baseline|||0|||", 2: "baseline|||2|100.0||", 3: "baseline|||3|100.0|90.0|110.0",
	} {
		if err := d.ReplaceResults(ctx, head.ID, testResults(spec.Cells, n)); err != nil {
			t.Fatal(err)
		}
		got := texts(t, d, `SELECT role || '|' || coalesce(factor, '') || '|' || coalesce(level, '') || '|' || n || '|' || coalesce(estimate, '') || '|' || coalesce(low, '') || '|' || coalesce(high, '')
			FROM confidence_intervals WHERE sweep = (SELECT max(id) FROM sweeps) AND metric = 'throughput'`)
		if len(got) != len(spec.Cells) || got[0] != want {
			t.Errorf("n = %d: %q, want %q first", n, got, want)
		}
	}
	columns := texts(t, d, `SELECT group_concat(name, ', ') FROM pragma_table_info('confidence_intervals')`)
	if want := "sweep, stage, condition, role, factor, level, metric, unit, n, estimate, low, high, confidence, method, state, settings_hash, analysis_version"; columns[0] != want {
		t.Errorf("columns %s", columns[0])
	}
	if nulls := texts(t, d, `SELECT count(*) FROM confidence_intervals WHERE condition IS NULL OR (factor IS NULL) <> (role IN ('baseline', 'control'))`); nulls[0] != "0" {
		t.Errorf("%s rows break the rules of NULL", nulls[0])
	}
	if empty := texts(t, d, `SELECT count(*) FROM confidence_intervals WHERE level = ''`); empty[0] != "0" {
		t.Errorf("%s rows have the empty level, which is the baseline's here", empty[0])
	}
}

func TestViewsOfRuns(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	head, spec := begin(t, d, 1)
	pending := pendingRuns(t, d, head.ID)
	runOne(t, d, pending[0], 1)
	bad := beginRun(t, d, pending[1])
	o := testOutcome(bad, 1)
	o.Run.State, o.Run.Reason = experiment.StateInvalid, "generator-cpu"
	err := d.EndRun(ctx, o, []experiment.Finding{
		{Code: "generator-cpu", Severity: experiment.SeverityInvalid, Message: "Over."},
		{Code: "errors", Severity: experiment.SeverityWarn, Message: "Some."},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.ReplaceResults(ctx, head.ID, testResults(spec.Cells, 3)); err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string][]string{
		`SELECT run || '|' || state || '|' || reason || '|' || codes FROM excluded_runs`:                                                                {"2|invalid|generator-cpu|generator-cpu"},
		`SELECT run || '|' || metric || '|' || value || '|' || unit || '|' || state FROM run_metrics WHERE metric = 'app.cpu'`:                          {"1|app.cpu|0.75|cores|ok", "2|app.cpu|0.75|cores|invalid"},
		`SELECT label || '|' || verdict || '|' || cell_value || '|' || baseline_value || '|' || estimate || '|' || flags FROM comparison_table LIMIT 1`: {`control|worse|101.0|100.0|1.5|["FewRounds","Noisy"]`},
		`SELECT factor || '=' || level || '|' || places || '|' || spread || '|' || verdict FROM masking`:                                                {"log=debug|1|1.0|worse", "pool=1|1|1.0|worse", "pool=1.10|1|1.0|worse"},
	} {
		if diff := cmp.Diff(want, texts(t, d, q)); diff != "" {
			t.Errorf("%s: %s", q, diff)
		}
	}
}

// TestViewsOfServiceLevels: a row of a service level is the cell alone, in the unit of its
// metric, and no effect that something could mask.
func TestViewsOfServiceLevels(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	head, spec := begin(t, d, 3)
	r := testResults(spec.Cells, 3)
	for _, c := range r.Comparisons {
		if c.Metric == "throughput" {
			c.Metric, c.Verdict, c.Estimate = "slo:throughput", experiment.VerdictMeets, new(42.0)
			r.Comparisons = append(r.Comparisons, c)
		}
	}
	if err := d.ReplaceResults(ctx, head.ID, r); err != nil {
		t.Fatal(err)
	}
	got := texts(t, d, `SELECT label || '|' || unit || '|' || cell_value || '|' || estimate || '|' || (baseline_value IS NULL) FROM comparison_table WHERE metric = 'slo:throughput' AND label = 'control'`)
	if want := []string{"control|1/s|101.0|42.0|1"}; !cmp.Equal(want, got) {
		t.Errorf("%q, want %q", got, want)
	}
	if n := texts(t, d, `SELECT count(*) FROM masking WHERE metric LIKE 'slo:%'`); n[0] != "0" {
		t.Errorf("%s service levels are effects that could be masked", n[0])
	}
}

// TestMaskingOfAFactorThatIsMoved: off another level of the baseline its level has another
// effect, which nothing masks; that of other factors is the same one.
func TestMaskingOfAFactorThatIsMoved(t *testing.T) {
	d := openAt(t, testPath(t))
	spec := testSpec()
	m := *spec.Matrix
	m.Design.Stages = []experiment.Stage{{Name: "found"}, {Name: "moved", Baseline: []experiment.Setting{{Factor: "pool", Level: "1"}}}}
	spec.Matrix, spec.Hash, spec.Cells = &m, m.Hash(), m.Cells()
	head, err := d.BeginSweep(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.ReplaceResults(t.Context(), head.ID, testResults(spec.Cells, 3)); err != nil {
		t.Fatal(err)
	}
	got := texts(t, d, `SELECT label || ' ' || stage || ' ' || places || ' ' || (spread = 1) FROM masking WHERE label IN ('log=debug', 'pool=1.10') ORDER BY label, stage`)
	if want := []string{"log=debug found 2 0", "log=debug moved 2 0", "pool=1.10 found 1 1", "pool=1.10 moved 1 1"}; !cmp.Equal(want, got) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestMaskingComparesStages: the same level has another effect in another stage.
func TestMaskingComparesStages(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	spec := testSpec()
	first := len(spec.Cells)
	for _, c := range spec.Cells[:first] {
		c.Stage, c.Key = "unlocked", "unlocked"+c.Key
		spec.Cells = append(spec.Cells, c)
	}
	head, err := d.BeginSweep(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.ReplaceResults(ctx, head.ID, testResults(spec.Cells, 3)); err != nil {
		t.Fatal(err)
	}
	got := texts(t, d, `SELECT stage || '|' || places || '|' || estimate || '|' || round(spread, 3) FROM masking WHERE factor = 'log'`)
	if want := []string{"main|2|4.5|2.111", "unlocked|2|9.5|2.111"}; !cmp.Equal(want, got) {
		t.Errorf("%q, want %q", got, want)
	}
	// Stages run one after another, whatever the order in which runs were added.
	plan := experiment.Reschedule{Add: append(experiment.ScheduleRound(spec.Cells[first:], 1, 1), experiment.Schedule(spec.Cells[:first], 2, 1)...)}
	if err := d.Reschedule(ctx, head.ID, plan); err != nil {
		t.Fatal(err)
	}
	pending := pendingRuns(t, d, head.ID)
	want := append(experiment.Schedule(spec.Cells[:first], 2, 1), experiment.ScheduleRound(spec.Cells[first:], 1, 1)...)
	if got, want := labels(pending), labels(want); got != want {
		t.Errorf("pending %s\nwant %s", got, want)
	}
}
