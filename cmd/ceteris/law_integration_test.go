//go:build integration

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/experiment/matrixfile"
	"github.com/ceteris/ceteris/runners/docker"
	"github.com/ceteris/ceteris/runners/load"
)

// tolerance is how far the throughput may lie from the law's.
const tolerance = 0.15

// TestLawOfTheLock measures the coupon sweeps in containers and holds each cell to
// what can be computed of it. With validation a PING goes inside one lock before
// each operation, so throughput is
//
//	1 / (operations per request x mean round trip of a PING)
//
// whatever threads, pool, order and distance. The round trip is what couponapi
// itself measured in the window; the PINGs and operations are Redis's own count.
func TestLawOfTheLock(t *testing.T) {
	engine(t)
	t.Run("locked", func(t *testing.T) {
		for _, c := range measureLaw(t, "testdata/locked.yaml", "4s", 4) {
			c.checkLaw(t)
		}
	})
	t.Run("coupon-locked", func(t *testing.T) {
		for _, c := range measureLaw(t, "../../matrices/coupon-locked.yaml", "3s", 6) {
			if want := c.cell != "validate_connection=false"; c.config.ValidateConnection != want {
				t.Errorf("%s: validate_connection is %v", c.cell, !want)
			}
			c.checkLaw(t)
		}
	})
	t.Run("coupon-lookup", func(t *testing.T) {
		throughput := map[string]float64{}
		for _, c := range measureLaw(t, "../../matrices/coupon-lookup.yaml", "3s", 6) {
			if want := c.cell == "validate_connection=true"; c.config.ValidateConnection != want {
				t.Errorf("%s: validate_connection is %v", c.cell, !want)
			}
			c.checkLaw(t)
			throughput[c.cell] = c.throughput
		}
		ratio := throughput["baseline"] / throughput["validate_connection=true"]
		t.Logf("baseline is %.1f times validate_connection=true", ratio)
		if !(ratio >= 4) {
			t.Errorf("baseline is %.2f times validate_connection=true, want 4 at least", ratio)
		}
	})
}

// cellFigures are what was read of one run.
type cellFigures struct {
	cell       string
	state      experiment.RunState
	reason     string
	users      int
	throughput float64
	config     apiConfig
	begin, end edge
}

// apiConfig is what couponapi says of itself.
type apiConfig struct {
	ValidateConnection   bool `json:"validate_connection"`
	Threads              int  `json:"threads"`
	Fanout               bool `json:"fanout"`
	OperationsPerRequest int  `json:"operations_per_request"`
}

// edge is what the counters said at an edge of the window.
type edge struct {
	pingSeconds, pingCount float64 // couponapi's
	pings, gets            int64   // Redis's
}

// roundTrip is the window's mean of a PING in s; NaN without PINGs.
func (c cellFigures) roundTrip() float64 {
	return (c.end.pingSeconds - c.begin.pingSeconds) / (c.end.pingCount - c.begin.pingCount)
}

// law is the throughput that the law predicts in 1/s.
func (c cellFigures) law() float64 {
	return 1 / (float64(c.config.OperationsPerRequest) * c.roundTrip())
}

// open is how many operations can be under way at any one moment.
func (c cellFigures) open() int64 {
	n := min(c.users, c.config.Threads)
	if c.config.Fanout {
		n *= c.config.OperationsPerRequest
	}
	return int64(n)
}

func (c cellFigures) pings() int64 { return c.end.pings - c.begin.pings }
func (c cellFigures) gets() int64  { return c.end.gets - c.begin.gets }

func (c cellFigures) checkLaw(t *testing.T) {
	t.Helper()
	if c.state != experiment.StateOK {
		t.Errorf("%s is %s: %s", c.cell, c.state, c.reason)
		return
	}
	if c.gets() <= 0 {
		t.Errorf("%s: Redis counts %d operations", c.cell, c.gets())
	}
	if !c.config.ValidateConnection {
		if c.pings() != 0 || c.end.pingCount != 0 {
			t.Errorf("%s: Redis counts %d PINGs in the window, couponapi %v in all", c.cell, c.pings(), c.end.pingCount)
		}
		return
	}
	if ratio := c.throughput / c.law(); !(math.Abs(ratio-1) <= tolerance) {
		t.Errorf("%s: throughput %.1f /s is %.3f of the law's %.1f /s", c.cell, c.throughput, ratio, c.law())
	}
	// An operation under way has sent its PING and not yet its GET, at the end; or had,
	// at the beginning.
	if extra := c.pings() - c.gets(); extra < -c.open() || extra > c.open() {
		t.Errorf("%s: %d PINGs for %d operations; at most %d can be under way", c.cell, c.pings(), c.gets(), c.open())
	}
}

// laboratory is the docker runner and the reader of its generator, watched: at the
// edges of the window it reads the counters of couponapi and Redis.
type laboratory struct {
	*docker.Runner
	procs map[string]experiment.Proc // of the run under way
	now   cellFigures
	fault error // the first of the readings
}

func (l *laboratory) Open(ctx context.Context, key experiment.RunKey) (experiment.Env, error) {
	l.procs, l.now, l.fault = map[string]experiment.Proc{}, cellFigures{}, nil
	env, err := l.Runner.Open(ctx, key)
	return watchedEnv{env, l}, err
}

type watchedEnv struct {
	experiment.Env
	lab *laboratory
}

func (e watchedEnv) Launch(ctx context.Context, s experiment.Service) (experiment.Proc, error) {
	p, err := e.Env.Launch(ctx, s)
	e.lab.procs[s.Name] = p
	return p, err
}

func (l *laboratory) Read(ctx context.Context, r io.Reader, on func(experiment.LoadEvent)) (experiment.LoadResult, error) {
	return load.Reader{}.Read(ctx, r, func(e experiment.LoadEvent) {
		switch e.Phase {
		case experiment.PhaseMeasure:
			l.now.begin, l.fault = l.readEdge(ctx)
			l.fault = errors.Join(l.fault, l.get(ctx, "/config", func(r io.Reader) error { return json.NewDecoder(r).Decode(&l.now.config) }))
		case experiment.PhaseDrain:
			var err error
			l.now.end, err = l.readEdge(ctx)
			l.fault = errors.Join(l.fault, err)
		default:
		}
		on(e)
	})
}

func (l *laboratory) readEdge(ctx context.Context) (e edge, err error) {
	if err := l.get(ctx, "/metrics", e.readMetrics); err != nil {
		return e, err
	}
	redis, ok := l.procs["redis"].(experiment.Execer)
	if !ok {
		return e, errors.New("nothing can be executed in redis")
	}
	said, err := redis.Exec(ctx, []string{"redis-cli", "info", "commandstats"})
	if err == nil && said.Code != 0 {
		err = fmt.Errorf("redis-cli ends with %d: %s", said.Code, said.Output)
	}
	e.pings, e.gets = calls(said.Output, "ping"), calls(said.Output, "get")
	return e, err
}

// calls takes a count from "cmdstat_get:calls=12,usec=..."; 0 without that line.
func calls(stats []byte, command string) int64 {
	m := regexp.MustCompile(`cmdstat_` + command + `:calls=(\d+),`).FindSubmatch(stats)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseInt(string(m[1]), 10, 64) // digits only
	return n
}

func (e *edge) readMetrics(r io.Reader) error {
	found := 0
	for lines := bufio.NewScanner(r); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		target := map[string]*float64{"couponapi_ping_seconds_sum": &e.pingSeconds, "couponapi_ping_seconds_count": &e.pingCount}[name]
		if target == nil {
			continue
		}
		var err error
		if *target, err = strconv.ParseFloat(value, 64); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		found++
	}
	if found != 2 {
		return fmt.Errorf("%d of 2 metrics found", found)
	}
	return nil
}

// get asks couponapi at the address that the conductor uses.
func (l *laboratory) get(ctx context.Context, path string, read func(io.Reader) error) error {
	addr, err := l.procs["app"].Addr(8080, experiment.FromConductor)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", path, resp.Status)
	}
	return read(resp.Body)
}

// measureLaw conducts one round of a matrix with all real parts, and gives what was read
// of each of its runs. The requests that share the lock tend to end together, each 0.7 s
// in the shipped matrices and 1.1 s at most in the other one: a window must hold several
// of these times.
func measureLaw(t *testing.T, file, window string, cells int) []cellFigures {
	t.Helper()
	m, err := matrixfile.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	m = m.ForRunner(experiment.RunnerDocker)
	m.Load.Warmup.For, m.Load.Measure.For = experiment.Literal("1s"), experiment.Literal(window)
	store, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "law.db"), db.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := store.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	owner, err := experiment.ThisOwner(store.ID())
	if err != nil {
		t.Fatal(err)
	}
	runner, err := docker.New(docker.Options{Owner: owner.String()})
	if err != nil {
		t.Fatal(err)
	}
	generator, linkProxy, err := tools(m)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	lab := &laboratory{Runner: runner}
	var all []cellFigures
	c := &conduct.Conductor{
		Runner: lab, Probes: newProbes(experiment.RunnerDocker), Reader: lab, Judge: guard.New(), Analyst: analysis.New(),
		Store: store, Generator: generator, LinkProxy: linkProxy, Log: slog.New(slog.NewTextHandler(&said, nil)), Now: time.Now,
		Events: func(e conduct.Event) {
			if e.Kind != conduct.EventRunEnded {
				return
			}
			f := lab.now
			f.cell, f.state, f.reason, f.users, f.throughput = e.Cell.Label(), e.Run.State, e.Run.Reason, usersOf(t, m, e.Cell), e.Value
			all = append(all, f)
			if lab.fault != nil {
				t.Errorf("%s: %v", f.cell, lab.fault)
			}
		},
	}
	result, err := c.Conduct(t.Context(), conduct.Request{
		Matrix: m, Rounds: 1, Drain: make(chan struct{}),
		Invocation: experiment.Invocation{Began: time.Now(), Owner: owner.String(), Command: []string{"test"}, Version: version, ShareHost: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	logFigures(t, all)
	if result.Ended != conduct.EndedDone || len(all) != cells {
		t.Errorf("%d runs, ended: %s; want %d\n%s", len(all), result.Ended, cells, said.String())
	}
	return all
}

func usersOf(t *testing.T, m *experiment.Matrix, cell experiment.Cell) int {
	t.Helper()
	p, err := m.Plan(cell)
	if err != nil {
		t.Fatal(err)
	}
	return p.Load.Closed.Users
}

func logFigures(t *testing.T, all []cellFigures) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%-26s %10s %8s %8s %6s %12s %8s %6s %6s\n", "cell", "throughput", "ping ms", "law", "ratio", "ops/request", "PINGs", "GETs", "open")
	for _, c := range all {
		predicted := fmt.Sprintf("%8s %8s %6s", "-", "-", "-")
		if c.config.ValidateConnection {
			predicted = fmt.Sprintf("%8.3f %8.1f %6.3f", 1000*c.roundTrip(), c.law(), c.throughput/c.law())
		}
		fmt.Fprintf(&b, "%-26s %10.1f %s %12d %8d %6d %6d\n",
			c.cell, c.throughput, predicted, c.config.OperationsPerRequest, c.pings(), c.gets(), c.open())
	}
	t.Logf("\n%s", b.String())
}
