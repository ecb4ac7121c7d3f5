package db

import (
	"context"
	"os"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// BenchmarkEndRun stores runs of 400 slices with nine metrics each and reports
// the bytes that a run takes in the file.
func BenchmarkEndRun(b *testing.B) {
	ctx := context.Background()
	path := testPath(b)
	d := openAt(b, path)
	head, spec := begin(b, d, 1)
	if err := d.Checkpoint(ctx); err != nil {
		b.Fatal(err)
	}
	before := fileSize(b, path)
	runs := 0
	for round := 2; b.Loop(); runs++ {
		b.StopTimer()
		round++
		add := experiment.Run{Cell: spec.Cells[0].Key, Round: round, Attempt: 1}
		if err := d.Reschedule(ctx, head.ID, experiment.Reschedule{Add: []experiment.Run{add}}); err != nil {
			b.Fatal(err)
		}
		all := allRuns(b, d, head.ID)
		run := beginRun(b, d, all[len(all)-1])
		o := testOutcome(run, 400)
		b.StartTimer()
		if err := d.EndRun(ctx, o, nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := d.Checkpoint(ctx); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(fileSize(b, path)-before)/float64(runs), "B/run")
}

func fileSize(tb testing.TB, path string) int64 {
	tb.Helper()
	info, err := os.Stat(path)
	if err != nil {
		tb.Fatal(err)
	}
	return info.Size()
}
