package reader

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestFortio(t *testing.T) {
	for name, file := range map[string]string{"JSON": "fortio/results.json", "text": "fortio/stderr.txt"} {
		t.Run(name, func(t *testing.T) {
			out := mustRead(t, fortio(), reference(t, file), experiment.Span{})
			wellFormed(t, out)
			want := truthOf(t, file)
			// 8 calls of the warm-up are in no number, and of each that was held fortio tells
			// only what came when it was sent again.
			if got := out.Total.Sent + 8 + want.Statuses[held]; got != want.Requests {
				t.Errorf("%d calls, the target saw %d", out.Total.Sent, want.Requests)
			}
			if diff := cmp.Diff(map[string]int64{"200": want.Statuses["200"] - 8, "500": want.Statuses["500"]}, out.Statuses); diff != "" {
				t.Errorf("statuses, target and fortio:\n%s", diff)
			}
			if diff := cmp.Diff(map[string]int64{experiment.FailureStatus: 12}, out.Errors); diff != "" {
				t.Errorf("failures:\n%s", diff)
			}
			wantDone(t, out, 574, 12)
			wantValues(t, out, map[string]float64{"throughput": 574 / 3.4232545, "offered": 600 / 3.4232545, "error_rate": 12.0 / 586})
			wantNote(t, out, experiment.SeverityWarn, "up to 17 requests more, and timeouts among them are no errors")
			wantNote(t, out, experiment.SeverityWarn, "where -qps asked for 200")
			wantNote(t, out, experiment.SeverityNote, "warm-up")
			wantUnknown(t, out, "sent", "sent again")
			wantUnknown(t, out, "latency_p99", "was paced")
		})
	}
}

// fortioWith gives the reference with one of its values changed.
func fortioWith(t *testing.T, change func(map[string]any)) string {
	t.Helper()
	all := map[string]any{}
	if err := json.Unmarshal([]byte(reference(t, "fortio/results.json")), &all); err != nil {
		t.Fatal(err)
	}
	change(all)
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFortioQuantiles(t *testing.T) {
	t.Run("of successes", func(t *testing.T) {
		out := mustRead(t, fortio(), reference(t, "fortio/results.json"), experiment.Span{})
		// 5 of 574 successes took 0.5 s: p99 lies below them, and fortio's own, over 586
		// calls with 6 of 0.5 s, among them.
		wantValues(t, out, map[string]float64{"service_time_p50": 0.0027695, "service_time_p99": 0.005852})
		wantNote(t, out, experiment.SeverityWarn, "interpolated in buckets")
	})
	t.Run("without failures they are fortio's own", func(t *testing.T) {
		out := mustRead(t, fortio(), fortioWith(t, func(all map[string]any) { delete(all, "ErrorsDurationHistogram") }), experiment.Span{})
		wantValues(t, out, map[string]float64{
			"service_time_p50": 0.0027727222833723655, "service_time_p90": 0.003680821917808219, "service_time_p99": 0.50010440087, "service_time_p999": 0.504037330787,
		})
	})
	t.Run("of all outcomes in a text without buckets", func(t *testing.T) {
		out := mustRead(t, fortio(), reference(t, "fortio/stderr.txt"), experiment.Span{})
		wantMixed(t, out, map[string]float64{"service_time_p99": 0.500104, "service_time_max": 0.504474})
		wantNote(t, out, experiment.SeverityWarn, "successes and 12 failures of 586 requests together")
		wantUnknown(t, out, "service_time_p95", "-p")
		wantNote(t, out, experiment.SeverityWarn, "9.31% of its waits")
	})
	t.Run("the longest call failed", func(t *testing.T) {
		out := mustRead(t, fortio(), fortioWith(t, func(all map[string]any) {
			all["ErrorsDurationHistogram"].(map[string]any)["Max"] = 0.504474323
		}), experiment.Span{})
		wantUnknown(t, out, "service_time_max", "the longest call failed")
	})
	t.Run("a closed loop", func(t *testing.T) {
		out := mustRead(t, fortio(), fortioWith(t, func(all map[string]any) { all["RequestedQPS"] = "max" }), experiment.Span{})
		wellFormed(t, out)
		wantValues(t, out, map[string]float64{"latency_p99": 0.005852, "failed_latency_max": 0.50349613})
		wantUnknown(t, out, "offered", "does not tell")
	})
	t.Run("no connection was lost", func(t *testing.T) {
		out := mustRead(t, fortio(), fortioWith(t, func(all map[string]any) { all["SocketCount"] = 8 }), experiment.Span{})
		wantValues(t, out, map[string]float64{"sent": 586 / 3.42325451})
	})
	t.Run("no number of connections", func(t *testing.T) {
		out := mustRead(t, fortio(), fortioWith(t, func(all map[string]any) { all["SocketCount"] = 0 }), experiment.Span{})
		wantUnknown(t, out, "sent", "is not told")
		for _, n := range out.Notes {
			if strings.Contains(n.Text, "connections") {
				t.Errorf("a note of what is unknown: %s", n.Text)
			}
		}
	})
	t.Run("without keep-alive nothing is sent again", func(t *testing.T) {
		out := mustRead(t, fortio(), fortioWith(t, func(all map[string]any) { all["SocketCount"], all["DisableKeepAlive"] = 0, true }), experiment.Span{})
		wantValues(t, out, map[string]float64{"sent": 586 / 3.42325451})
	})
	t.Run("all calls failed", func(t *testing.T) {
		out := mustRead(t, fortio(), fortioWith(t, func(all map[string]any) {
			all["ErrorsDurationHistogram"] = all["DurationHistogram"]
			all["RetCodes"] = map[string]int{"-1": 586}
		}), experiment.Span{})
		wellFormed(t, out)
		wantDone(t, out, 0, 586)
		wantUnknown(t, out, "service_time_p50", "no such request")
		if out.Errors[experiment.FailureOther] != 586 {
			t.Errorf("%v", out.Errors)
		}
	})
}

func TestFortioWithout(t *testing.T) {
	all := &fortioHistogram{Count: 3, Min: 1, Max: 3, Data: []fortioInterval{{1, 2, 2}, {2, 3, 1}}}
	left, mixed := all.without(&fortioHistogram{Count: 1, Min: 1.5, Max: 1.5, Data: []fortioInterval{{1.5, 1.5, 1}}})
	if diff := cmp.Diff([]fortioInterval{{1, 2, 1}, {2, 3, 1}}, left.Data); diff != "" || mixed {
		t.Errorf("mixed: %v\n%s", mixed, diff)
	}
	if left, mixed := all.without(&fortioHistogram{Count: 2, Max: 3, Data: []fortioInterval{{2, 3, 2}}}); !mixed || left != all {
		t.Errorf("more failures than calls in a bucket: mixed %v", mixed)
	}
	if v, _ := (&fortioHistogram{Count: 1, Max: math.NaN(), Data: []fortioInterval{{1, 2, 1}}}).quantile(1); !math.IsNaN(v) {
		t.Errorf("an unknown maximum is %g", v)
	}
}

func TestFortioCut(t *testing.T) {
	text := reference(t, "fortio/results.json")
	for n := 1; n < len(text)-2; n += 7 {
		_, err := fortio().ReadOutput(strings.NewReader(text[:n]), experiment.Span{})
		wantError(t, err, true, "cut off")
	}
	cutAnywhere(t, fortio(), "fortio/stderr.txt", "avg, 171.2 qps")
	_, err := fortio().ReadOutput(strings.NewReader(reference(t, "killed/fortio/stderr.txt")), experiment.Span{})
	wantError(t, err, true, "All done is missing")
	_, err = fortio().ReadOutput(strings.NewReader(reference(t, "killed/fortio/stdout.txt")), experiment.Span{})
	wantError(t, err, true, "it is empty")
}

func TestFortioRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		cut  bool
		want string
	}{
		"another tool":        {"Summary:\n", false, "the JSON of -json"},
		"a list":              {`{"RunType": []}`, false, "cannot unmarshal"},
		"an empty object":     {"{}", true, "no call"},
		"no time":             {`{"RunType":"HTTP","DurationHistogram":{"Count":1}}`, false, "it lasted"},
		"more failures":       {`{"RunType":"HTTP","DurationHistogram":{"Count":1},"ErrorsDurationHistogram":{"Count":2}}`, false, "2 of 1 calls"},
		"an error of its own": {`{"RunType":"HTTP","exception":"no such host"}`, false, "gave up"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fortio().ReadOutput(strings.NewReader(c.text), experiment.Span{})
			wantError(t, err, c.cut, c.want)
		})
	}
}

func FuzzFortio(f *testing.F) { fuzzTool(f, fortio()) }
