package db

import (
	"io/fs"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"github.com/ceteris/ceteris/experiment"
)

// older makes a file of an older version, and fills it.
func older(t *testing.T, path string, version int64, data string) {
	t.Helper()
	p := pool(path, writePragmas, false)
	defer p.Close()
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	m, err := goose.NewProvider(goose.DialectSQLite3, p, files, goose.WithDisableGlobalRegistry(true), goose.WithSlog(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	if _, err := p.ExecContext(t.Context(), data); err != nil {
		t.Fatal(err)
	}
}

// TestMigrationForImports: a file of the sixth version takes runs that were measured
// elsewhere, and what it holds stays.
func TestMigrationForImports(t *testing.T) {
	path := testPath(t)
	older(t, path, 6, `
		INSERT INTO identity VALUES (1, 'abc', 1);
		INSERT INTO sweeps (id, hash, serial, name, question, runner, seed, rounds, matrix, source, file, sha256, settings, placement, host, began)
		VALUES (1, 'h', 1, 'demo', '', 'process', '1', 1, '{}', '', '', '', '{}', '{}', '{}', 1);
		INSERT INTO cells (id, sweep, position, key, stage, role, condition, label) VALUES (1, 1, 0, 'b', 'main', 'baseline', '', 'baseline');
		INSERT INTO runs (id, sweep, cell, round, attempt, seq, state, reason, config_hash) VALUES (1, 1, 1, 1, 1, 1, 'ok', '', '');
		INSERT INTO quantities VALUES (1, 'throughput', 'measure', '1/s');
		INSERT INTO observed VALUES (1, 1, 2.5)`)
	d := openAt(t, path)
	mustImport(t, d, given{"pool=8", 1, "a"})
	for q, want := range map[string][]string{
		`SELECT sweep || label || state || value FROM run_metrics ORDER BY run`: {"1baselineok2.5", "2pool=8ok1.0"},
		`SELECT run || file FROM imported_runs`:                                 {"2a"},
		`SELECT integrity_check FROM pragma_integrity_check`:                    {"ok"},
		`SELECT count(*) FROM pragma_foreign_key_check`:                         {"0"},
	} {
		if diff := cmp.Diff(want, texts(t, d, q)); diff != "" {
			t.Errorf("%s: %s", q, diff)
		}
	}
}

// TestDataSurvivesMigration: what a file of the second version holds is there
// afterwards, in the views and tables that are asked for it.
func TestDataSurvivesMigration(t *testing.T) {
	path := testPath(t)
	older(t, path, 2, `
		INSERT INTO identity VALUES (1, 'abc', 1);
		INSERT INTO sweeps VALUES (1, 'h', 1, 'demo', '', 'process', '1', 1, '{}', '', '', '', '{}', '{}', '{}', 1);
		INSERT INTO factors VALUES (1, 0, 'pool', '');
		INSERT INTO levels VALUES (1, 0, 0, '1', 1), (1, 0, 1, '8', 0);
		INSERT INTO cells VALUES (1, 1, 0, 'b', 'main', 'baseline', NULL, NULL, '', 'baseline'), (2, 1, 1, 'v', 'main', 'varied', 'pool', '8', '', 'pool=8');
		INSERT INTO cell_settings VALUES (1, 0, 'pool', '1'), (2, 0, 'pool', '8');
		INSERT INTO runs (id, sweep, cell, round, attempt, state, reason, config_hash) VALUES (1, 1, 1, 1, 1, 'ok', '', ''), (2, 1, 2, 1, 1, 'ok', '', '');
		INSERT INTO series_columns VALUES (1, 0, 'done'), (1, 1, 'p50'), (2, 0, 'done');
		INSERT INTO series_slices VALUES (1, '', -50, 2, '[3]'), (1, '', 0, 1, '[4,0.25]'), (2, '', 0, 2, '[7]'), (2, 'app', 10, 2, '[0.5]');
		INSERT INTO observations VALUES (1, 'measure', 'throughput', 2.5, '1/s'), (1, 'warmup', 'throughput', 1.5, '1/s'), (2, 'measure', 'throughput', 3.5, '1/s');
		INSERT INTO histograms VALUES (1, 'measure', '', 'success', 4, 0, x'01');
		INSERT INTO intervals VALUES (1, 1, 'throughput', '1/s', 3, 2, 1, 3, 0.95, 't', 2, 1, 3, 0.1, '[1,2,3]', '[]', 'final');
		INSERT INTO analyses VALUES (1, 1, 1, 1, '[]', 'hash', 'v1');
		INSERT INTO comparisons VALUES (1, 2, 'throughput', 0, 'ratio', 2, 1, 3, 0.95, 1, 3, 0.1, 0.2, 3, 'own', 'better', 'why', 'proven', 4, '["Noisy"]', 'final', 'hash', 'v1');
		INSERT INTO findings (sweep, judged, code, severity, service, metric, message) VALUES (1, 'sweep', 'spread', 'note', '', '', '')`)
	d := openAt(t, path)
	for q, want := range map[string][]string{
		`SELECT run || ' ' || service || ' ' || metric || ' ' || at_ms || ' ' || value FROM series ORDER BY run, service, metric, at_ms`: {
			"1  done -50 3.0", "1  done 0 4.0", "1  p50 0 0.25", "2  done 0 7.0", "2 app done 10 0.5",
		},
		`SELECT run || phase || metric || value || unit FROM observations ORDER BY run, phase`:                                                   {"1measurethroughput2.51/s", "1warmupthroughput1.51/s", "2measurethroughput3.51/s"},
		`SELECT run || kind || hex(blob) FROM histograms`:                                                                                        {"1success01"},
		`SELECT metric || n || estimate || low || high || state FROM confidence_intervals`:                                                       {"throughput32.01.03.0final"},
		`SELECT cell || metric || estimate || verdict || reason || rounds_needed || flags || settings_hash || analysis_version FROM comparisons`: {`2throughput2.0betterwhy4["Noisy"]hashv1`},
		`SELECT run_values || flags FROM intervals`:                                                                                              {"[1,2,3][]"},
		`SELECT cell || factor || level || off FROM cell_settings ORDER BY cell`:                                                                 {"1pool10", "2pool81"},
		`SELECT count(*) FROM cells WHERE summary = 0`:                                                                                           {"2"},
		`SELECT foreign_keys || integrity_check FROM pragma_foreign_keys, pragma_integrity_check`:                                                {"1ok"},
		`SELECT count(*) FROM pragma_foreign_key_check`:                                                                                          {"0"},
		`SELECT id FROM identity`: {"abc"},
		`SELECT count(*) FROM sqlite_master WHERE name LIKE 'old_%' OR name LIKE 'series_slices%'`:      {"0"},
		`SELECT group_concat(condition || unset) FROM factors f JOIN levels l ON l.factor = f.position`: {"00,00"},
	} {
		if diff := cmp.Diff(want, texts(t, d, q)); diff != "" {
			t.Errorf("%s: %s", q, diff)
		}
	}
}

// TestMigrationForStatistics: a file of the seventh version keeps its results, which
// are named by the settings of their sweep, and takes those of today.
func TestMigrationForStatistics(t *testing.T) {
	path := testPath(t)
	older(t, path, 7, `
		INSERT INTO identity VALUES (1, 'abc', 1);
		INSERT INTO sweeps (id, hash, serial, name, question, runner, seed, rounds, matrix, source, file, sha256, settings, placement, host, began)
		VALUES (1, 'h', 1, 'demo', '', 'process', '1', 1, '{}', '', '', '', '{"metric":"throughput","minimum_effect":0.02}', '{}', '{"name":"here"}', 1),
		       (2, 'h', 2, 'demo', '', 'process', '1', 1, '{}', '', '', '', '{}', '{}', '{}', 1);
		INSERT INTO invocations (sweep, began, owner, command, version, share_host, placement, host, images, outcome)
		VALUES (1, 1, 'o', '[]', 'v0', 0, '{}', '{}', '{"image:a":"sha256:1"}', 'done');
		INSERT INTO factors (sweep, position, name, unit) VALUES (1, 0, 'pool', '');
		INSERT INTO levels (sweep, factor, position, level, baseline) VALUES (1, 0, 0, '1', 1), (1, 0, 1, '8', 0);
		INSERT INTO cells (id, sweep, position, key, stage, role, factor, level, condition, label)
		VALUES (1, 1, 0, 'b', 'main', 'baseline', NULL, NULL, '', 'baseline'), (2, 1, 1, 'v', 'main', 'varied', 'pool', '8', '', 'pool=8');
		INSERT INTO cell_settings (cell, position, factor, level, off) VALUES (1, 0, 'pool', '1', 0), (2, 0, 'pool', '8', 1);
		INSERT INTO runs (id, sweep, cell, round, attempt, state, reason, config_hash) VALUES (1, 1, 1, 1, 1, 'ok', '', ''), (2, 1, 2, 1, 1, 'ok', '', '');
		INSERT INTO analyses VALUES (1, 1, 1, 1, '[]', 'hash', 'v1');
		INSERT INTO intervals VALUES (1, 'throughput', 1, '1/s', 3, 2, 1, 3, 0.95, 't', 2, 1, 3, 0.1, 'final', '[]', '[1,2,3]');
		INSERT INTO intervals VALUES (1, 'throughput', 2, '1/s', 3, 4, 3, 5, 0.95, 't', 2, 1, 3, 0.1, 'interim: 3 of 5', '["FewRounds"]', '[3,4,5]');
		INSERT INTO compared VALUES (1, 2, 'throughput', 0, 'ratio', 2, 1, 3, 0.95, 1.1, 2.9, 0.1, 0.2, 3, 'own', 'better', 'why', 'proven', 4, '["Noisy"]', 'final')`)
	d := openAt(t, path)
	for q, want := range map[string][]string{
		`SELECT concat_ws('|', metric, role, n, estimate, low, high, method, state, settings_hash, analysis_version) FROM confidence_intervals`:                                                          {"throughput|baseline|3|2.0|1.0|3.0|t|final|hash|v1", "throughput|varied|3|4.0|3.0|5.0|t|interim: 3 of 5|hash|v1"},
		`SELECT concat_ws('|', median, minimum, maximum, cv, run_values, flags) FROM intervals`:                                                                                                          {"2.0|1.0|3.0|0.1|[1,2,3]|[]", `2.0|1.0|3.0|0.1|[3,4,5]|["FewRounds"]`},
		`SELECT concat_ws('|', cell, metric, secondary, scale, estimate, low, high, eq_low, eq_high, p, p_adjusted, n, method, verdict, reason, material, rounds_needed, flags, state) FROM comparisons`: {`2|throughput|0|ratio|2.0|1.0|3.0|1.1|2.9|0.1|0.2|3|own|better|why|proven|4|["Noisy"]|final`},
		`SELECT label || cell_value || baseline_value || verdict FROM comparison_table`:                                                                                                                  {"pool=84.02.0better"},
		`SELECT settings ->> 'minimum_effect' FROM analyses`:                                                                                                                                             {"0.02"},
		`SELECT concat_ws('|', chain, stage, estimate, verdict, change, places) FROM masking`:                                                                                                            {"1|main|2.0|better|1"},
		`SELECT integrity_check FROM pragma_integrity_check`:                                                                                                                                             {"ok"},
		`SELECT count(*) FROM pragma_foreign_key_check`:                                                                                                                                                  {"0"},
		`SELECT count(*) FROM sqlite_master WHERE name LIKE 'old_%'`:                                                                                                                                     {"0"},
	} {
		if diff := cmp.Diff(want, texts(t, d, q)); diff != "" {
			t.Errorf("%s: %s", q, diff)
		}
	}
	s, err := d.LoadSweep(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if s.Stopping != (experiment.Stopping{}) || s.PeelParent != 0 || s.Before != nil || s.Ended != "done" || s.Version != "v0" || len(s.Runs) != 2 || len(s.Images) != 1 {
		t.Errorf("%+v", s)
	}
	r, err := d.Results(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if r.Settings.Metric != "throughput" || r.Stop.Until != experiment.StopFixed || len(r.Intervals) != 2 || len(r.Comparisons) != 1 {
		t.Errorf("%+v", r)
	}
	r.Comparisons[0].State = "stopped: 3 of 5"
	if err := d.ReplaceResults(t.Context(), 1, r); err != nil {
		t.Error(err)
	}
	if n, err := d.LoadSweep(t.Context(), 2); err != nil || n.Version != "" {
		t.Errorf("a sweep that no invocation is known of: %v", err)
	}
}
