//go:build integration

package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/experiment/matrixfile"
	"github.com/ceteris/ceteris/runners/fake"
	"github.com/ceteris/ceteris/runners/load"
)

// Size of the test: CETERIS_SCALE_RUNS runs in sweeps of CETERIS_SCALE_ROUNDS
// rounds. The gate has fewer runs than a year of nights.
const (
	scaleRunsVar   = "CETERIS_SCALE_RUNS"
	scaleRoundsVar = "CETERIS_SCALE_ROUNDS"
	scaleRuns      = 1000
	scaleRounds    = 50
	scaleCells     = 10
)

// What must hold however many runs there are.
const (
	scaleBytes   = 20_000                // of the file, by run
	scaleSlower  = 1.5                   // the last hundred runs by the first of a new database, medians
	scaleHeap    = 1.5                   // live memory at the end by that after a tenth of the runs
	scaleReading = 50 * time.Millisecond // status and the query of intervals, on a processor that is free
)

const scaleMatrix = `
name: scale
subject:
  services:
    store: {image: "store:1", ports: [1], ready: {port: 1}}
    app: {image: "app:1", needs: [store], ports: [80], env: {STORE: "${addr:store:1}", LEVEL: "${level}"}, ready: {port: 80}}
factors:
  level: {baseline: 0, levels: [0, 1, 2, 3, 4, 5, 6, 7, 8]}
load: {to: "app:80", request: {path: /}, open: {rate: 1000/s, in_flight: 512}, warmup: 25s, measure: 100s}
`

const intervalQuery = `select factor, level, n, estimate, low, high from confidence_intervals
	where sweep = (select max(id) from sweeps) and metric = 'throughput'`

func fromEnv(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s: want a number", name, text)
	}
	return n
}

// TestScale: a database of many runs is as fast, as small and as quick to ask as
// one of few, by what the program itself is made of.
func TestScale(t *testing.T) {
	rounds := fromEnv(t, scaleRoundsVar, scaleRounds)
	sweeps := max(fromEnv(t, scaleRunsVar, scaleRuns)/(rounds*scaleCells), 1)
	s := newScale(t, rounds)
	large, few := s.open("large.db"), s.open("few.db")
	s.fill(large, sweeps)
	s.compare(large, few)
	s.check(large)
}

// scale is what was seen while the database grew.
type scale struct {
	t      *testing.T
	matrix *experiment.Matrix
	dir    string

	ended []time.Time // of the runs, in the order in which they were made
	heaps []uint64    // live, after a tenth of the runs and at their end

	asking            sync.Mutex // held while somebody asks: not while memory is looked at
	statuses, queries []time.Duration
}

func newScale(t *testing.T, rounds int) *scale {
	t.Helper()
	m, err := matrixfile.Parse("scale.yaml", t.TempDir(), []byte(scaleMatrix))
	if err != nil {
		t.Fatal(err)
	}
	m.Repeat.Rounds = rounds
	s := &scale{t: t, matrix: m.ForRunner(experiment.RunnerDocker), dir: t.TempDir()}
	if cells := len(s.matrix.Cells()); cells != scaleCells {
		t.Fatalf("%d cells", cells)
	}
	return s
}

func (s *scale) open(name string) *db.DB {
	s.t.Helper()
	store, err := db.Open(s.t.Context(), filepath.Join(s.dir, name), db.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	return store
}

// fill stores whole sweeps while somebody asks, and looks at memory.
func (s *scale) fill(store *db.DB, sweeps int) {
	s.t.Helper()
	asked, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(asked)
		s.ask(store.Path(), stop)
	}()
	runs := sweeps * s.matrix.Repeat.Rounds * scaleCells
	for range sweeps {
		s.conduct(store, conduct.Request{New: true}, func() {
			if n := len(s.ended); n == runs/10 || n == runs {
				s.asking.Lock()
				s.heaps = append(s.heaps, live())
				s.asking.Unlock()
			}
		})
	}
	close(stop)
	<-asked
}

// compare extends the newest sweep of the large database and a new one of another by
// a round in turn, so that whatever else happens on the host strikes both.
func (s *scale) compare(large, few *db.DB) {
	s.t.Helper()
	runs := len(s.ended)
	var last, first []time.Duration
	round := func(store *db.DB, rounds int) []time.Duration {
		s.ended = nil
		s.conduct(store, conduct.Request{Rounds: rounds}, func() {})
		return between(s.ended)
	}
	for i := range 12 {
		last = append(last, round(large, s.matrix.Repeat.Rounds+i+1)...)
		first = append(first, round(few, i+1)...)
	}
	slower := float64(median(last)) / float64(median(first))
	s.t.Logf("after %d runs a run takes %v, in a new database %v (%.2f)", runs, median(last), median(first), slower)
	if slower > scaleSlower {
		s.t.Errorf("the last hundred runs took %.2f times as long as the first", slower)
	}
}

// conduct executes what is missing of a sweep, with a scripted subject.
func (s *scale) conduct(store *db.DB, req conduct.Request, ended func()) {
	s.t.Helper()
	rng := rand.New(rand.NewPCG(uint64(len(s.ended)), 1))
	script := fake.Script{
		Instant: true,
		Host:    &experiment.Host{Cores: experiment.CoreSet{0, 1, 2, 3}, Enforces: experiment.Enforces{Cores: true}},
		Service: func(_ fake.Run, svc experiment.Service) fake.Behaviour {
			return fake.Behaviour{Stdout: scaleLog(rng, svc.Name), CPU: 0.5 + rng.Float64()/10, Counters: map[experiment.Counter]float64{
				experiment.CounterMemoryPeak: float64(rng.IntN(1 << 28)),
			}}
		},
		Load: func(r fake.Run, l experiment.Load) fake.Generation {
			level, _ := strconv.Atoi(r.Env("app", "LEVEL"))
			return fake.Generation{Result: scaleResult(rng, l, 0.012*(1+0.1*float64(level)))}
		},
	}
	c := &conduct.Conductor{
		Runner: fake.New(script), Reader: load.Reader{}, Judge: guard.New(), Analyst: analysis.New(), Store: store,
		Generator: experiment.Build{Binary: "/loadgen"}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Events: func(e conduct.Event) {
			if e.Kind == conduct.EventRunEnded {
				s.ended = append(s.ended, time.Now())
				ended()
			}
		},
	}
	req.Matrix, req.Drain = s.matrix, make(chan struct{})
	req.Invocation = experiment.Invocation{Began: time.Now(), Owner: "scale", Command: []string{"run"}, Version: "test"}
	r, err := c.Conduct(s.t.Context(), req)
	if err != nil || r.Ended != conduct.EndedDone || len(r.Counts) != 1 || r.Counts[experiment.StateOK]%scaleCells != 0 {
		s.t.Fatalf("ended %s with %v, %v", r.Ended, r.Counts, err)
	}
}

// live is the memory in use after a collection.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// ask reads again and again what a person would, as another connection, until it
// is to stop.
func (s *scale) ask(path string, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(50 * time.Millisecond):
		}
		s.asking.Lock()
		s.statuses = append(s.statuses, s.timed(path, func(ctx context.Context, a *app) error { return a.status(ctx, report.Text, nil) }))
		s.queries = append(s.queries, s.timed(path, func(ctx context.Context, a *app) error { return a.sql(ctx, report.Text, intervalQuery) }))
		s.asking.Unlock()
	}
}

// timed is how long a command takes, from the opening of the database on. Before the
// first sweep has begun there is nothing to see.
func (s *scale) timed(path string, command func(context.Context, *app) error) time.Duration {
	began := time.Now()
	if err := command(s.t.Context(), &app{out: io.Discard, config: config{DB: path}, now: time.Now}); err != nil && !errors.Is(err, experiment.ErrUnknownSweep) {
		s.t.Error(err)
	}
	return time.Since(began)
}

func (s *scale) check(store *db.DB) {
	s.t.Helper()
	all, err := store.Sweeps(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	runs := 0
	for _, sweep := range all {
		runs += sweep.OK
	}
	if _, err := store.Close(context.WithoutCancel(s.t.Context())); err != nil {
		s.t.Fatal(err)
	}
	info, err := os.Stat(store.Path())
	if err != nil {
		s.t.Fatal(err)
	}
	bytes := float64(info.Size()) / float64(runs)
	heap := float64(s.heaps[1]) / float64(s.heaps[0])
	late := len(s.statuses) / 2 // the second half, when there is most to read
	status, query := undisturbed(s.statuses[late:]), undisturbed(s.queries[late:])
	s.t.Logf("%d runs: %.0f B a run; heap %d KB, then %d KB (%.2f); status %v (median %v), query %v (%v), asked %d times",
		runs, bytes, s.heaps[0]>>10, s.heaps[1]>>10, heap, status, median(s.statuses[late:]), query, median(s.queries[late:]), len(s.statuses))
	if bytes > scaleBytes {
		s.t.Errorf("the file has %.0f B a run, more than %d", bytes, scaleBytes)
	}
	if heap > scaleHeap {
		s.t.Errorf("memory grew to %.2f times", heap)
	}
	if status > scaleReading || query > scaleReading {
		s.t.Errorf("status took %v and the query %v, more than %v", status, query, scaleReading)
	}
}

func between(at []time.Time) []time.Duration {
	var all []time.Duration
	for i := range at[1:] {
		all = append(all, at[i+1].Sub(at[i]))
	}
	return all
}

func median(all []time.Duration) time.Duration { return quantile(all, 0.5) }

// undisturbed is the first decile: whatever else happens on the host only adds.
func undisturbed(all []time.Duration) time.Duration { return quantile(all, 0.1) }

func quantile(all []time.Duration, q float64) time.Duration {
	return slices.Sorted(slices.Values(all))[int(q*float64(len(all)))]
}

// scaleLog is a log as services write it.
func scaleLog(rng *rand.Rand, service string) string {
	if service == experiment.GeneratorName {
		return ""
	}
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "2026-11-30T12:00:%02d.%06dZ INFO %s: request %016x took %.3f ms\n", i, rng.IntN(1e6), service, rng.Uint64(), rng.Float64()*20)
	}
	return b.String()
}

// scaleResult is what a generator reports of 1000 requests a second: all metrics,
// three histograms, 250 slices of nine metrics.
func scaleResult(rng *rand.Rand, l experiment.Load, latency float64) experiment.LoadResult {
	r := experiment.LoadResult{Window: l.Measure, Statuses: map[string]int64{"200": 99_990, "503": 10}, Errors: map[string]int64{"status": 10}}
	add := func(metric string, v float64) {
		m, _ := experiment.MetricByName(metric)
		r.Observations = append(r.Observations, experiment.Observation{Metric: metric, Phase: experiment.PhaseMeasure, Value: v, Unit: m.Unit})
	}
	rate := 1000 * (1 + rng.NormFloat64()/100)
	for metric, v := range map[string]float64{
		"throughput": rate, "offered": 1000.02, "sent": 1000.01, "dropped": 0, "error_rate": 0.0001, "unfinished": 0, "in_flight": rate * latency,
		"latency_count": 99_990, "requests_done": 100_000, "lateness_p99": 1e-5,
	} {
		add(metric, v)
	}
	for i, kind := range []experiment.HistogramKind{experiment.HistogramSuccess, experiment.HistogramFailure, experiment.HistogramServiceTime} {
		hdr := hdrhistogram.New(1, time.Hour.Microseconds(), 3)
		count := []int{5000, 10, 5000}[i]
		for range count {
			_ = hdr.RecordValue(int64(1e6 * latency * math.Exp(rng.NormFloat64()/3))) // in range
		}
		text, err := hdr.EncodeV2()
		if err != nil {
			panic(err)
		}
		blob, _ := base64.StdEncoding.DecodeString(string(text))
		r.Histograms = append(r.Histograms, experiment.Histogram{Phase: experiment.PhaseMeasure, Kind: kind, Count: int64(count), Blob: blob})
		for name, q := range map[string]float64{"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p999": 99.9, "max": 100} {
			add([]string{"latency_", "failed_latency_", "service_time_"}[i]+name, float64(hdr.ValueAtQuantile(q))/1e6)
		}
	}
	for i := range 250 {
		at := int64(i-50) * 500
		n := float64(500 + rng.IntN(3) - 1)
		p50 := latency * (1 + rng.NormFloat64()/50)
		for metric, v := range map[string]float64{
			"offered": 500, "sent": n, "done": n + float64(rng.IntN(5)-2), "failed": 0, "dropped": 0,
			"in_flight":   rate * latency * (1 + rng.NormFloat64()/20),
			"latency_p50": p50, "latency_p99": p50 * (4 + rng.Float64()), "latency_max": p50 * (6 + 4*rng.Float64()),
		} {
			r.Series = append(r.Series, experiment.SeriesPoint{Metric: metric, AtMS: at, Value: v})
		}
	}
	return r
}
