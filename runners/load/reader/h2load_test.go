package reader

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestH2loadTextAgainstTarget(t *testing.T) {
	for _, c := range []struct {
		file             string
		reset, left      int64 // requests without a response that h2load tells of, and of which it does not
		values, mixed    map[string]float64
		window           time.Duration
		severity         experiment.Severity
		note             string
		warmup, statuses int64
	}{
		{
			file: "h2load/stdout.txt", window: 1815079681,
			values:   map[string]float64{"throughput": 980 / 1.81508, "sent": 550.94, "requests_done": 1000, "unfinished": 0, "error_rate": 0.02},
			severity: experiment.SeverityWarn, note: "20 responses above 399 of 1000", mixed: map[string]float64{"service_time_max": 0.50268},
		},
		{
			file: "h2load/duration.stdout.txt", window: 2 * time.Second, left: 1, // held; h2load was to send 3 more
			values:   map[string]float64{"throughput": 174.5, "sent": 180, "requests_done": 356, "unfinished": 4, "bytes_received": 37262.0 / 2},
			severity: experiment.SeverityWarn, note: "7 responses above 399 of 356", mixed: map[string]float64{"service_time_max": 0.50329},
		},
		{
			file: "h2load/more/resets.stdout.txt", window: 254191896, reset: 2,
			values:   map[string]float64{"requests_done": 282, "unfinished": 0, "error_rate": 7.0 / 282},
			severity: experiment.SeverityWarn, note: "118 of 400 requests were never sent",
		},
		{
			file: "h2load/more/warmup.stdout.txt", window: time.Second, warmup: 693 - 376,
			values:   map[string]float64{"throughput": 369, "requests_done": 376},
			severity: experiment.SeverityNote, note: "a warm-up of 1 s is left out",
		},
	} {
		t.Run(c.file, func(t *testing.T) {
			truth := truthOf(t, c.file)
			out := mustRead(t, h2load(), reference(t, c.file), experiment.Span{})
			wellFormed(t, out)
			if c.warmup == 0 {
				wantDone(t, out, truth.Statuses["200"], truth.Statuses["500"]+c.reset)
			}
			if done := out.Total.OK + out.Total.Failed; truth.Requests != done+c.left+c.warmup {
				t.Errorf("the target saw %d requests; done are %d", truth.Requests, done)
			}
			if diff := cmp.Diff(map[string]int64{"2xx": out.Total.OK, "5xx": out.Errors[experiment.FailureStatus]}, out.Statuses); diff != "" {
				t.Error(diff)
			}
			if d := out.Window - c.window; d > time.Microsecond || d < -time.Microsecond {
				t.Errorf("window %d, want %d", out.Window, c.window)
			}
			wantValues(t, out, c.values)
			wantMixed(t, out, c.mixed)
			wantNote(t, out, c.severity, c.note)
			wantUnknown(t, out, "service_time_p99", "--log-file")
			wantUnknown(t, out, "latency_max", "--rps")
			cutAnywhere(t, h2load(), c.file, "time for request:")
		})
	}
}

func TestH2loadLogAgainstTarget(t *testing.T) {
	for _, c := range []struct {
		file         string
		open, warmup int64 // seen by the target, and in no line
		max          float64
	}{
		{file: "h2load/requests.tsv", open: 1, max: 0.50329},
		{file: "h2load/more/resets.tsv", open: 2, max: 0.00971},
		{file: "h2load/more/warmup.tsv", warmup: 693 - 376, max: 0.05126},
	} {
		t.Run(c.file, func(t *testing.T) {
			truth := truthOf(t, c.file)
			out := mustRead(t, h2load(), reference(t, c.file), experiment.Span{})
			wellFormed(t, out)
			if c.warmup == 0 {
				if diff := cmp.Diff(map[string]int64{"200": truth.Statuses["200"], "500": truth.Statuses["500"]}, out.Statuses); diff != "" {
					t.Error(diff)
				}
			}
			if lines := out.Total.OK + out.Total.Failed; lines+c.open+c.warmup != truth.Requests {
				t.Errorf("%d lines, and the target saw %d", lines, truth.Requests)
			}
			if got, _ := observed(out, "service_time_max"); got < c.max*0.999 || got > c.max*1.001 {
				t.Errorf("service_time_max %g, want %g", got, c.max)
			}
			if len(out.Histograms) != 1 || len(out.Series) == 0 {
				t.Errorf("%d histograms, %d points", len(out.Histograms), len(out.Series))
			}
			wantUnknown(t, out, "error_rate", "cut off with its connection")
			wantUnknown(t, out, "latency_p99", "--rps")
			wantNote(t, out, experiment.SeverityNote, "they are in no number here")
		})
	}
}

func TestH2loadLogLines(t *testing.T) {
	read := func(text string) (experiment.LoadResult, error) {
		return h2load().ReadOutput(strings.NewReader(text), experiment.Span{})
	}
	out, err := read("1796055413985686\t200\t6364\n1796055413995686\t-1\t10\n1796055413996686\t404\t10\n1796055")
	wantError(t, err, true, "cut off")
	if diff := cmp.Diff(map[string]int64{experiment.FailureStatus: 1, experiment.FailureOther: 1}, out.Errors); diff != "" || out.Total.OK != 1 {
		t.Errorf("%+v %s", out.Total, diff)
	}
	for text, want := range map[string]string{
		"1\t200\t1\n1\t200\n":                      "line 2, \"1\\t200\": 2 columns",
		"1\t200\t1\nx\t200\t1\n":                   "a number is wanted",
		"1\t200\t1\n9223372036854775807\t200\t1\n": "its start is no time",
		"1\t200\t1\n1\t200\t9223372036854775807\n": "its duration is none",
		"1\t200\t1\n9007199254740992\t200\t1\n":    "apart",
	} {
		_, err := read(text)
		wantError(t, err, false, want)
	}
}

func TestH2loadNewerTable(t *testing.T) {
	text := strings.NewReplacer(
		"min         max         mean", "min         max      median      p95      p99         mean",
		"2.07ms    502.69ms      7.53ms", "2.07ms    502.69ms      2.40ms    3.00ms     5.00ms      7.53ms",
	).Replace(reference(t, "h2load/stdout.txt"))
	text = strings.ReplaceAll(text, "502.68ms      7.53ms", "502.68ms      2.40ms    3.00ms     5.00ms      7.53ms")
	out := mustRead(t, h2load(), text, experiment.Span{})
	wantMixed(t, out, map[string]float64{"service_time_p50": 2.4e-3, "service_time_p95": 3e-3, "service_time_p99": 5e-3, "service_time_max": 0.50268})
}

func TestH2loadRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		cut              bool
	}{
		{"stopped", "starting benchmark...\nspawning thread #0: 4 total client(s). 8 total requests\n", "stopped before", true},
		{"nothing was done", "starting benchmark...\nfinished in 294us, 0.00 req/s, 0B/s\nrequests: 8 total, 0 started, 0 done, 0 succeeded, 8 failed, 8 errored, 0 timeout\ntime for request: 0us 0us\n", "none was done", true},
		{"more done than started", "starting benchmark...\nfinished in 1s, 20.00 req/s, 0B/s\nrequests: 8 total, 1 started, 2 done, 2 succeeded, 0 failed, 0 errored, 0 timeout\ntime for request: 0us 0us\n", "1 requests started", false},
		{"another tool", "Running 4s test @ http://a/\n", "is wanted", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := h2load().ReadOutput(strings.NewReader(c.text), experiment.Span{})
			wantError(t, err, c.cut, c.want)
		})
	}
}

func FuzzH2load(f *testing.F) { fuzzTool(f, h2load()) }
