package db

import (
	"regexp"
	"slices"
	"testing"
)

// TestPlansAreIndexed: whoever asks for one sweep, run or chain reads only its rows,
// however many others there are.
func TestPlansAreIndexed(t *testing.T) {
	d := openAt(t, testPath(t))
	views, err := d.Views(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]string{}
	for _, v := range views {
		for _, column := range []string{"sweep", "run", "chain"} {
			if slices.Contains(v.Columns, column) {
				asked[v.Name+" by "+column] = "SELECT * FROM " + v.Name + " WHERE " + column + " = 1"
			}
		}
	}
	entries, err := queryFiles.ReadDir("queries")
	if err != nil {
		t.Fatal(err)
	}
	ofAll := []string{"controls.sql", "names.sql", "quantities.sql", "sweeps.sql", "views.sql"}
	for _, e := range entries {
		if !slices.Contains(ofAll, e.Name()) {
			asked[e.Name()] = query(e.Name())
		}
	}
	// JSON, what an inner query gives, and chains, which are as many as there are sweeps.
	allowed := regexp.MustCompile(`^SCAN (\w+ VIRTUAL TABLE|CONSTANT ROW|\(subquery-\d+\)|masking$|q$|n$|sweeps$|a$|b$|back$|ahead$)`)
	small := regexp.MustCompile(`^SEARCH s USING AUTOMATIC COVERING INDEX \(stage=\?\)$`)
	whole := regexp.MustCompile(`^SCAN|AUTOMATIC`)
	for name, text := range asked {
		for _, step := range plan(t, d, text) {
			if whole.MatchString(step) && !allowed.MatchString(step) && !small.MatchString(step) {
				t.Errorf("%s: %s", name, step)
			}
		}
	}
}

// plan gives the steps of a statement; its parameters are not bound.
func plan(t *testing.T, d *DB, text string) []string {
	t.Helper()
	rows, err := d.pool.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+regexp.MustCompile(`\?\d`).ReplaceAllString(text, "'1'"))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil || len(steps) == 0 {
		t.Fatalf("%d steps, %v", len(steps), err)
	}
	return steps
}
