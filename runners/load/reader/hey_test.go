package reader

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestHeySummary(t *testing.T) {
	const file = "hey/summary.txt"
	out := mustRead(t, hey(), reference(t, file), experiment.Span{})
	wellFormed(t, out)
	want := truthOf(t, file)
	if diff := cmp.Diff(want.status(), out.Statuses); diff != "" {
		t.Errorf("statuses, target and hey:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{experiment.FailureStatus: want.Statuses["500"], experiment.FailureTimeout: want.Statuses[held]}, out.Errors); diff != "" {
		t.Errorf("failures, target and hey:\n%s", diff)
	}
	if out.Total.Sent != want.Requests {
		t.Errorf("%d requests, the target saw %d", out.Total.Sent, want.Requests)
	}
	wantValues(t, out, map[string]float64{
		"throughput": 970 / 3.3643, "sent": 297.236, "error_rate": 0.03, "requests_done": 1000,
	})
	wantMixed(t, out, map[string]float64{"service_time_p50": 0.0027, "service_time_p99": 0.0071, "service_time_max": 0.0145})
	// The timeouts of 1 s are in no quantile, and failures of the target are.
	wantNote(t, out, experiment.SeverityWarn, "10 of 1000 requests had no response")
	wantNote(t, out, experiment.SeverityWarn, "20 responses above 399")
	wantUnknown(t, out, "latency_p99", "real send")
	wantUnknown(t, out, "service_time_p999", "hey tells")
	wantUnknown(t, out, "bytes_received", "bodies without heads")
}

func TestHeyCSV(t *testing.T) {
	const file = "hey/results.csv"
	out := mustRead(t, hey(), reference(t, file), experiment.Span{Begin: time.Unix(5, 0)})
	wellFormed(t, out)
	want := truthOf(t, file)
	if diff := cmp.Diff(want.status(), out.Statuses); diff != "" {
		t.Errorf("statuses, target and hey:\n%s", diff)
	}
	// Requests without a response have no row.
	if got := out.Total.Sent; got != want.Requests-want.Statuses[held] {
		t.Errorf("%d requests, the target saw %d and held %d", got, want.Requests, want.Statuses[held])
	}
	wantNote(t, out, experiment.SeverityWarn, "have no row")
	wantNote(t, out, experiment.SeverityWarn, "cannot be cut to the window")
	for _, metric := range []string{"sent", "error_rate", "requests_done", "in_flight"} {
		wantUnknown(t, out, metric, "have no row")
	}
	if p50, _ := observed(out, "service_time_p50"); p50 < 0.0025 || p50 > 0.0029 || !out.Begin.IsZero() {
		t.Errorf("service_time_p50 is %g, the window began %s", p50, out.Begin)
	}
}

func TestHeyTraps(t *testing.T) {
	text := reference(t, "hey/summary.txt")
	t.Run("more responses than it keeps", func(t *testing.T) {
		out := mustRead(t, hey(), strings.NewReplacer("970 responses", "999980 responses", "297.2360", "594477.3").Replace(text), experiment.Span{})
		wellFormed(t, out)
		wantNote(t, out, experiment.SeverityWarn, "first 1000000 of 2000000")
		wantUnknown(t, out, "throughput", "first 1000000")
	})
	t.Run("a quantile of too few responses", func(t *testing.T) {
		out := mustRead(t, hey(), strings.Replace(text, "  99% in 0.0071", "  0% in 0.0000", 1), experiment.Span{})
		wantUnknown(t, out, "service_time_p99", "enough responses")
	})
	t.Run("failures alone", func(t *testing.T) {
		const failed = "\nSummary:\n  Total:\t1.0000 secs\n  Slowest:\t0.0000 secs\n  Requests/sec:\t7.0000\n\nStatus code distribution:\n\n" +
			"Error distribution:\n  [7]\tGet \"http://a/\": dial tcp 127.0.0.1:1: connect: connection refused\n\n"
		out := mustRead(t, hey(), failed, experiment.Span{})
		wellFormed(t, out)
		wantDone(t, out, 0, 7)
		wantUnknown(t, out, "service_time_p50", "no such request")
		if out.Errors[experiment.FailureRefused] != 7 {
			t.Errorf("%v", out.Errors)
		}
	})
	cutAnywhere(t, hey(), "hey/summary.txt", "[10]\tG")
}

func TestHeyKilled(t *testing.T) {
	_, err := hey().ReadOutput(strings.NewReader(reference(t, "killed/hey/stdout.txt")), experiment.Span{})
	wantError(t, err, true, "stopped before it wrote")
}

func TestHeyRefuses(t *testing.T) {
	const head = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n"
	row := func(took, status, offset string) string {
		return fmt.Sprintf("%s,0,0,0,0,0,%s,%s", took, status, offset)
	}
	for name, c := range map[string]struct {
		text string
		cut  bool
		want string
	}{
		"a header alone":  {head, true, "no request"},
		"cut in a row":    {head + row("0.1", "200", "0") + "\n" + row("0.1", "200", "1"), true, "inside line 3"},
		"a negative time": {head + row("-0.1", "200", "0") + "\n", false, "line 2: response-time is"},
		"no time":         {head + row("NaN", "200", "0") + "\n", false, "line 2: response-time is"},
		"no status":       {head + row("0.1", "ok", "0") + "\n", false, "line 2: status-code is"},
		"columns missing": {"response-time,offset\n1,1\n", false, "status-code"},
		"another tool":    {"Running 10s test @ http://a\n", false, "its summary, or the CSV"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := hey().ReadOutput(strings.NewReader(c.text), experiment.Span{})
			wantError(t, err, c.cut, c.want)
		})
	}
}

func FuzzHey(f *testing.F) { fuzzTool(f, hey()) }
