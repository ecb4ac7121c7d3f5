//go:build integration

package main

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// shortened are the lengths of the shipped matrices that a test has no time for (and that
// of a batch which the start of its container must not outweigh in one round), and the
// paths that do not hold from where it puts them.
func shortened(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs("../../matrices")
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(filepath.Join(dir, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(
		"levels: [50, 100, 200, 400]", "levels: [50, 400]", "warmup: 2s", "warmup: 500ms", "measure: 5s", "measure: 2s", `"50000"`, `"200000"`, `"40000"`, `"20000"`, "--time=5", "--time=1", "for: 4s", "for: 2s",
		"../cmd/", filepath.Join(dir, "../cmd")+"/", "context: pgbouncer", "context: "+filepath.Join(dir, "pgbouncer"),
	).Replace(string(src))
	file := filepath.Join(t.TempDir(), name+".yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// sweepOf is a shipped matrix that was run in containers, shortened.
type sweepOf struct {
	*testing.T
	box *sandbox
}

func runShipped(t *testing.T, name, rounds, tools string) *sweepOf {
	t.Helper()
	s := &sweepOf{T: t, box: newSandbox(t, program(t))}
	s.box.env = append(s.box.env, "CETERIS_LIBEXEC="+tools)
	c := s.box.start(t, "run", "--db", "t.db", "--runner", "docker", "--rounds", rounds, shortened(t, name))
	// Other work on the host may make runs invalid; that is 5, and every test looks at
	// what counts.
	if code := c.wait(t, 10*time.Minute); code != exitOK && code != exitEarly {
		t.Fatalf("exit code %d; ceteris said:\n%s", code, c.stderr(t))
	}
	return s
}

// rows answers a query.
func (s *sweepOf) rows(query string) [][]string {
	s.Helper()
	out := s.box.output(s.T, "sql", "--db", "t.db", "--format", "csv", query)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
	return rows[1:]
}

// mean gives the mean of a metric over the counting runs of a cell.
func (s *sweepOf) mean(cell, metric string) float64 {
	s.Helper()
	rows := s.rows(`select count(value), avg(value) from run_metrics where state = 'ok' and metric = '` + metric + `' and ` + cell)
	v, err := strconv.ParseFloat(rows[0][1], 64)
	if err != nil { // there is none
		s.Fatalf("%s has no value where %s:\n%s", metric, cell, s.box.output(s.T, "compare", "--db", "t.db"))
	}
	return v
}

const baseline = "role = 'baseline'"

// below wants the first of two values to be smaller.
func (s *sweepOf) below(what string, smaller, larger float64) {
	s.Helper()
	s.Logf("%s: %.4g and %.4g", what, smaller, larger)
	if smaller >= larger {
		s.Errorf("%s: %.4g is not below %.4g", what, smaller, larger)
	}
}

// TestShippedMatrices runs what the language was made to say, for real, and wants of
// each what cannot be otherwise.
func TestShippedMatrices(t *testing.T) {
	engine(t)
	tools := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", tools, "../loadgen", "../linkproxy")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tc := range []struct {
		name, rounds string
		check        func(*sweepOf)
	}{
		{"nginx-keepalive", "1", func(s *sweepOf) {
			const perRequest = "connections_per_request"
			s.below("connections a request when kept", s.mean("level = 'on'", perRequest), 0.1)
			s.below("connections a request when not kept", 0.9, s.mean(baseline, perRequest))
		}},
		{"redis-io-threads", "1", func(s *sweepOf) {
			s.below("throughput", 0, s.mean("level = '2'", "throughput"))
		}},
		{"postgres-pooler", "1", func(s *sweepOf) {
			s.below("transactions a second, direct and pooled", s.mean("level = 'direct'", "bench.tps"), s.mean(baseline, "bench.tps"))
			restored := s.rows(`select count(*), sum(value) from observations where metric = 'db.restored'`)
			if n := restored[0]; n[0] != "4" || n[1] != "3" {
				s.Errorf("of %s runs %s restored the data, want all but the first of 4", n[0], n[1])
			}
		}},
		{"memory-limits", "1", func(s *sweepOf) {
			if got := s.rows(`select verdict from comparison_table where level = '8MiB' and metric = 'throughput'`); len(got) != 1 || got[0][0] != "fails" {
				s.Errorf("verdict of the level that is too small: %v, want fails", got)
			}
		}},
		{"tomcat-startup", "1", func(s *sweepOf) {
			for _, cell := range []string{baseline, "level = 'off'", "level = 'first-tier'", "level = 'interpreter'"} {
				s.below("seconds until ready", 0.2, s.mean(cell, "tomcat.ready_seconds"))
			}
		}},
		{"spike", "1", func(s *sweepOf) {
			s.below("p95 in the calm and in the spike, four threads", s.mean("level = '4'", "calm:latency_p95"), s.mean("level = '4'", "spike:latency_p95"))
			s.below("lookups a second in the calm and in the spike", s.mean(baseline, "calm:throughput{lookup}"), s.mean(baseline, "spike:throughput{lookup}"))
		}},
		{"redis-batch", "1", func(s *sweepOf) {
			s.below("seconds of the batch, pipelined and not", s.mean("level = '16'", "batch.duration"), s.mean(baseline, "batch.duration"))
		}},
		{"redis-persistence", "1", func(s *sweepOf) {
			s.below("sets a second when each is on disk first, and when none is kept", s.mean("level = 'every-write'", "throughput"), s.mean(baseline, "throughput"))
			s.below("seconds of a median set when none is kept, and when each is on disk first", s.mean(baseline, "latency_p50"), s.mean("level = 'every-write'", "latency_p50"))
			s.below("cores of the generator", 0, s.mean(baseline, "generator.cpu"))
			for what, query := range map[string]string{
				"outputs kept":   `select count(*) from artifacts where service = 'generator' and name = 'output'`,
				"said by whom":   `select count(*) from findings where code = 'external-tool' and message like 'redis-benchmark% cannot tell %'`,
				"runs that were": `select count(*) from runs where state = 'ok'`,
			} {
				s.below(what, 0, s.count(query))
			}
			s.below("unknown and not 0: values of what the tool does not tell", s.count(`select count(*) from observations where metric in ('offered', 'lateness_p99', 'dropped')`), 1)
		}},
		{"coupon-ladder", "1", func(s *sweepOf) {
			s.below("rungs sustained with and without validation",
				s.count(`select count(*) from ladder where role = 'baseline' and sustained`), s.count(`select count(*) from ladder where factor = 'validate_connection' and sustained`))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := runShipped(t, tc.name, tc.rounds, tools)
			tc.check(s)
			if t.Failed() {
				t.Log(s.box.output(t, "compare", "--db", "t.db"))
			}
		})
	}
}

func (s *sweepOf) count(query string) float64 {
	s.Helper()
	v, err := strconv.ParseFloat(s.rows(query)[0][0], 64)
	if err != nil {
		s.Fatal(err)
	}
	return v
}
