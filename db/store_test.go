package db

import (
	"context"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

func TestWholeSweep(t *testing.T) {
	ctx := context.Background()
	path := testPath(t)
	d := openAt(t, path)
	head, spec := begin(t, d, 3)
	pending, err := d.Pending(ctx, head.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(pending), 3*len(spec.Cells); got != want {
		t.Fatalf("%d pending runs, want %d", got, want)
	}
	for _, r := range pending {
		runOne(t, d, r, 100)
	}
	s, err := d.LoadSweep(ctx, head.ID)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range s.Runs {
		if r.State != experiment.StateOK || r.Seq != i+1 || len(r.Observations) != 3 {
			t.Errorf("run %d: state %s, seq %d, %d observations", r.ID, r.State, r.Seq, len(r.Observations))
		}
	}
	single, err := d.Close(ctx)
	if err != nil || !single {
		t.Fatalf("close: single %v, error %v", single, err)
	}
	r := readAt(t, path)
	sum, err := r.Sweeps(ctx)
	if err != nil || len(sum) != 1 || sum[0].OK != len(pending) {
		t.Fatalf("%+v, %v", sum, err)
	}
}
