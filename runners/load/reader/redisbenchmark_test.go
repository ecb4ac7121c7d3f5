package reader

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// redisTruth is what the server counted in a run.
type redisTruth struct {
	Files   []string `json:"files"`
	Exit    int      `json:"exit_code"`
	Replies int64    `json:"error_replies"`
	Calls   map[string]struct {
		Calls    int64 `json:"calls"`
		Rejected int64 `json:"rejected"`
		Failed   int64 `json:"failed"`
	} `json:"calls_by_command"`
}

func redisTruthOf(t *testing.T, file string) redisTruth {
	t.Helper()
	var runs []redisTruth
	if err := json.Unmarshal([]byte(reference(t, "redis-benchmark/ground-truth.json")), &runs); err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if len(r.Files) == 1 && r.Files[0] == file {
			return r
		}
	}
	t.Fatalf("no run wrote %s", file)
	return redisTruth{}
}

func TestRedisBenchmarkAgainstServer(t *testing.T) {
	const hidden = "before 6.2 redis-benchmark counts error replies as requests done"
	for _, c := range []struct {
		file     string
		done     map[string]string // command to the metric of its requests
		values   map[string]float64
		unknown  map[string]string
		severity experiment.Severity
		note     string
	}{
		{
			file: "default.txt", done: map[string]string{"set": "requests_done{SET}", "get": "requests_done{GET}"},
			values: map[string]float64{
				"throughput{SET}": 68965.52, "throughput{GET}": 100000, "error_rate{SET}": 0, "latency_p50{SET}": 79e-6, "service_time_p95{SET}": 119e-6,
				"latency_p99{GET}": 87e-6, "latency_max{GET}": 255e-6,
			},
			unknown:  map[string]string{"throughput": "2 tests", "latency_p50": "2 tests"},
			severity: experiment.SeverityNote, note: "SET lasted 0.029 s, and it is told in whole milliseconds: throughput is exact to 3%",
		},
		{
			file: "threads.txt", done: map[string]string{"get": "requests_done"},
			values:   map[string]float64{"throughput": 7968.13, "latency_p50": 127e-6},
			unknown:  map[string]string{"latency_p90": "no such percentile", "latency_p999": "no such percentile", "offered": "closed loop"},
			severity: experiment.SeverityWarn, note: "with --threads the end is noticed each 250 ms: throughput is exact to 100%",
		},
		{
			// 2003 were asked for, and whole batches are sent.
			file: "pipeline.txt", done: map[string]string{"set": "requests_done"}, values: map[string]float64{"requests_done": 2016},
			severity: experiment.SeverityWarn, note: "they were pipelined (-P)",
		},
		{
			file: "quiet.txt", values: map[string]float64{"throughput{LPUSH}": 100000, "latency_p50{SET}": 47e-6},
			severity: experiment.SeverityNote, note: "does not tell the number of requests",
		},
		{file: "pipeline-q.txt", values: map[string]float64{"throughput": 8031.87, "latency_p50": 31e-6}, unknown: map[string]string{"requests_done": "does not tell"}},
		{
			file: "csv.csv",
			values: map[string]float64{
				"throughput{MSET_10_keys}": 83333.34, "latency_p99{LRANGE_100_first_100_elements}": 191e-6, "latency_max{PING_INLINE}": 159e-6,
				"throughput{LPUSH_needed_to_benchmark_LRANGE}": 100000,
			},
		},
		{file: "6.2-default.txt", done: map[string]string{"set": "requests_done{SET}", "get": "requests_done{GET}"}, values: map[string]float64{"error_rate{GET}": 0}},
		{file: "6.2-quiet.txt", values: map[string]float64{"throughput{SET}": 60606.06, "latency_p50{GET}": 87e-6}},
		{file: "6.2-csv.csv", values: map[string]float64{"throughput{GET}": 62500, "latency_p95{SET}": 143e-6}},
		{
			file: "6.0-default.txt", done: map[string]string{"set": "requests_done{SET}", "get": "requests_done{GET}"},
			values: map[string]float64{"throughput{SET}": 57142.86}, severity: experiment.SeverityWarn, note: hidden,
		},
		{file: "6.0-quiet.txt", values: map[string]float64{"throughput{SET}": 62500}, severity: experiment.SeverityWarn, note: hidden},
		{file: "6.0-csv.csv", values: map[string]float64{"throughput{GET}": 62500}, severity: experiment.SeverityWarn, note: hidden},
		{
			file: "5.0-default.txt", done: map[string]string{"set": "requests_done{SET}", "get": "requests_done{GET}"},
			values: map[string]float64{"throughput{GET}": 64516.13}, severity: experiment.SeverityWarn, note: hidden,
		},
		{file: "5.0-quiet.txt", values: map[string]float64{"throughput{SET}": 54054.05}, severity: experiment.SeverityWarn, note: hidden},
		{file: "5.0-csv.csv", values: map[string]float64{"throughput{SET}": 52631.58}, severity: experiment.SeverityWarn, note: hidden},
		{
			// All 1000 were refused, and the output does not tell: so neither is a rate of failures.
			file: "5.0-wrongtype.txt", done: map[string]string{"lpush": "requests_done"},
			unknown:  map[string]string{"error_rate": "as any other", "latency_p50": "whole milliseconds"},
			severity: experiment.SeverityWarn, note: hidden,
		},
		{file: "6.0-wrongtype.txt", done: map[string]string{"lpush": "requests_done"}, unknown: map[string]string{"error_rate": "as any other"}, severity: experiment.SeverityWarn, note: hidden},
		{file: "5.0-wrongtype-e.txt", done: map[string]string{"lpush": "requests_done"}, severity: experiment.SeverityWarn, note: "error replies came"},
		{file: "6.0-wrongtype-e.txt", done: map[string]string{"lpush": "requests_done"}, severity: experiment.SeverityWarn, note: "error replies came"},
	} {
		t.Run(c.file, func(t *testing.T) {
			truth := redisTruthOf(t, c.file)
			out := mustRead(t, redisBenchmark(), reference(t, "redis-benchmark/"+c.file), experiment.Span{})
			wellFormed(t, out)
			for command, metric := range c.done {
				if got, _ := observed(out, metric); int64(got) != truth.Calls[command].Calls {
					t.Errorf("%s is %g, and the server counted %+v", metric, got, truth.Calls[command])
				}
			}
			if rate, told := observed(out, "error_rate"); told && int64(rate*1000) != truth.Replies {
				t.Errorf("error_rate %g, and the server gave %d error replies", rate, truth.Replies)
			}
			wantValues(t, out, c.values)
			for metric, why := range c.unknown {
				wantUnknown(t, out, metric, why)
			}
			if c.note != "" {
				wantNote(t, out, c.severity, c.note)
			}
		})
	}
}

// Since 6.2 an error reply ends it without a result.
func TestRedisBenchmarkEndsAtAnError(t *testing.T) {
	for file, want := range map[string]string{
		"errors.txt": "wrong number of arguments", "wrongtype.txt": "WRONGTYPE", "wrongtype-e.txt": "WRONGTYPE",
		"6.2-wrongtype.txt": "WRONGTYPE", "6.2-wrongtype-e.txt": "WRONGTYPE", "wrongtype.csv": "no test",
	} {
		truth := redisTruthOf(t, file)
		_, err := redisBenchmark().ReadOutput(strings.NewReader(reference(t, "redis-benchmark/"+file)), experiment.Span{})
		wantError(t, err, true, want)
		if truth.Exit == 0 || truth.Replies == 0 {
			t.Errorf("%s: %+v", file, truth)
		}
	}
	text := reference(t, "redis-benchmark/default.txt") + "Error from server: OOM command not allowed\n"
	out, err := redisBenchmark().ReadOutput(strings.NewReader(text), experiment.Span{})
	wantError(t, err, true, "OOM")
	wantValues(t, out, map[string]float64{"throughput{SET}": 68965.52})
}

// 100 ms may be up to 101; below 50 the step is more than 1%.
func TestRedisBenchmarkWholeMilliseconds(t *testing.T) {
	text := `====== debug sleep 0.1 ======
  1000 requests completed in 100.00 seconds
  8 parallel clients
  3 bytes payload
  keep alive: 1

1.00% <= 3 milliseconds
60.00% <= 40 milliseconds
99.00% <= 100 milliseconds
100.00% <= 812 milliseconds
10.00 requests per second
`
	out := mustRead(t, redisBenchmark(), text, experiment.Span{})
	wantValues(t, out, map[string]float64{"latency_p90": 0.1005, "latency_p99": 0.1005, "service_time_p999": 0.8125, "latency_max": 0.8125})
	wantUnknown(t, out, "latency_p50", "below 50 of them")
}

func TestRedisBenchmarkRefuses(t *testing.T) {
	text := reference(t, "redis-benchmark/default.txt")
	for _, c := range []struct {
		name, text, want string
		cut              bool
	}{
		{"in the first test", text[:strings.Index(text, "Summary:")], "\"SET\" did not come to its end", true},
		{"in the last line of it", text[:strings.Index(text, "latency summary")], "\"SET\" did not come to its end", true},
		{"in the second test", text[:strings.LastIndex(text, "Summary:")], "\"GET\" did not come to its end", true},
		{"a cut CSV", reference(t, "redis-benchmark/csv.csv")[:300], "cut off", true},
		{"two of a name", reference(t, "redis-benchmark/5.0-csv.csv") + "\"SET\",\"1\"\n", "test 3, \"SET\", cannot be told", false},
		{"another tool", "Running 4s test @ http://a/\n", "is wanted", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := redisBenchmark().ReadOutput(strings.NewReader(c.text), experiment.Span{})
			wantError(t, err, c.cut, c.want)
		})
	}
}

func FuzzRedisBenchmark(f *testing.F) { fuzzTool(f, redisBenchmark()) }
