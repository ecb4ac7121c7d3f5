package reader

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestK6SamplesAgainstTarget(t *testing.T) {
	for _, test := range []struct {
		file    string
		dropped int64
	}{
		{"k6/constant-vus.samples.csv", 0},
		{"k6/constant-vus.samples.json", 0},
		{"k6/constant-arrival-rate.samples.csv", 78},
		{"k6/constant-arrival-rate.samples.json", 78},
	} {
		t.Run(test.file, func(t *testing.T) {
			want := truthOf(t, test.file)
			out := mustRead(t, k6(), reference(t, test.file), experiment.Span{})
			wellFormed(t, out)
			total := out.Total
			if total.Sent != want.Requests || total.OK != want.Statuses["200"] || total.Dropped != test.dropped {
				t.Errorf("%+v, the target saw %+v", total, want)
			}
			for _, statuses := range []map[string]int64{out.Statuses, total.Statuses} {
				if diff := cmp.Diff(want.status(), statuses); diff != "" {
					t.Error(diff)
				}
			}
			if diff := cmp.Diff(map[string]int64{"timeout": want.Statuses[held], "status": want.Statuses["500"]}, total.Errors); diff != "" {
				t.Error(diff)
			}
			// The target answered after 120 ms.
			if v, _ := observed(out, "service_time_p50"); v < 0.120 || v > 0.125 {
				t.Errorf("service_time_p50 %g", v)
			}
			if v, _ := observed(out, "service_time_max"); v > 0.4 {
				t.Errorf("service_time_max %g is that of a timeout", v)
			}
			wantUnknown(t, out, "latency_p99", "counts from the real send")
			wantUnknown(t, out, "lateness_p99", "k6 does not tell")
			wantNote(t, out, experiment.SeverityNote, "http_req_duration + http_req_blocked")
			wantNote(t, out, experiment.SeverityNote, "do not tell whether k6 came to its end")
		})
	}
}

// By default, CSV has whole seconds: there is nothing to divide by.
func TestK6WholeSeconds(t *testing.T) {
	const file = "k6/constant-vus.samples.csv"
	out := mustRead(t, k6(), reference(t, file), experiment.Span{})
	for _, metric := range []string{"throughput", "sent", "offered", "in_flight", "connects", "bytes_received"} {
		wantUnknown(t, out, metric, "whole seconds")
	}
	if out.Window != 0 || !out.Begin.IsZero() || len(out.Series) != 0 {
		t.Errorf("window %s from %s, %d points", out.Window, out.Begin, len(out.Series))
	}
	wantNote(t, out, experiment.SeverityNote, "K6_CSV_TIME_FORMAT=unix_nano")

	// In 46 and 47 the window's begin cuts through some seconds of begins.
	at := time.Unix(1796055346, 5e8)
	out = mustRead(t, k6(), reference(t, file), experiment.Span{Begin: at})
	wellFormed(t, out)
	wantUnknown(t, out, "requests_done", "may have begun in the window")
	wantUnknown(t, out, "error_rate", "may have begun in the window")
	wantNote(t, out, experiment.SeverityNote, "requests are left out")
}

// JSON has nanoseconds: rates, connections and bytes are those that the target saw.
func TestK6JSONRates(t *testing.T) {
	for _, file := range []string{"k6/constant-vus.samples.json", "k6/constant-arrival-rate.samples.json"} {
		t.Run(file, func(t *testing.T) {
			want := truthOf(t, file)
			out := mustRead(t, k6(), reference(t, file), experiment.Span{})
			seconds := out.Window.Seconds()
			count := func(metric string) float64 {
				v, told := observed(out, metric)
				if !told {
					t.Errorf("%s is unknown", metric)
				}
				return math.Round(v * seconds)
			}
			if got := count("connects"); got != float64(want.Connections-1) { // one is a probe
				t.Errorf("%g connections, the target saw %d", got, want.Connections-1)
			}
			if got := count("sent"); got != float64(want.Requests) {
				t.Errorf("%g requests", got)
			}
			// k6 counts heads too: 101 bytes before each body of 3, and those of the 500s.
			if got := count("bytes_received"); got <= float64(want.Bodies) || got != math.Round(101*float64(want.Statuses["200"])+3*float64(want.Statuses["200"])+138*float64(want.Statuses["500"])) {
				t.Errorf("%g bytes received, the target sent bodies of %d", got, want.Bodies)
			}
			if first := time.Unix(0, want.FirstArrival).Sub(out.Begin); first < 0 || first > 20*time.Millisecond {
				t.Errorf("the first request began %s before the target saw it", first)
			}
			if len(out.Series) == 0 || len(out.Histograms) != 1 {
				t.Errorf("%d points, %d histograms", len(out.Series), len(out.Histograms))
			}
		})
	}
}

func TestK6SummariesAgainstTarget(t *testing.T) {
	for _, test := range []struct {
		file, format string
		dropped      int64
		p99          float64
		data         float64 // bytes received
	}{
		{"k6/constant-vus.summary-export.json", "summary-export", 0, 0.00882061388, 156292},
		{"k6/constant-vus.handle-summary.json", "handle-summary", 0, 0.01040779317, 151474},
		{"k6/constant-vus.stdout.txt", "text", 0, 0.00882, 0},
		{"k6/constant-arrival-rate.summary-export.json", "summary-export", 178, 0.06775984189, 12756},
		{"k6/constant-arrival-rate.handle-summary.json", "handle-summary", 178, 0.06503544305, 12756},
		{"k6/constant-arrival-rate.stdout.txt", "text", 178, 0.06775, 0},
	} {
		t.Run(test.file, func(t *testing.T) {
			want := truthOf(t, test.file)
			out := mustRead(t, k6(), reference(t, test.file), experiment.Span{})
			wellFormed(t, out)
			ok := want.Statuses["200"]
			total := experiment.Totals{Offered: want.Requests + test.dropped, Sent: want.Requests, Dropped: test.dropped, OK: ok, Failed: want.Requests - ok}
			if diff := cmp.Diff(total, out.Total); diff != "" {
				t.Error(diff)
			}
			if v, _ := observed(out, "error_rate"); v != float64(want.Requests-ok)/float64(want.Requests) {
				t.Errorf("error_rate %g", v)
			}
			if v, _ := observed(out, "service_time_p99"); math.Abs(v-test.p99) > 1e-7 {
				t.Errorf("service_time_p99 %.10g", v)
			}
			// The target told neither of statuses nor of timeouts here.
			wantNote(t, out, experiment.SeverityNote, "neither statuses nor kinds of failures")
			if out.Statuses != nil || out.Errors != nil {
				t.Errorf("%v %v", out.Statuses, out.Errors)
			}
			v, told := observed(out, "bytes_received")
			if told != (test.data > 0) || math.Abs(v*out.Window.Seconds()-test.data) > 0.01 {
				t.Errorf("bytes received: %g", v*out.Window.Seconds())
			}
			span := time.Duration(want.LastArrival - want.FirstArrival)
			if out.Window < span || out.Window > span+time.Second {
				t.Errorf("window %s, arrivals over %s", out.Window, span)
			}
			wantUnknown(t, out, "service_time_p999", "only where summaryTrendStats asks for it")
			wantNote(t, out, experiment.SeverityNote, "a warm-up of its own included")
			wantNote(t, out, experiment.SeverityNote, "without the time to get a connection")
		})
	}
}

// http_req_failed has passes for failures: three failed, and its passes are three.
func TestK6FailedIsInverted(t *testing.T) {
	text := reference(t, "k6/constant-arrival-rate.summary-export.json")
	if !strings.Contains(text, `"passes": 3,`) {
		t.Fatal("the reference has no three passes")
	}
	out := mustRead(t, k6(), text, experiment.Span{})
	if out.Total.Failed != 3 || out.Total.OK != 120 {
		t.Errorf("%+v", out.Total)
	}
}

func TestK6Dropped(t *testing.T) {
	const file = "k6/constant-arrival-rate.summary-export.json"
	out := mustRead(t, k6(), reference(t, file), experiment.Span{})
	if v, _ := observed(out, "dropped"); v != 178.0/301 {
		t.Errorf("dropped %g", v)
	}
	if v, _ := observed(out, "offered"); math.Abs(v-98.94) > 0.01 {
		t.Errorf("offered %g", v)
	}
	wantNote(t, out, experiment.SeverityWarn, "k6 did not begin 178 of 301")

	// Absent is not 0: a closed executor drops nothing either.
	out = mustRead(t, k6(), reference(t, "k6/constant-vus.summary-export.json"), experiment.Span{})
	wantUnknown(t, out, "dropped", "does not tell whether its executor could")

	// An iteration of two requests.
	text := strings.Replace(reference(t, file), `"count": 123
        },
        "http_req_blocked"`, `"count": 61
        },
        "http_req_blocked"`, 1)
	out = mustRead(t, k6(), text, experiment.Span{})
	wantUnknown(t, out, "offered", "61 iterations, 123 requests")
	wantUnknown(t, out, "dropped", "61 iterations, 123 requests")
	wantNote(t, out, experiment.SeverityWarn, "k6 did not begin 178 iterations")

	// The text of a run that was not quiet names the executor.
	const plan = "scenarios: (100.00%) 1 scenario, 3 max VUs, 5s max duration (incl. graceful stop):\n * main: 100.00 iterations/s for 3s (maxVUs: 2-3, gracefulStop: 2s)\n\n"
	out = mustRead(t, k6(), plan+reference(t, "k6/constant-vus.stdout.txt"), experiment.Span{})
	if v, told := observed(out, "dropped"); !told || v != 0 {
		t.Errorf("dropped %g, %v", v, told)
	}
}

func TestK6MixedPercentiles(t *testing.T) {
	text := reference(t, "k6/constant-vus.summary-export.json")
	without := strings.Replace(text, k6Expected, "http_req_duration{scenario:main}", 1)
	out := mustRead(t, k6(), without, experiment.Span{})
	wantUnknown(t, out, "service_time_p50", k6Expected+" tells them apart")
	wantNote(t, out, experiment.SeverityWarn, "successes and 45 failures of 1508 requests together, and are no metric here: service_time_p50 ")

	// Without a failure, all are successes.
	without = strings.Replace(strings.Replace(without, `"passes": 45,`, `"passes": 0,`, 1), `"fails": 1463,`, `"fails": 1508,`, 1)
	out = mustRead(t, k6(), without, experiment.Span{})
	if v, _ := observed(out, "service_time_max"); out.Total.Failed != 0 || math.Abs(v-0.50594) > 1e-5 {
		t.Errorf("service_time_max %g of %+v", v, out.Total)
	}
}

// A text of before 1.0: marks in front of metrics, ✓ for what http_req_failed passed.
func TestK6OldText(t *testing.T) {
	const text = `
     ✗ status is 200
      ↳  97% — ✓ 120 / ✗ 3

     checks.........................: 97.56% ✓ 120       ✗ 3
     data_received..................: 13 kB  4.2 kB/s
     dropped_iterations.............: 178    58.510469/s
     http_req_blocked...............: avg=3.1ms   min=3.7µs   med=6.97µs  max=9.59ms   p(90)=10.89µs p(95)=39.45µs
   ✓ http_req_duration..............: avg=64.7ms  min=60.21ms med=60.91ms max=1m0.5s   p(90)=61.53ms p(95)=61.84ms
       { expected_response:true }...: avg=61.12ms min=60.21ms med=60.9ms  max=1.02s    p(90)=61.52ms p(95)=61.7ms
       { name:other }...............: avg=1ms     min=1ms     med=1ms     max=1ms      p(90)=1ms     p(95)=1ms
   ✓ http_req_failed................: 2.43%  ✓ 3         ✗ 120
     http_reqs......................: 123    40.431391/s
     iteration_duration.............: avg=65.13ms min=60.4ms  med=61.23ms max=501.73ms p(90)=62.12ms p(95)=63.54ms
     iterations.....................: 123    40.431391/s
     vus............................: 3      min=2       max=3
`
	out := mustRead(t, k6(), strings.ReplaceAll(text, "61.52ms", "\x1b[36m61.52ms\x1b[0m"), experiment.Span{})
	wellFormed(t, out)
	if diff := cmp.Diff(experiment.Totals{Offered: 301, Sent: 123, Dropped: 178, OK: 120, Failed: 3}, out.Total); diff != "" {
		t.Error(diff)
	}
	for metric, want := range map[string]float64{"service_time_p50": 0.0609, "service_time_p90": 0.06152, "service_time_p95": 0.0617, "service_time_max": 1.02} {
		if v, _ := observed(out, metric); math.Abs(v-want) > 1e-12 {
			t.Errorf("%s %g, want %g", metric, v, want)
		}
	}
	wantUnknown(t, out, "service_time_p99", "k6 tells p(99) only where")
	wantUnknown(t, out, "bytes_received", "rounds it to two digits")
	// 3.1 of 64.7 ms is little.
	wantNote(t, out, experiment.SeverityNote, "mean 0.0031 s, p(95) 3.94e-05 s, max 0.00959 s")
	out = mustRead(t, k6(), strings.Replace(text, "avg=3.1ms", "avg=13.1ms", 1), experiment.Span{})
	wantNote(t, out, experiment.SeverityWarn, "mean 0.0131 s")
}

// The file of a kill ends between two samples: nothing shows that those of the last
// second, of 19 requests with the timeout among them, were never written.
func TestK6Killed(t *testing.T) {
	const file = "killed/k6/samples.csv"
	want := truthOf(t, file)
	text := reference(t, file)
	out := mustRead(t, k6(), text, experiment.Span{})
	if missing := want.Requests - out.Total.Sent; missing != 19 || out.Total.Errors["timeout"] != 0 {
		t.Errorf("%d requests are missing, %v", missing, out.Total.Errors)
	}
	wantNote(t, out, experiment.SeverityNote, "do not tell whether k6 came to its end")

	out, err := k6().ReadOutput(strings.NewReader(text[:60000]), experiment.Span{})
	wantError(t, err, true, "cut off inside line 620")
	if out.Total.Sent != 44 {
		t.Errorf("%d requests were read beside the error", out.Total.Sent)
	}
	inside := strings.LastIndex(text, "http_req_blocked")
	_, err = k6().ReadOutput(strings.NewReader(text[:inside]), experiment.Span{})
	wantError(t, err, true, "the samples of its last request are cut off")
	json := reference(t, "k6/constant-vus.samples.json")
	out, err = k6().ReadOutput(strings.NewReader(json[:50000]), experiment.Span{})
	wantError(t, err, true, "is cut off")
	if out.Total.Sent < 10 {
		t.Errorf("%d requests were read beside the error", out.Total.Sent)
	}
	_, err = k6().ReadOutput(strings.NewReader(reference(t, "killed/k6/stdout.txt")), experiment.Span{})
	wantError(t, err, true, "it is empty")
}

const k6Header = "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,status,url,extra_tags,metadata\n"

// k6CSVRequest writes the samples of one request.
func k6CSVRequest(at string, duration, blocked, connecting float64, tags string) string {
	var b strings.Builder
	for _, one := range []struct {
		metric string
		value  float64
	}{{"http_reqs", 1}, {"http_req_duration", duration}, {"http_req_blocked", blocked}, {"http_req_connecting", connecting}, {"http_req_waiting", duration}} {
		b.WriteString(one.metric + "," + at + "," + strconv.FormatFloat(one.value, 'f', 6, 64) + "," + tags + "\n")
	}
	return b.String()
}

func TestK6TimeFormats(t *testing.T) {
	const ok = ",,,true,,GET,http://a/,200,http://a/,,"
	for _, test := range []struct {
		name, first, second string
		vague               bool
	}{
		{"unix", "1796055346", "1796055347", true},
		{"unix_milli", "1796055346250", "1796055347250", false},
		{"unix_micro", "1796055346250000", "1796055347250000", false},
		{"unix_nano", "1796055346250000000", "1796055347250000000", false},
		{"rfc3339", "2026-11-30T16:15:46Z", "2026-11-30T16:15:47Z", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := k6Header + k6CSVRequest(test.first, 30, 20, 15, ok) + k6CSVRequest(test.second, 40, 0, 0, ok)
			out := mustRead(t, k6(), text, experiment.Span{})
			wellFormed(t, out)
			if test.vague {
				wantUnknown(t, out, "throughput", "whole seconds")
				return
			}
			// From 50 ms before the end of the first one, to the end of the second.
			if out.Window != 1050*time.Millisecond+1 || !out.Begin.Equal(time.UnixMilli(1796055346200)) {
				t.Errorf("%s from %s", out.Window, out.Begin)
			}
			if v, _ := observed(out, "service_time_max"); math.Abs(v-0.05) > 5e-5 {
				t.Errorf("service_time_max %g: duration and blocked are 0.05", v)
			}
			if v, _ := observed(out, "connects"); math.Round(v*1.05) != 1 {
				t.Errorf("connects %g", v)
			}
		})
	}
}

func TestK6Judgement(t *testing.T) {
	at := "1796055346250"
	for _, test := range []struct {
		name, tags string
		failed     bool
		kind       string
	}{
		{"expected", ",,,true,,GET,a,404,a,,", false, ""},
		{"not expected", ",,1404,false,,GET,a,404,a,,", true, "status"},
		{"not judged", ",,,,,GET,a,302,a,,", false, ""},
		{"not judged, 404", ",,1404,,,GET,a,404,a,,", true, "status"},
		{"refused", ",dial: connection refused,1212,false,,GET,a,0,a,,", true, "refused"},
		{"dial timeout", ",dial: i/o timeout,1211,false,,GET,a,0,a,,", true, "timeout"},
		{"timeout", ",request timeout,1050,false,,GET,a,0,a,,", true, "timeout"},
		{"reset", ",read: connection reset by peer,1220,false,,GET,a,0,a,,", true, "reset"},
		{"DNS", ",lookup: no such host,1101,false,,GET,a,0,a,,", true, "connect"},
		{"TLS", ",x509: unknown authority,1310,false,,GET,a,0,a,,", true, "tls"},
		{"HTTP/2", ",http2: stream error,1632,false,,GET,a,0,a,,", true, "protocol"},
		{"no class", ",EOF,1000,false,,GET,a,0,a,,", true, "eof"},
		{"nothing told", ",,,false,,GET,a,0,a,,", true, "other"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := mustRead(t, k6(), k6Header+k6CSVRequest(at, 5, 1, 0, test.tags), experiment.Span{})
			if (out.Total.Failed == 1) != test.failed || test.failed && out.Total.Errors[test.kind] != 1 {
				t.Errorf("%+v", out.Total)
			}
		})
	}
}

func TestK6Asides(t *testing.T) {
	const ok, early = ",,,true,,GET,a,200,a,,", ",dial: connection refused,1212,false,,GET,a,0,a,,"
	text := k6Header +
		k6CSVRequest("1796055346100", 500, 0, 0, ",,,true,::setup,GET,a,200,a,,") +
		"data_sent,1796055346100,1000.000000,,,,,::setup,,,,,,\n" +
		k6CSVRequest("1796055346250", 10, 0, 0, ",,,true,,GET,login,200,a,,") +
		k6CSVRequest("1796055346260", 10, 0, 0, ",,,true,,GET,pay,200,a,,") +
		"checks,1796055346260,0.000000,fine,,,,,,,,,,\n" +
		k6CSVRequest("1796055346270", 0, 0, 0, early)
	out := mustRead(t, k6(), text, experiment.Span{})
	if out.Total.Sent != 3 || out.Total.Failed != 1 {
		t.Errorf("%+v", out.Total)
	}
	wantNote(t, out, experiment.SeverityNote, "1 requests of the script's setup and teardown")
	wantNote(t, out, experiment.SeverityNote, "1 requests failed before they had a connection")
	wantUnknown(t, out, "in_flight", "how long they took")
	if v, _ := observed(out, "bytes_sent"); v != 0 {
		t.Errorf("bytes_sent %g are of the setup", v)
	}

	named := k6Header + k6CSVRequest("1796055346250", 10, 0, 0, ",,,true,,GET,login,200,a,,") + k6CSVRequest("1796055346260", 20, 0, 0, ",,,true,,GET,pay,200,a,,")
	out = mustRead(t, k6(), named, experiment.Span{})
	if out.Requests["login"].OK != 1 || out.Requests["pay"].OK != 1 {
		t.Errorf("%+v", out.Requests)
	}
	checks := k6Header + k6CSVRequest("1796055346250", 10, 0, 0, ok) + "checks,1796055346260,0.000000,fine,,,,,,,,,,\n"
	wantNote(t, mustRead(t, k6(), checks, experiment.Span{}), experiment.SeverityNote, "1 checks of the script failed, and 0 requests")
}

func TestK6Errors(t *testing.T) {
	export := reference(t, "k6/constant-vus.summary-export.json")
	handle := reference(t, "k6/constant-vus.handle-summary.json")
	lines := reference(t, "k6/constant-vus.samples.json")
	for _, test := range []struct {
		name, text string
		cut        bool
		want       string
	}{
		{"foreign", "Running 10s test", false, `"Running 10s test" begins it, and samples (--out csv or json`},
		{"summary without an end", export + strings.Repeat(" ", maxText), false, "it is longer than"},
		{"summary cut", export[:len(export)/2], true, "the summary is cut off"},
		{"handleSummary cut", handle[:len(handle)/2], true, "the summary is cut off"},
		{"machine-readable summary", `{"version":"1.0.0","results":{"metrics":[]}}`, false, "--new-machine-readable-summary=false"},
		{"no HTTP", `{"metrics":{"iterations":{"count":5,"rate":1}}}`, false, "k6 sent no request over HTTP"},
		{"no window", strings.Replace(export, `"count": 1508`, `"count": 0`, 2), false, "k6 sent no request over HTTP"},
		{"text cut", "  execution: local\n  running (01.0s), 4/4 VUs, 400 complete\n", true, "the summary at its end is missing"},
		{"json broken", "{\"type\":\"Metric\"}\n{\"type\":\"Point\",\"data\":{\"time\":5}}\n", false, "it is no sample"},
		{"part of no request", strings.SplitAfterN(lines, "\n", 2)[0] + `{"metric":"http_req_duration","type":"Point","data":{"time":"2026-11-30T16:15:56Z","value":1}}` + "\n", false, "http_req_duration of no request"},
		{"csv of no time", k6Header + "http_reqs,soon,1,,,,,,,,,,,\n", false, `line 2: its time is "soon"`},
		{"csv of no value", k6Header + "http_reqs,1796055346,x,,,,,,,,,,,\n", false, `line 2: its value is "x"`},
		{"csv of another width", k6Header + "http_reqs,1796055346,1\nhttp_reqs,1796055346,1\n", false, "wrong number of fields"},
		{"not a number", k6Header + "http_reqs,1796055346,NaN,,,,,,,,,,,\n", false, "is NaN"},
		{"endless", k6Header + k6CSVRequest("1796055346", 1e12, 0, 0, ",,,true,,GET,a,200,a,,"), false, "http_req_duration is 1e+12"},
		{"without its parts", k6Header + strings.Repeat("http_reqs,1796055346,1,,,,,,,,,,,\n", 2), false, "lacks http_req_duration"},
		{"not judged", k6Header + k6CSVRequest("1796055346", 1, 1, 0, ",,,,,GET,a,,a,,") + "vus,1796055346,1,,,,,,,,,,,\n", false, "whether it failed is not told"},
		{"header only", k6Header, true, "it tells of no request"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := k6().ReadOutput(strings.NewReader(test.text), experiment.Span{})
			wantError(t, err, test.cut, test.want)
		})
	}
}

func TestK6SummaryOfAWindow(t *testing.T) {
	span := experiment.Span{Begin: time.Unix(1796055340, 0), End: time.Unix(1796055341, 0)}
	out := mustRead(t, k6(), reference(t, "k6/constant-vus.summary-export.json"), span)
	wantNote(t, out, experiment.SeverityWarn, "cannot be cut to the window from 2026-11-30T16:15:40Z")
}

func k6Files() []string {
	return []string{
		"k6/constant-vus.summary-export.json", "k6/constant-vus.handle-summary.json", "k6/constant-vus.stdout.txt",
		"k6/constant-vus.samples.csv", "k6/constant-vus.samples.json", "k6/constant-arrival-rate.summary-export.json",
		"k6/constant-arrival-rate.samples.csv", "k6/constant-arrival-rate.samples.json", "k6/constant-arrival-rate.stdout.txt",
		"killed/k6/samples.csv",
	}
}

func FuzzK6(f *testing.F) { fuzzReader(f, k6(), k6Files()) }

// Two windows side by side hold each request and each dropped iteration once.
func TestK6Span(t *testing.T) {
	text := reference(t, "k6/constant-arrival-rate.samples.json")
	whole := mustRead(t, k6(), text, experiment.Span{})
	middle := whole.Begin.Add(600 * time.Millisecond)
	before := mustRead(t, k6(), text, experiment.Span{End: middle})
	after := mustRead(t, k6(), text, experiment.Span{Begin: middle})
	wellFormed(t, before)
	wellFormed(t, after)
	if before.Total.Sent == 0 || after.Total.Sent == 0 || before.Total.Sent+after.Total.Sent != whole.Total.Sent {
		t.Errorf("%d and %d of %d requests", before.Total.Sent, after.Total.Sent, whole.Total.Sent)
	}
	if before.Total.Dropped == 0 || after.Total.Dropped == 0 || before.Total.Dropped+after.Total.Dropped != whole.Total.Dropped {
		t.Errorf("%d and %d of %d dropped", before.Total.Dropped, after.Total.Dropped, whole.Total.Dropped)
	}
	if !after.Begin.Equal(middle) || before.Window != 600*time.Millisecond {
		t.Errorf("%s from %s, then from %s", before.Window, before.Begin, after.Begin)
	}
	if v, _ := observed(after, "offered"); math.Round(v*after.Window.Seconds()) != float64(after.Total.Sent+after.Total.Dropped) {
		t.Errorf("offered %g", v)
	}
}
