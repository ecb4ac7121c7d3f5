package reader

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestWrkAgainstTarget(t *testing.T) {
	const file = "wrk/latency.txt"
	truth := truthOf(t, file)
	out := mustRead(t, wrk(), reference(t, file), experiment.Span{})
	wellFormed(t, out)
	// Responses, and those above 399, are exact. Eight came after wrk's timeout of 1 s
	// (they were held for 2 s); the last eight were held when it left, and are uncounted.
	late := out.Errors[experiment.FailureTimeout]
	if got := truth.Statuses["200"] + truth.Statuses["500"]; got != out.Total.OK+out.Total.Failed || got != truth.Requests-truth.Statuses[held] {
		t.Errorf("%d responses, and the target gave %d", out.Total.OK+out.Total.Failed, got)
	}
	wantDone(t, out, truth.Statuses["200"]-late, truth.Statuses["500"]+late)
	if diff := cmp.Diff(map[string]int64{experiment.FailureStatus: 31, experiment.FailureTimeout: 8}, out.Errors); diff != "" {
		t.Error(diff)
	}
	wantValues(t, out, map[string]float64{
		"throughput": 1505 / 4.0201, "requests_done": 1544, "error_rate": 39.0 / 1544, "bytes_received": 157.84 * 1024 / 4.0201,
	})
	wantMixed(t, out, map[string]float64{"service_time_p50": 2.41e-3, "service_time_p90": 2.78e-3, "service_time_p99": 6.25e-3, "service_time_max": 55.8e-3})
	wantUnknown(t, out, "latency_p50", "mixed in")
	wantUnknown(t, out, "latency_p95", "p50, p75, p90 and p99 alone")
	wantUnknown(t, out, "sent", "without a response at the end")
	wantNote(t, out, experiment.SeverityWarn, "8 of 1544 responses came after the timeout: they are in no percentile")
	wantNote(t, out, experiment.SeverityWarn, "31 responses above 399 of 1544")
	wantNote(t, out, experiment.SeverityNote, "invented ones")
	wantNote(t, out, experiment.SeverityNote, "over all that the tool sent")
}

func TestWrkWithoutLatency(t *testing.T) {
	const file = "wrk/more/plain.txt"
	truth := truthOf(t, file)
	out := mustRead(t, wrk(), reference(t, file), experiment.Span{})
	wellFormed(t, out)
	// The target cut 33 connections, each of which cost a request; 4 requests that had
	// begun were open at the end, and are uncounted by wrk, though the target answered.
	open := truth.Requests - truth.Statuses["reset"] - 3227
	wantDone(t, out, truth.Statuses["200"]-open, truth.Statuses["500"]+truth.Statuses["reset"])
	if open != 4 {
		t.Errorf("%d open", open)
	}
	wantValues(t, out, map[string]float64{"requests_done": 3260})
	wantMixed(t, out, map[string]float64{"service_time_max": 9.37e-3})
	wantUnknown(t, out, "latency_p50", "without --latency")
}

func TestWrkUnits(t *testing.T) {
	text := `Running 2m test @ http://a/
  1 threads and 1 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   812.00us    3.00ms   1.20m    98.83%
    Req/Sec     1.39k   405.19     1.39k    68.97%
  Latency Distribution
     50%  641.00us
     75%    2.53ms
     90%    1.78s
     99%    1.10m
  6 requests in 2.00m, 1.50GB read
Requests/sec:      0.05
Transfer/sec:     12.80MB
`
	out := mustRead(t, wrk(), text, experiment.Span{})
	if out.Window != 2*time.Minute {
		t.Errorf("window %s", out.Window)
	}
	wantValues(t, out, map[string]float64{"latency_p50": 641e-6, "latency_p90": 1.78, "latency_p99": 66, "latency_max": 72, "bytes_received": 1.5 * (1 << 30) / 120})
}

func TestWrkRefuses(t *testing.T) {
	text := reference(t, "wrk/latency.txt")
	read := func(text string) error {
		_, err := wrk().ReadOutput(strings.NewReader(text), experiment.Span{})
		return err
	}
	wantError(t, read(text[:strings.Index(text, "1544 requests")]), true, "stopped before")
	wantError(t, read("Running 4s test @ http://a/\n  2 threads and 8 connections\n"), true, "stopped before")
	wantError(t, read(""), true, "empty")
	wantError(t, read(reference(t, "wrk2/latency.txt")), false, "is wanted")
	wantError(t, read("unable to connect to 127.0.0.1:9299 Connection refused\n"), false, "is wanted")
	wantError(t, read(strings.NewReplacer("1544 requests", "0 requests", "384.07", "0.00").Replace(text)), true, "no response")
	cutAnywhere(t, wrk(), "wrk/latency.txt", "Transfer/sec:")
}

func TestWrkCannotBeCutToTheWindow(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	out := mustRead(t, wrk(), reference(t, "wrk/latency.txt"), experiment.Span{Begin: at, End: at.Add(time.Second)})
	wantNote(t, out, experiment.SeverityWarn, "cannot be cut to the window")
}

func FuzzWrk(f *testing.F) { fuzzTool(f, wrk()) }
