package db

import (
	"context"
	"fmt"
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

// wide is a sweep of many cells, with all its runs.
func wide(b *testing.B, d *DB, cells, rounds, metrics int) (int64, experiment.Results) {
	b.Helper()
	ctx := context.Background()
	m := testMatrix()
	m.Factors[0].Levels = nil
	for i := range cells - 2 { // beside the control and log=debug
		m.Factors[0].Levels = append(m.Factors[0].Levels, experiment.Level{Text: fmt.Sprint(i)})
	}
	spec := testSpec()
	spec.Matrix, spec.Hash, spec.Cells, spec.Rounds = m, m.Hash(), m.Cells(), rounds
	head, err := d.BeginSweep(ctx, spec)
	if err != nil {
		b.Fatal(err)
	}
	if err := d.Reschedule(ctx, head.ID, experiment.Reschedule{Add: experiment.Schedule(spec.Cells, rounds, 1)}); err != nil {
		b.Fatal(err)
	}
	names := make([]string, metrics)
	for i := range names {
		names[i] = fmt.Sprintf("service%d.metric", i)
		if _, err := d.pool.ExecContext(ctx, `INSERT INTO quantities (metric, phase, unit) VALUES (?, 'measure', 's')`, names[i]); err != nil {
			b.Fatal(err)
		}
	}
	for _, text := range []string{
		`UPDATE runs SET state = 'ok', seq = id, began = id, ended = id + 1, config_hash = 'c0ffee'`,
		`INSERT INTO observed (run, quantity, value) SELECT r.id, q.id, 1000.0 + r.id * 1.25 + q.id FROM runs r JOIN quantities q WHERE q.phase = 'measure'`,
	} {
		if _, err := d.pool.ExecContext(ctx, text); err != nil {
			b.Fatal(err)
		}
	}
	return head.ID, wideResults(spec.Cells, names, rounds)
}

func wideResults(cells []experiment.Cell, names []string, rounds int) experiment.Results {
	var out experiment.Results
	one := testResults(cells, 3)
	for _, name := range names {
		for _, i := range one.Intervals {
			i.Metric, i.Values = name, nil
			for r := range rounds {
				i.Values = append(i.Values, 1000.123456+float64(r)*1.7)
			}
			out.Intervals = append(out.Intervals, i)
		}
		for _, k := range one.Comparisons {
			k.Metric, k.Secondary = name, name != names[0]
			out.Comparisons = append(out.Comparisons, k)
		}
	}
	return out
}

// BenchmarkWide stores and reads the results of 200 cells and 30 metrics, and what they
// are made of: 20 rounds.
func BenchmarkWide(b *testing.B) {
	ctx := b.Context()
	d := openAt(b, testPath(b))
	sweep, results := wide(b, d, 200, 20, 30)
	if err := d.ReplaceResults(ctx, sweep, results); err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]func() error{
		"LoadSweep":      func() error { _, err := d.LoadSweep(ctx, sweep); return err },
		"Results":        func() error { _, err := d.Results(ctx, sweep); return err },
		"ReplaceResults": func() error { return d.ReplaceResults(ctx, sweep, results) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
