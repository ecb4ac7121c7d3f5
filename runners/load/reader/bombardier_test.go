package reader

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestBombardierAgainstTarget(t *testing.T) {
	const again = "requests were sent again, which bombardier does not tell"
	for _, c := range []struct {
		file     string
		hidden   int64 // requests that failed and were sent again, unseen
		open     int64 // at the end
		errors   map[string]int64
		values   map[string]float64
		mixed    map[string]float64
		unknown  map[string]string
		severity experiment.Severity
		note     string
	}{
		{
			file: "bombardier/results.json", hidden: 10, errors: map[string]int64{experiment.FailureStatus: 20},
			values: map[string]float64{
				"throughput": 980 / 1.241519078, "requests_done": 1000, "error_rate": 0.02, "bytes_sent": 62620 / 1.241519078,
			},
			mixed: map[string]float64{
				"service_time_p50": 2.408e-3, "service_time_p90": 2.738e-3, "service_time_p95": 3.058e-3, "service_time_p99": 7.327e-3, "service_time_max": 0.504036,
			},
			unknown:  map[string]string{"latency_p999": "alone", "sent": "sent again", "offered": "closed loop"},
			severity: experiment.SeverityWarn, note: again + " (the longest took 0.504 s, and the timeout is 0.5 s; 62620 B were written for 1000 requests of one length, 62.62 B each)",
		},
		{
			file: "bombardier/stdout.txt", hidden: 3, open: 1, errors: map[string]int64{experiment.FailureStatus: 8}, // timed out; at the end one was open
			values:   map[string]float64{"throughput": 197.94 * 394 / 402},
			mixed:    map[string]float64{"service_time_p99": 6.78e-3, "service_time_max": 0.50593},
			unknown:  map[string]string{"latency_p50": "-r", "bytes_received": "sum"},
			severity: experiment.SeverityNote, note: "sends a request again whose connection failed or timed out",
		},
		{
			file: "bombardier/more/plain.json", hidden: 4, errors: map[string]int64{experiment.FailureStatus: 8},
			mixed:    map[string]float64{"service_time_max": 7.214e-3},
			unknown:  map[string]string{"latency_p50": "without -l", "service_time_p99": "without -l"},
			severity: experiment.SeverityWarn, note: again + " (25048 B",
		},
		{
			file: "bombardier/more/post.json", hidden: 4, errors: map[string]int64{experiment.FailureStatus: 8},
			severity: experiment.SeverityWarn, note: again,
		},
		{
			file: "bombardier/more/intro.txt", hidden: 17, errors: map[string]int64{experiment.FailureStatus: 33},
			unknown:  map[string]string{"service_time_p50": "without -l"},
			severity: experiment.SeverityNote, note: "the text has no length of the run",
		},
		{
			file: "bombardier/more/rate.json", hidden: 1, errors: map[string]int64{experiment.FailureStatus: 2},
			mixed:    map[string]float64{"service_time_p50": 2.308e-3},
			unknown:  map[string]string{"latency_p50": "real send", "latency_max": "real send", "offered": "asked for"},
			severity: experiment.SeverityNote, note: "fasthttp",
		},
		{
			file: "bombardier/more/http1.json", errors: map[string]int64{experiment.FailureStatus: 8, experiment.FailureReset: 4},
			severity: experiment.SeverityWarn, note: "12 failures (4 without a response) of 400",
		},
		{
			file: "bombardier/more/http1.txt", errors: map[string]int64{experiment.FailureStatus: 8, experiment.FailureReset: 4},
			severity: experiment.SeverityWarn, note: "12 failures (4 without a response) of 400",
		},
	} {
		t.Run(c.file, func(t *testing.T) {
			truth := truthOf(t, c.file)
			out := mustRead(t, bombardier(), reference(t, c.file), experiment.Span{})
			wellFormed(t, out)
			wantDone(t, out, truth.Statuses["200"], truth.Statuses["500"]+out.Errors[experiment.FailureReset])
			if diff := cmp.Diff(c.errors, out.Errors); diff != "" {
				t.Error(diff)
			}
			if done := out.Total.Sent; done+c.hidden+c.open != truth.Requests {
				t.Errorf("%d requests are told, and the target saw %d", done, truth.Requests)
			}
			wantValues(t, out, c.values)
			wantMixed(t, out, c.mixed)
			for metric, why := range c.unknown {
				wantUnknown(t, out, metric, why)
			}
			wantNote(t, out, c.severity, c.note)
			last := "/s"
			if strings.HasSuffix(c.file, "json") {
				last = "}}}}"
			}
			cutAnywhere(t, bombardier(), c.file, last)
		})
	}
}

func TestBombardierRefuses(t *testing.T) {
	whole := reference(t, "bombardier/results.json")
	for _, c := range []struct {
		name, text, want string
		cut              bool
	}{
		{"cut JSON", whole[:300], "cut off", true},
		{"progress alone", "Bombarding http://a/ for 1s using 4 connection(s)\n", "stopped before", true},
		{"no request", strings.NewReplacer(`"req2xx":980`, `"req2xx":0`, `"req5xx":20`, `"req5xx":0`).Replace(whole), "no request", true},
		{"a negative count", strings.Replace(whole, `"req2xx":980`, `"req2xx":-1`, 1), "-1 requests", false},
		{"no time", strings.Replace(whole, `1.241519078`, `0`, 1), "lasted 0 s", false},
		{"a wrong type", strings.Replace(whole, `"req2xx":980`, `"req2xx":"x"`, 1), "no JSON of bombardier", false},
		{"another tool", "{}", "is wanted", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := bombardier().ReadOutput(strings.NewReader(c.text), experiment.Span{})
			wantError(t, err, c.cut, c.want)
		})
	}
}

func TestBombardierWarnsOfNoResponse(t *testing.T) {
	text := strings.NewReplacer(`"others":0,`, `"others":30,"errors":[{"description":"dial tcp 127.0.0.1:1: connect: connection refused","count":25},{"description":"timeout","count":4}],`).Replace(reference(t, "bombardier/results.json"))
	out := mustRead(t, bombardier(), text, experiment.Span{})
	wantNote(t, out, experiment.SeverityWarn, "50 failures (30 without a response) of 1030")
	if diff := cmp.Diff(map[string]int64{experiment.FailureStatus: 20, experiment.FailureRefused: 25, experiment.FailureTimeout: 4, experiment.FailureOther: 1}, out.Errors); diff != "" {
		t.Error(diff)
	}
}

func FuzzBombardier(f *testing.F) { fuzzTool(f, bombardier()) }
