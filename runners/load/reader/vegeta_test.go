package reader

import (
	"bytes"
	"encoding/gob"
	"maps"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestVegetaAgainstTarget(t *testing.T) {
	for _, test := range []struct {
		file, format string
		rows         bool
	}{
		{"vegeta/results.bin", "gob", true},
		{"vegeta/results.csv", "csv", true},
		{"vegeta/results.json", "json", true},
		{"vegeta/report.json", "report-json", false},
		{"vegeta/report.txt", "report-text", false},
	} {
		t.Run(test.file, func(t *testing.T) {
			want := truthOf(t, test.file)
			out := mustRead(t, vegeta(), reference(t, test.file), experiment.Span{})
			wellFormed(t, out)
			if out.Tool != "vegeta" || out.Format != test.format {
				t.Errorf("%s %s", out.Tool, out.Format)
			}
			total := out.Total
			if total.Sent != want.Requests || total.OK != want.Statuses["200"] || total.Failed != want.Requests-want.Statuses["200"] {
				t.Errorf("%+v, the target saw %+v", total, want)
			}
			if diff := cmp.Diff(want.status(), total.Statuses); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(map[string]int64{"timeout": want.Statuses[held], "status": want.Statuses["500"]}, total.Errors); diff != "" {
				t.Error(diff)
			}
			wantNote(t, out, experiment.SeverityNote, strconv.FormatInt(want.Bodies, 10)+" B received, 0 B sent")
			wantNote(t, out, experiment.SeverityNote, "until then it sent")
			wantNote(t, out, experiment.SeverityNote, "requests which began late look fast")
			if rate, _ := observed(out, "error_rate"); rate != 0.03 {
				t.Errorf("error_rate %g", rate)
			}
			// The attack went on for 3.4 s: vegeta's own throughput is over the same time.
			if v, _ := observed(out, "throughput"); math.Abs(v-170.797666) > 0.03 {
				t.Errorf("throughput %g", v)
			}
			for _, metric := range []string{"offered", "dropped", "lateness_p99", "unfinished"} {
				wantUnknown(t, out, metric, "vegeta")
			}
			wantUnknown(t, out, "latency_p99", "counts from the real send")
			wantUnknown(t, out, "bytes_received", "bodies alone")
			wantUnknown(t, out, "response_bytes", "bodies alone")
			if test.rows {
				wantNote(t, out, experiment.SeverityNote, "hold headers and bodies of responses, and are kept as they are")
			}
			if test.rows != (len(out.Series) > 0) || test.rows != (len(out.Histograms) == 1) {
				t.Errorf("%d points, %d histograms", len(out.Series), len(out.Histograms))
			}
		})
	}
}

// What encode makes of the results tells the same as they do.
func TestVegetaFormatsAgree(t *testing.T) {
	want := mustRead(t, vegeta(), reference(t, "vegeta/results.bin"), experiment.Span{})
	for _, file := range []string{"vegeta/results.csv", "vegeta/results.json"} {
		out := mustRead(t, vegeta(), reference(t, file), experiment.Span{})
		out.Format = want.Format
		if diff := cmp.Diff(want, out); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

// The report's 99th percentile is 0.2546 s, where no request lies: 594 took less than
// 10 ms, 6 more than 500.
func TestVegetaReportMixesFailures(t *testing.T) {
	out := mustRead(t, vegeta(), reference(t, "vegeta/report.json"), experiment.Span{})
	wantUnknown(t, out, "service_time_p99", "what attack writes tells them apart")
	wantMixed(t, out, map[string]float64{"service_time_p99": 0.2546})
	wantNote(t, out, experiment.SeverityWarn, "successes and 18 failures of 600 requests together")
	rows := mustRead(t, vegeta(), reference(t, "vegeta/results.bin"), experiment.Span{})
	if v, _ := observed(rows, "service_time_p99"); v != 0.004419 {
		t.Errorf("service_time_p99 %g", v)
	}
}

func TestVegetaReportOfSuccesses(t *testing.T) {
	text := strings.Replace(reference(t, "vegeta/report.json"), `{"0":6,"200":582,"500":12}`, `{"200":600}`, 1)
	out := mustRead(t, vegeta(), text, experiment.Span{})
	wellFormed(t, out)
	if v, _ := observed(out, "service_time_p90"); v != 0.002823329 {
		t.Errorf("service_time_p90 %g", v)
	}
	wantUnknown(t, out, "service_time_p999", "no such percentile")
	wantNote(t, out, experiment.SeverityNote, "t-digest")
}

func TestVegetaReportOfSeveralFaults(t *testing.T) {
	text := strings.Replace(reference(t, "vegeta/report.json"), `"errors":[`, `"errors":["dial tcp 127.0.0.1:1: connect: connection refused",`, 1)
	out := mustRead(t, vegeta(), text, experiment.Span{})
	if diff := cmp.Diff(map[string]int64{"other": 6, "status": 12}, out.Errors); diff != "" {
		t.Error(diff)
	}
	wantNote(t, out, experiment.SeverityNote, "how many of which kind: refused, timeout")
}

// What is left of a kill ends between two results, so that only the target knows that
// two requests are missing.
func TestVegetaKilled(t *testing.T) {
	const file = "killed/vegeta/results.bin"
	want := truthOf(t, file)
	text := reference(t, file)
	out := mustRead(t, vegeta(), text, experiment.Span{})
	wellFormed(t, out)
	if missing := want.Requests - out.Total.Sent; missing != 2 {
		t.Errorf("%d requests are missing", missing)
	}
	if diff := cmp.Diff(map[string]int64{"timeout": want.Statuses[held], "status": want.Statuses["500"]}, out.Total.Errors); diff != "" {
		t.Error(diff)
	}
	wantNote(t, out, experiment.SeverityNote, "do not tell whether the attack came to its end")

	out, err := vegeta().ReadOutput(strings.NewReader(text[:len(text)-7]), experiment.Span{})
	wantError(t, err, true, "result 147, at byte 22223, is cut off")
	if out.Total.Sent != 146 {
		t.Errorf("%d requests were read beside the error", out.Total.Sent)
	}
	_, err = vegeta().ReadOutput(strings.NewReader(reference(t, "killed/vegeta/stdout.txt")), experiment.Span{})
	wantError(t, err, true, "it is empty")
}

// A number that is missing below the highest one is a request without a result.
func TestVegetaLost(t *testing.T) {
	lines := strings.SplitAfter(reference(t, "vegeta/results.csv"), "\n")
	text := strings.Join(append(lines[:100:100], lines[103:]...), "")
	out, err := vegeta().ReadOutput(strings.NewReader(text), experiment.Span{})
	wantError(t, err, true, "3 requests have no result")
	if out.Total.Sent != 597 {
		t.Errorf("%d", out.Total.Sent)
	}
}

func TestVegetaSpan(t *testing.T) {
	want := truthOf(t, "vegeta/results.bin")
	begin := time.Unix(0, want.FirstArrival).Add(time.Second)
	span := experiment.Span{Begin: begin, End: begin.Add(time.Second)}
	out := mustRead(t, vegeta(), reference(t, "vegeta/results.bin"), span)
	wellFormed(t, out)
	if v, _ := observed(out, "sent"); math.Abs(v-200) > 1 || out.Window != time.Second || !out.Begin.Equal(begin) {
		t.Errorf("sent %g in %s from %s", v, out.Window, out.Begin)
	}
	out = mustRead(t, vegeta(), reference(t, "vegeta/report.json"), span)
	wantNote(t, out, experiment.SeverityWarn, "cannot be cut to the window from 2026-11-30T16:16:46Z")
	_, err := vegeta().ReadOutput(strings.NewReader(reference(t, "vegeta/results.bin")), experiment.Span{Begin: begin.Add(time.Hour)})
	wantError(t, err, false, "none of its 600 requests began in the window")
}

func TestVegetaErrors(t *testing.T) {
	report := reference(t, "vegeta/report.json")
	text := reference(t, "vegeta/report.txt")
	results := reference(t, "vegeta/results.json")
	csv := reference(t, "vegeta/results.csv")
	for _, test := range []struct {
		name, text string
		cut        bool
		want       string
	}{
		{"histogram", reference(t, "vegeta/hist.txt"), false, "give the results themselves"},
		{"plot", reference(t, "vegeta/hdrplot.txt"), false, "give the results themselves"},
		{"foreign", "<html>", false, `"<html>" begins it, and the results of an attack`},
		{"report without an end", report + strings.Repeat(" ", maxText), false, "it is longer than"},
		{"report cut", report[:200], true, "the report is cut off"},
		{"report of nothing", strings.Replace(report, `"requests":600`, `"requests":0`, 1), true, "no request"},
		{"report of other sums", strings.Replace(report, `"requests":600`, `"requests":601`, 1), false, "601 requests, and of the status of 600"},
		{"report of an odd status", strings.Replace(report, `"500":12`, `"abc":12`, 1), false, `the status "abc"`},
		{"report without a time", strings.Replace(strings.Replace(report, `"duration":2995597485`, `"duration":0`, 1), `"wait":411943222`, `"wait":0`, 1), false, "the attack took 0s"},
		{"text cut", text[:300], true, "the report is cut off"},
		{"text of no number", strings.Replace(text, "600, 200.29", "x, 200.29", 1), false, "line 1"},
		{"text of no duration", strings.Replace(text, "2.996s", "2.996", 1), false, "a duration is wanted"},
		{"json cut", results[:1000], true, "line 4 is cut off"},
		{"json broken", strings.Replace(results, `"seq":1,`, `"seq":-1,`, 1), false, "it is no result"},
		{"csv cut", csv[:1000], true, "cut off inside line 6"},
		{"csv short", "1,200,3,0,3,\n", false, "line 1: it has 6 columns"},
		{"csv of a negative time", strings.Replace(csv, ",200,2790518,", ",200,-5,", 1), false, `line 2: column 3 holds "-5"`},
		{"csv of an odd year", "9223372036854775807,200,5,0,3,,,,0\n", false, "line 1: a request at 2262"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := vegeta().ReadOutput(strings.NewReader(test.text), experiment.Span{})
			wantError(t, err, test.cut, test.want)
		})
	}
}

func TestFailureOfGo(t *testing.T) {
	for text, want := range map[string]string{
		`Get "http://a/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`:        "timeout",
		`Get "http://a/": dial tcp 127.0.0.1:1: connect: connection refused`:                                 "refused",
		`Get "http://a/": dial tcp: lookup a: no such host`:                                                  "connect",
		`Get "http://a/": dial tcp 0.0.0.0:0->127.0.0.1:1: bind: address already in use`:                     "connect",
		`Get "http://a/": read tcp 127.0.0.1:2->127.0.0.1:1: read: connection reset by peer`:                 "reset",
		`Get "http://a/": write: broken pipe`:                                                                "reset",
		`Get "http://a/": EOF`:                                                                               "eof",
		`unexpected EOF`:                                                                                     "eof",
		`Get "http://a/": http: server closed idle connection`:                                               "eof",
		`Get "https://a/": tls: failed to verify certificate: x509: certificate signed by unknown authority`: "tls",
		`Get "http://a/": net/http: HTTP/1.x transport connection broken: malformed HTTP status code "x"`:    "eof",
		`Get "http://a/": malformed HTTP response "x"`:                                                       "protocol",
		`out of cheese`: "other",
	} {
		if got := failureOfGo(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A map or a list whose size is a lie takes no memory: what holds them is skipped.
func TestVegetaGobMemory(t *testing.T) {
	type Result struct {
		Attack  string
		Code    uint16
		Headers map[string][]string
	}
	var one bytes.Buffer
	if err := gob.NewEncoder(&one).Encode(Result{Attack: "a", Code: 200, Headers: map[string][]string{"k": {"v"}}}); err != nil {
		t.Fatal(err)
	}
	data := one.Bytes()
	lie := bytes.Replace(data, []byte("\x01\x01k\x01\x01v\x00"), []byte("\xfc\x7f\xff\xff\xff"), 1) // pairs of the map
	if bytes.Equal(lie, data) || len(lie) != len(data)-2 {
		t.Fatalf("%q holds no map of one pair", data)
	}
	at := bytes.LastIndex(data, []byte("\xff\x80")) // the type's number, behind the length
	lie[at-1] -= 2
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := vegeta().ReadOutput(bytes.NewReader(lie), experiment.Span{})
	runtime.ReadMemStats(&after)
	wantError(t, err, false, "result 1, at byte 0, is none of vegeta")
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("%d bytes: %v", took, err)
	}
}

func vegetaFiles() []string {
	return []string{
		"vegeta/results.bin", "vegeta/results.csv", "vegeta/results.json", "vegeta/report.json", "vegeta/report.txt",
		"vegeta/hist.txt", "vegeta/hdrplot.txt", "killed/vegeta/results.bin",
	}
}

func FuzzVegeta(f *testing.F) { fuzzReader(f, vegeta(), vegetaFiles()) }

// fuzzReader reads whatever comes, begins of real files among it: nothing panics, and
// what is told is well formed and the same each time.
func fuzzReader(f *testing.F, of tool, files []string) {
	for _, file := range files {
		text := reference(f, file)
		f.Add([]byte(text))
		f.Add([]byte(text[:min(len(text), 1500)]))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := of.ReadOutput(bytes.NewReader(data), experiment.Span{})
		if err != nil && out.Tool == "" {
			if len(err.Error()) > 1000 {
				t.Errorf("%d bytes of error", len(err.Error()))
			}
			return
		}
		wellFormed(t, out)
		again, _ := of.ReadOutput(bytes.NewReader(data), experiment.Span{})
		if !cmp.Equal(out, again) {
			t.Error(cmp.Diff(out, again))
		}
		sum := int64(0)
		for n := range maps.Values(out.Total.Errors) {
			sum += n
		}
		if sum > out.Total.Failed {
			t.Errorf("%d failures by kind, %d in all", sum, out.Total.Failed)
		}
	})
}
