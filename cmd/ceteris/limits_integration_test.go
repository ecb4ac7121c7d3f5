//go:build integration

package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

// TestLimitsAreTold: where what is measured is a limit that requests wait at, each of the
// guards that look for one speaks.
func TestLimitsAreTold(t *testing.T) {
	k := newCampaign(t, program(t), experiment.RunnerProcess)
	k.takes("limits.yaml", 4, 1)
	k.finish()
	var said []string
	if err := k.query(`select code || ' (' || severity || ', ' || judged || '): ' || message from findings order by 1`, func(row []any) {
		said = append(said, row[0].(string))
	}); err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	if err := k.query(`select code || ' ' || severity || ' ' || judged from findings where code in
		('flat-load', 'in-flight-limit', 'window-short', 'generator-late')`, func(row []any) { told[row[0].(string)] = true }); err != nil {
		t.Fatal(err)
	}
	want := []string{"flat-load warn sweep", "generator-late note run", "in-flight-limit note run", "in-flight-limit note sweep", "window-short warn run"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(told))); diff != "" {
		t.Errorf("guards (-want +got):\n%s\nfindings:\n%q", diff, said)
	}
}
