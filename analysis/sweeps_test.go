package analysis

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// sweepCase is sweeps/*/expected.json: a whole sweep, analysed by an independent
// program.
type sweepCase struct {
	Settings struct {
		Baseline       string
		Control        *string
		Confidence     float64
		MinEffect      float64 `json:"min_effect"`
		HigherIsBetter *bool   `json:"higher_is_better"` // nil: neither is better
		Unit           string
		Imported       bool
	}
	Tolerance  tolerance
	Rounds     int
	FamilySize int `json:"family_size"`
	Method     string
	Rows       []sweepRow
	ResidualDF int      `json:"residual_df"`
	ResidualSD float64  `json:"residual_sd"`
	Noisy      []string `json:"noisy_cells"`
	Notes      []string // of round-without-baseline, noisy-cell and control-differs; nil: not given
}

type sweepRow struct {
	Cell      string
	N         int
	Flags     []string
	Ratio     *float64
	Method    string
	Lo, Hi    *float64
	Lo90      *float64
	Hi90      *float64
	P         *float64
	PAdjusted *float64 `json:"p_adjusted"`
	Verdict   string
	Material  string
	Reason    string
}

func TestReferenceSweeps(t *testing.T) {
	for _, folder := range caseFolders() {
		dirs, err := filepath.Glob(filepath.Join(folder, "sweeps", "*"))
		if err != nil || len(dirs) == 0 && folder == "testdata" {
			t.Fatalf("no sweeps in %s: %v", folder, err)
		}
		for _, dir := range dirs {
			t.Run(filepath.Base(folder)+"/"+filepath.Base(dir), func(t *testing.T) {
				var want sweepCase
				readJSON(t, filepath.Join(dir, "expected.json"), &want)
				s, set := readSweep(t, filepath.Join(dir, "runs.csv"), want)
				got, err := New().Analyse(s, set)
				if err != nil {
					t.Fatal(err)
				}
				finite(t, got)
				checkRows(t, want, got)
				checkNotes(t, want, got)
				checkFamily(t, want, s)
			})
		}
	}
}

// readSweep builds the sweep of a runs.csv. The metric is a rate with the case's
// direction, or a tail quantile.
func readSweep(t *testing.T, file string, c sweepCase) (experiment.Sweep, experiment.Settings) {
	t.Helper()
	set := experiment.Settings{Metric: "throughput", Confidence: c.Settings.Confidence, MinimumEffect: c.Settings.MinEffect, ErrorRate: 0.01}
	switch better := c.Settings.HigherIsBetter; {
	case better == nil:
		set.Metric = "offered"
	case !*better:
		set.Metric = "latency_p99"
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	s := experiment.Sweep{Rounds: c.Rounds, Settings: set}
	names := []string{c.Settings.Baseline}
	if c.Settings.Control != nil {
		names = append(names, *c.Settings.Control)
	}
	for _, r := range c.Rows {
		if !slices.Contains(names, r.Cell) {
			names = append(names, r.Cell)
		}
	}
	for i, name := range names {
		cell := experiment.Cell{Key: experiment.CellKey(name), Stage: experiment.MainStage, Role: experiment.RoleVaried}
		switch {
		case i == 0:
			cell.Role = experiment.RoleBaseline
		case c.Settings.Control != nil && name == *c.Settings.Control:
			cell.Role = experiment.RoleControl
		}
		s.Cells = append(s.Cells, cell)
	}
	for i, r := range rows[1:] {
		run := experiment.RunRecord{Run: experiment.Run{ID: int64(i + 1), Cell: experiment.CellKey(r[1]), State: experiment.RunState(r[3]), Reason: r[4]}}
		if r[0] != "" {
			run.Round = parse(t, r[0])
		}
		if r[2] != "" {
			v, err := strconv.ParseFloat(r[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			run.Observations = []experiment.Observation{{Metric: set.Metric, Phase: experiment.PhaseMeasure, Value: v}}
		}
		s.Runs = append(s.Runs, run)
	}
	return s, set
}

func parse(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func checkRows(t *testing.T, want sweepCase, got experiment.Results) {
	t.Helper()
	if len(got.Comparisons) != len(want.Rows) {
		t.Fatalf("got %d comparisons, want %d", len(got.Comparisons), len(want.Rows))
	}
	for _, w := range want.Rows {
		i := slices.IndexFunc(got.Comparisons, func(c experiment.Comparison) bool { return string(c.Cell) == w.Cell })
		if i < 0 {
			t.Errorf("no comparison of %s", w.Cell)
			continue
		}
		g := got.Comparisons[i]
		row := sweepRow{
			Cell: w.Cell, N: g.N, Ratio: g.Estimate, Method: string(g.Method), Lo: g.Low, Hi: g.High, Lo90: g.EqLow, Hi90: g.EqHigh,
			P: g.P, PAdjusted: g.PAdjusted, Verdict: string(g.Verdict), Material: string(g.Material), Reason: g.Reason,
		}
		for _, f := range g.Flags {
			row.Flags = append(row.Flags, string(f))
		}
		slices.Sort(row.Flags)
		slices.Sort(w.Flags)
		w.Flags = append([]string(nil), w.Flags...)
		if w.Reason == "" && w.Verdict != string(experiment.VerdictNotTested) {
			row.Reason = "" // of fails and invalid: prose
		}
		agree := cmp.Comparer(want.Tolerance.agree)
		if diff := cmp.Diff(row, w, agree); diff != "" {
			t.Errorf("%s (got -, want +):\n%s", w.Cell, diff)
		}
	}
}

// checkNotes wants the notes that a case names, and flags on noisy cells.
func checkNotes(t *testing.T, want sweepCase, got experiment.Results) {
	t.Helper()
	noisy, flagged, notes := []string{}, []string{}, []string{}
	for _, n := range got.Notes {
		if slices.Contains([]string{NoteWithoutBaseline, NoteNoisyCell, NoteControlDiffers}, n.Code) {
			notes = append(notes, n.Code)
		}
		if n.Code == NoteNoisyCell {
			noisy = append(noisy, string(n.Cell))
		}
	}
	for _, i := range got.Intervals {
		if slices.Contains(i.Flags, experiment.FlagNoisy) {
			flagged = append(flagged, string(i.Cell))
		}
	}
	if want.Noisy == nil {
		want.Noisy = []string{}
	}
	slices.Sort(notes)
	slices.Sort(want.Notes)
	if diff := cmp.Diff(notes, want.Notes); want.Notes != nil && diff != "" {
		t.Errorf("notes (got -, want +):\n%s", diff)
	}
	if diff := cmp.Diff(noisy, want.Noisy); diff != "" {
		t.Errorf("noisy cells noted (got -, want +):\n%s", diff)
	}
	if diff := cmp.Diff(flagged, want.Noisy); diff != "" {
		t.Errorf("noisy cells flagged (got -, want +):\n%s", diff)
	}
}

// checkFamily looks at what the rows do not show: the size of the family and the
// fit.
func checkFamily(t *testing.T, want sweepCase, s experiment.Sweep) {
	t.Helper()
	a, err := arrange(s)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := experiment.MetricByName(s.Settings.Metric)
	fam := a.families[0]
	var others []Sample
	for _, c := range fam.cells {
		if c.cell.Role == experiment.RoleVaried {
			others = append(others, c.sample(m, fam.stage.paired, 1))
		}
	}
	f := CompareFamily(fam.baseline.sample(m, fam.stage.paired, 1), others, Options{Metric: m, Confidence: s.Settings.Confidence, MinimumEffect: s.Settings.MinimumEffect})
	if f.Tested != want.FamilySize {
		t.Errorf("family of %d, want %d", f.Tested, want.FamilySize)
	}
	if want.ResidualDF != 0 && (f.ResidualDF != want.ResidualDF || !want.Tolerance.agree(f.ResidualSD, want.ResidualSD)) {
		t.Errorf("residual %d df, sd %v; want %d, %v", f.ResidualDF, f.ResidualSD, want.ResidualDF, want.ResidualSD)
	}
}

// finite fails on any NaN or infinity: they have no JSON form.
func finite(t *testing.T, r experiment.Results) {
	t.Helper()
	if _, err := json.Marshal(r); err != nil {
		t.Fatalf("results: %v", err)
	}
	for _, c := range r.Comparisons {
		for _, v := range []*float64{c.Estimate, c.Low, c.High, c.EqLow, c.EqHigh, c.P, c.PAdjusted} {
			if v != nil && math.IsNaN(*v) {
				t.Fatalf("NaN in %+v", c)
			}
		}
	}
}
