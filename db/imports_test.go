package db

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// given is a file that is imported as a run.
type given struct {
	cell  string
	round int
	file  string // its content, too
}

// imported stores files, in one call.
func imported(t *testing.T, d *DB, replace bool, files ...given) ([]int64, error) {
	t.Helper()
	ctx := t.Context()
	sweep, err := experiment.NewImported("week")
	if err != nil {
		t.Fatal(err)
	}
	id, err := d.Imported(ctx, sweep.Hash())
	if err != nil {
		t.Fatal(err)
	}
	if id != 0 {
		s, err := d.Outline(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		sweep = experiment.ImportedOf(s)
	}
	var cells []experiment.Cell
	for _, g := range files {
		choice, err := experiment.ParseCell(g.cell)
		if err != nil {
			t.Fatal(err)
		}
		c, err := sweep.Add(choice)
		if err != nil {
			t.Fatal(err)
		}
		cells = append(cells, c)
	}
	spec := experiment.ImportSpec{
		Matrix: sweep.Matrix, Hash: sweep.Hash(), Cells: sweep.Matrix.Cells(), Replace: replace,
		Invocation: experiment.Invocation{Command: []string{"ceteris", "import"}, Version: "test"},
	}
	for i, g := range files {
		spec.Runs = append(spec.Runs, importedOutcome(relabelled(spec.Cells, cells[i]), g))
	}
	_, runs, err := d.Import(ctx, spec)
	return runs, err
}

// relabelled finds a cell again after others were added: its key has grown.
func relabelled(all []experiment.Cell, c experiment.Cell) experiment.Cell {
	for _, o := range all {
		if o.Label() == c.Label() {
			return o
		}
	}
	return c
}

func importedOutcome(c experiment.Cell, g given) experiment.JudgedRun {
	var r experiment.JudgedRun
	r.Run = experiment.Run{Cell: c.Key, Round: g.round, State: experiment.StateOK, ConfigHash: "c0ffee"}
	if strings.HasPrefix(g.file, "timed") {
		r.Run.Began = testTime()
		r.Run.Ended = testTime().Add(time.Minute)
	}
	r.Observations = []experiment.Observation{{Metric: "throughput", Phase: experiment.PhaseMeasure, Value: float64(g.round), Unit: experiment.UnitPerSecond}}
	r.Result = experiment.LoadResult{Tool: "k6 0.49.0", Format: "summary-export", Window: time.Minute, Statuses: map[string]int64{"200": 60}}
	r.Import = &experiment.Import{Reader: "k6", File: g.file, SHA256: "sha of " + g.file, Size: 7, Skip: time.Second}
	r.Artifacts = []experiment.Artifact{{Service: "generator", Name: g.file, Body: []byte(g.file)}}
	r.Findings = []experiment.Finding{{Code: "imported", Severity: experiment.SeverityNote, Message: "Of a file."}}
	return r
}

func mustImport(t *testing.T, d *DB, files ...given) {
	t.Helper()
	if _, err := imported(t, d, false, files...); err != nil {
		t.Fatal(err)
	}
}

func TestImportedSweepGrows(t *testing.T) {
	d := openAt(t, testPath(t))
	begin(t, d, 1) // one that is measured stays as it is
	before := texts(t, d, `SELECT key || position FROM cells WHERE sweep = 1 ORDER BY id`)
	mustImport(t, d, given{"pool=64", 1, "a"})
	mustImport(t, d, given{"baseline", 1, "timed b"}, given{"baseline", 2, "c"})
	mustImport(t, d, given{"log=off,pool=8", 4, "d"})
	for q, want := range map[string][]string{
		`SELECT runner || rounds || seed || json_extract(host, '$.name') || json_extract(matrix, '$.name') FROM sweeps WHERE id = 2`:                 {"imported30week"},
		`SELECT name || ':' || level || ':' || baseline FROM factors f JOIN levels l ON l.factor = f.position AND l.sweep = f.sweep AND f.sweep = 2`: {"log:baseline:1", "log:off:0", "pool:8:0", "pool:64:0", "pool:baseline:1"},
		`SELECT position || ' ' || key || ' ' || label FROM cells WHERE sweep = 2 ORDER BY position`: {
			"0 main|baseline|log=baseline|pool=baseline| baseline", "1 main|varied|log=baseline|pool=64| pool=64", "2 main|corner|log=off|pool=8| log=off,pool=8",
		},
		`SELECT label || ' ' || round || ' ' || tool || ' ' || format || ' ' || file || ' ' || skip_ns || ' ' || imported FROM imported_runs`: {
			fmt.Sprintf("baseline 1 k6 0.49.0 summary-export timed b 1000000000 %d", testTime().UnixNano()),
			fmt.Sprintf("baseline 2 k6 0.49.0 summary-export c 1000000000 %d", testTime().UnixNano()),
			fmt.Sprintf("pool=64 1 k6 0.49.0 summary-export a 1000000000 %d", testTime().UnixNano()),
			fmt.Sprintf("log=off,pool=8 4 k6 0.49.0 summary-export d 1000000000 %d", testTime().UnixNano()),
		},
		`SELECT label || ' ' || round || ' ' || value FROM run_metrics WHERE sweep = 2 ORDER BY run`:       {"pool=64 1 1.0", "baseline 1 1.0", "baseline 2 2.0", "log=off,pool=8 4 4.0"},
		`SELECT (began IS NULL) || (ended IS NULL) || (seq IS NULL) FROM runs WHERE sweep = 2 ORDER BY id`: {"111", "001", "111", "111"},
		`SELECT outcome || (ended IS NOT NULL) FROM invocations WHERE sweep = 2`:                           {"imported1", "imported1", "imported1"},
		`SELECT count(*) FROM artifacts a JOIN runs r ON r.id = a.run WHERE r.sweep = 2`:                   {"4"},
		`SELECT code || (run IS NOT NULL) || (cell IS NOT NULL) || judged FROM findings WHERE sweep = 2`:   {"imported11run", "imported11run", "imported11run", "imported11run"},
		`SELECT count(*) FROM pragma_foreign_key_check`:                                                    {"0"},
	} {
		if diff := cmp.Diff(want, texts(t, d, q)); diff != "" {
			t.Errorf("%s: %s", q, diff)
		}
	}
	if diff := cmp.Diff(before, texts(t, d, `SELECT key || position FROM cells WHERE sweep = 1 ORDER BY id`)); diff != "" {
		t.Error(diff)
	}
	s, err := d.LoadSweep(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Runs) != 4 || len(s.Cells) != 3 || s.Cells[1].Label() != "pool=64" || len(s.Cells[1].Settings) != 2 {
		t.Errorf("%+v", s)
	}
}

func TestImportRefusesWhatIsThere(t *testing.T) {
	for _, tt := range []struct {
		name    string
		replace bool
		file    given
		want    string // of the error; empty: it is stored
	}{
		{"another round", false, given{"pool=8", 2, "new"}, ""},
		{"a cell and round that is there", false, given{"pool=8", 1, "new"}, "pool=8 in round 1 is run 2, of b"},
		{"the same, replaced", true, given{"pool=8", 1, "new"}, ""},
		{"the same file", false, given{"pool=8", 1, "b"}, "b (SHA-256 sha of b) is run 2, pool=8 in round 1"},
		{"the same file, read anew", true, given{"pool=8", 1, "b"}, ""},
		{"the same file in another round", false, given{"pool=8", 2, "b"}, "b (SHA-256 sha of b) is run 2, pool=8 in round 1"},
		{"the same file in another cell, whatever is replaced", true, given{"baseline", 1, "b"}, "b (SHA-256 sha of b) is run 2, pool=8 in round 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := openAt(t, testPath(t))
			mustImport(t, d, given{"baseline", 1, "a"}, given{"pool=8", 1, "b"})
			_, err := imported(t, d, tt.replace, tt.file)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, experiment.ErrAlreadyImported) || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
			if got := texts(t, d, `SELECT count(*) || (SELECT count(*) FROM invocations) FROM runs`); got[0] != "21" {
				t.Errorf("%v of a call that was refused", got)
			}
		})
	}
}

// TestImportSupersedes: a run that is replaced is kept, and its file may come again.
func TestImportSupersedes(t *testing.T) {
	d := openAt(t, testPath(t))
	mustImport(t, d, given{"baseline", 1, "a"}, given{"baseline", 2, "b"})
	for _, file := range []string{"c", "a"} {
		if _, err := imported(t, d, true, given{"baseline", 1, file}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"a 1 superseded ok", "b 1 ok ", "c 2 superseded ok", "a 3 ok "}
	if diff := cmp.Diff(want, texts(t, d, `SELECT file || ' ' || attempt || ' ' || state || ' ' || reason FROM imported_runs ORDER BY run`)); diff != "" {
		t.Error(diff)
	}
}

// TestImportIsWhole: of a call in which one file is refused nothing is stored.
func TestImportIsWhole(t *testing.T) {
	d := openAt(t, testPath(t))
	_, err := imported(t, d, false, given{"pool=8", 1, "a"}, given{"log=off", 1, "b"}, given{"baseline", 1, "a"})
	if !errors.Is(err, experiment.ErrAlreadyImported) {
		t.Fatal(err)
	}
	if got := texts(t, d, `SELECT (SELECT count(*) FROM sweeps) || (SELECT count(*) FROM runs) || (SELECT count(*) FROM cells)`); got[0] != "000" {
		t.Errorf("%v", got)
	}
}

// TestImportedIsNoSweepToContinue: a matrix of the same name begins another.
func TestImportedIsNoSweepToContinue(t *testing.T) {
	ctx := context.Background()
	d := openAt(t, testPath(t))
	mustImport(t, d, given{"baseline", 1, "a"})
	spec := testSpec()
	m := *spec.Matrix
	m.Name = "week"
	spec.Matrix = &m
	head, err := d.BeginSweep(ctx, spec)
	if err != nil || head.ID != 2 || head.Continued {
		t.Errorf("%+v, %v", head, err)
	}
	if got := texts(t, d, `SELECT outcome FROM invocations WHERE sweep = 1`); got[0] != outcomeImported {
		t.Errorf("%v", got)
	}
	id, err := d.Resolve(ctx, "latest")
	if err != nil || id != 2 {
		t.Errorf("latest is %d, %v", id, err)
	}
}
