package db

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

var dump = flag.Bool("dump", false, "keep the databases of the tests and print their paths")

// testPath gives the path of a database of the test; -dump keeps a copy.
func testPath(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	t.Cleanup(func() {
		if !*dump {
			return
		}
		kept := filepath.Join(os.TempDir(), "ceteris-"+filepath.Base(t.Name())+".db")
		for _, suffix := range []string{"", "-wal"} {
			if err := keep(path+suffix, kept+suffix); err == nil {
				t.Log("kept", kept+suffix)
			}
		}
	})
	return path
}

func keep(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func testTime() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 123456789, time.UTC) }

// openAt opens a database; the test closes it.
func openAt(t testing.TB, path string) *DB {
	t.Helper()
	d, err := Open(context.Background(), path, Options{Now: testTime})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.pool.Close() })
	return d
}

func readAt(t testing.TB, path string) *Reader {
	t.Helper()
	r, err := OpenReadOnly(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// testMatrix has two factors, control, and five cells.
func testMatrix() *experiment.Matrix {
	return &experiment.Matrix{
		Name: "demo", Question: "What does the pool do?", Runner: experiment.RunnerProcess,
		Factors: []experiment.Factor{
			{Name: "pool", Unit: "connections", Levels: []experiment.Level{{Text: "1"}, {Text: "8"}, {Text: "1.10"}}, Baseline: 1},
			{Name: "log", Levels: []experiment.Level{{Text: ""}, {Text: "debug"}}},
		},
		Control: true,
		Repeat:  experiment.RepeatPlan{Rounds: 3, Seed: 1<<63 + 7},
		Judge:   experiment.Settings{Metric: "throughput", MinimumEffect: 0.03, Confidence: 0.95, ErrorRate: 0.01},
		Origin:  experiment.Origin{File: "demo.yaml", SHA256: "ab", Source: "name: demo\n"},
	}
}

func testSpec() experiment.SweepSpec {
	m := testMatrix()
	return experiment.SweepSpec{
		Matrix: m, Hash: m.Hash(), Cells: m.Cells(), Rounds: m.Repeat.Rounds,
		Placement:  experiment.Placement{Subject: experiment.CoreSet{0}, Backing: experiment.CoreSet{0}, Load: experiment.CoreSet{1}, Conductor: experiment.CoreSet{1}, Reason: "two cores"},
		Host:       experiment.Host{Name: "here", Cores: experiment.CoreSet{0, 1}, Memory: 1 << 33, Local: true},
		Images:     experiment.Images{"image:redis:7": "sha256:1"},
		Invocation: experiment.Invocation{Owner: "boot/1/2/3/db", Command: []string{"ceteris", "run", "demo.yaml"}, Version: "test"},
	}
}

// begin starts the demo sweep with all its runs planned.
func begin(t testing.TB, d *DB, rounds int) (experiment.SweepHead, experiment.SweepSpec) {
	t.Helper()
	spec := testSpec()
	spec.Rounds = rounds
	head, err := d.BeginSweep(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	plan := experiment.Reschedule{Add: experiment.Schedule(spec.Cells, rounds, 1)}
	if err := d.Reschedule(context.Background(), head.ID, plan); err != nil {
		t.Fatal(err)
	}
	return head, spec
}

// pendingRuns gives the runs of a sweep that are to come, in their order.
func pendingRuns(t testing.TB, d *DB, sweep int64) []experiment.Run {
	t.Helper()
	pending, err := d.Pending(context.Background(), sweep)
	if err != nil {
		t.Fatal(err)
	}
	return pending
}

// allRuns gives the runs of a sweep, whatever became of them.
func allRuns(t testing.TB, d *DB, sweep int64) []experiment.Run {
	t.Helper()
	all, err := d.Runs(context.Background(), sweep)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func beginRun(t testing.TB, d *DB, run experiment.Run) experiment.Run {
	t.Helper()
	run, err := d.BeginRun(context.Background(), run)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// testOutcome is a whole outcome of a run with slices of nine metrics.
func testOutcome(run experiment.Run, slices int) experiment.Outcome {
	run.State = experiment.StateOK
	run.ConfigHash = "c0ffee"
	o := experiment.Outcome{
		Run: run,
		Observations: []experiment.Observation{
			{Metric: "throughput", Phase: experiment.PhaseMeasure, Value: 1000.5 + float64(run.ID), Unit: experiment.UnitPerSecond},
			{Metric: "latency_p99", Phase: experiment.PhaseMeasure, Value: 0.0123, Unit: experiment.UnitSeconds},
			{Metric: "app.cpu", Phase: experiment.PhaseMeasure, Value: 0.75, Unit: experiment.UnitCores},
			{Metric: "app.cpu", Phase: experiment.PhaseWarmup, Value: 0.9, Unit: experiment.UnitCores},
		},
		Artifacts: []experiment.Artifact{{Service: "app", Name: "log", Body: []byte("ready\nready\n"), Full: 4096}},
	}
	o.Result.Window = 4 * time.Second
	o.Result.Statuses = map[string]int64{"200": 4000}
	o.Result.Histograms = []experiment.Histogram{{Phase: experiment.PhaseMeasure, Kind: experiment.HistogramSuccess, Count: 4000, Blob: make([]byte, 400)}}
	metrics := []string{"offered", "sent", "done", "failed", "dropped", "in_flight", "latency_p50", "latency_p99", "latency_max"}
	for i := range slices {
		for k, m := range metrics {
			v := float64((i*7+k*13)%200 + 1)
			if k > 5 {
				v = float64(i*37+k*113+900) / 1e6
			}
			o.Series = append(o.Series, experiment.SeriesPoint{Metric: m, AtMS: int64(i-20) * 50, Value: v})
		}
	}
	return o
}

// runOne begins and ends a run.
func runOne(t testing.TB, d *DB, run experiment.Run, slices int, findings ...experiment.Finding) experiment.Run {
	t.Helper()
	run = beginRun(t, d, run)
	if err := d.EndRun(context.Background(), testOutcome(run, slices), findings); err != nil {
		t.Fatal(err)
	}
	return run
}
