package db

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestViewOfInteractions(t *testing.T) {
	d := openAt(t, testPath(t))
	head, spec := begin(t, d, 3)
	r := testResults(spec.Cells, 3)
	stage := r.Changes[0]
	stage.Kind = experiment.ChangeStage // no interaction
	r.Changes = append(r.Changes, stage)
	if err := d.ReplaceResults(t.Context(), head.ID, r); err != nil {
		t.Fatal(err)
	}
	got := texts(t, d, `SELECT concat_ws('|', kind, stage, role, label, metric, of_factor, of_level, from_label, scale, effect_before, effect_after,
		estimate, low, high, verdict, material, flags, state, settings_hash, analysis_version) FROM interactions`)
	want := []string{
		`interaction|main|varied|log=debug|throughput|log|debug|pool=1|ratio|1.2|0.6|0.5|0.4|0.6|lower|proven|["Reversal"]|final|s|1`,
		`condition|main|varied|pool=1.10|app.cpu|pool|1|pool=1|difference|not-tested|[]|stopped: 2 of 3|s|1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// peel begins a sweep of one stage that follows another in a peel.
func peel(t *testing.T, d *DB, stage string, parent int64) (int64, []experiment.Cell) {
	t.Helper()
	spec := testSpec()
	m := *spec.Matrix
	m.Design.Stages = []experiment.Stage{{Name: stage}}
	spec.Matrix, spec.Hash, spec.Cells, spec.PeelParent = &m, m.Hash(), m.Cells(), parent
	head, err := d.BeginSweep(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return head.ID, spec.Cells
}

// TestMaskingJoinsAPeel: the stages of a chain stand one below the other, each beside
// its change against the stage before, which is in another sweep.
func TestMaskingJoinsAPeel(t *testing.T) {
	d := openAt(t, testPath(t))
	alone, cells := peel(t, d, "main", 0)
	if err := d.ReplaceResults(t.Context(), alone, testResults(cells, 3)); err != nil {
		t.Fatal(err)
	}
	before, was := int64(0), []experiment.Cell(nil)
	var want []experiment.Change
	for _, stage := range []string{"peel-1", "peel-2", "peel-3"} {
		id, cells := peel(t, d, stage, before)
		r := testResults(cells, 3)
		r.Changes = nil
		if before != 0 {
			h := testChanges(cells)[0]
			h.Kind, h.Cell, h.From, h.FromSweep, h.Method = experiment.ChangeStage, cells[4].Key, was[4].Key, before, experiment.MethodWelch
			r.Changes = []experiment.Change{h}
			want = append(want, h)
		}
		if err := d.ReplaceResults(t.Context(), id, r); err != nil {
			t.Fatal(err)
		}
		before, was = id, cells
	}
	var stored []experiment.Change
	for _, id := range []int64{3, 4} {
		r, err := d.Results(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, r.Changes...)
	}
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Error(diff)
	}
	rows := `SELECT concat_ws('|', chain, sweep, stage, estimate, verdict, coalesce(from_stage, 'none'), change, change_low, change_high, change_verdict, places) FROM masking WHERE factor = 'log'`
	chain := []string{
		"2|2|peel-1|4.5|worse|none|1",
		"2|3|peel-2|4.5|worse|peel-1|0.5|0.4|0.6|lower|1",
		"2|4|peel-3|4.5|worse|peel-2|0.5|0.4|0.6|lower|1",
	}
	for where, want := range map[string][]string{
		"":                append([]string{"1|1|main|4.5|worse|none|1"}, chain...),
		" AND chain = 2":  chain,
		" AND sweep = 3":  chain[1:2],
		" AND chain = 77": nil,
	} {
		if diff := cmp.Diff(want, texts(t, d, rows+where)); diff != "" {
			t.Errorf("%s: %s", where, diff)
		}
	}
}

func TestViewsOfResponses(t *testing.T) {
	d := openAt(t, testPath(t))
	head, spec := begin(t, d, 3)
	if err := d.ReplaceResults(t.Context(), head.ID, testResults(spec.Cells, 3)); err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string][]string{
		`SELECT concat_ws('|', stage, factor, metric, trend, test, p, knee, knee_after, usl_peak, usl ->> 'kappa', best, smallest, state, settings_hash) FROM responses`: {
			"main|pool|throughput|rising|page|0.01|4.0|1.0|22.0|0.002|8|1.10|final|s",
			"main|pool|app.cpu|not-tested|0|interim: 2 of 3|s",
		},
		`SELECT concat_ws('|', level, value, n, mean, fit, analysis_version) FROM response_levels WHERE metric = 'throughput'`: {"1|1|3|10|9.5|1", "1.10|1.1|3|9|9.5|1", "8|8|3|60|60|1"},
	} {
		if diff := cmp.Diff(want, texts(t, d, q)); diff != "" {
			t.Errorf("%s: %s", q, diff)
		}
	}
}
