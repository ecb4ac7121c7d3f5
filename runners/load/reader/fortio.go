package reader

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// fortio reads the JSON of fortio load -json (known: 1.63.0), and its text.
//
// It counts from the real send. A request whose reused connection gives no response,
// also within the timeout, is sent once more and its calls are one. Warm-up calls, one a
// thread, come before and are not told of in the JSON. Its quantiles are interpolated in
// buckets, over calls of all outcomes; the JSON holds the buckets of failures as well, so
// that those of successes are what remains.
func fortio() tool {
	return tool{name: "fortio", formats: "the JSON of -json, or its text", detect: func(data []byte) format {
		begin := bytes.TrimSpace(data[:min(len(data), 64<<10)])
		text := hasText(data, "Fortio ", "Aggregated Function Time", "\"msg\":\"Starting\"")
		switch {
		case bytes.HasPrefix(begin, []byte("{")) && (bytes.Contains(begin, []byte(`"RunType"`)) || !text):
			return readFortioJSON
		case text:
			return asText(readFortioText)
		}
		return nil
	}}
}

// fortioResult is what is used of either format.
type fortioResult struct {
	RunType           string
	StartTime         time.Time
	RequestedQPS      string
	RequestedDuration string
	ActualQPS         float64
	ActualDuration    int64 // ns
	NumThreads        int64
	NumConnections    int64
	Version           string
	Exactly           int64
	SequentialWarmup  bool
	DisableKeepAlive  bool
	DurationHistogram *fortioHistogram
	Failures          *fortioHistogram `json:"ErrorsDurationHistogram"`
	RetCodes          map[string]int64
	SocketCount       int64
	HTTPReqTimeOut    int64
	Sizes             *fortioHistogram
	HeaderSizes       *fortioHistogram
	Exception         string `json:"exception"`

	warmup int64   // calls before; -1: not told
	behind float64 // share of the calls that began late, in percent; text alone
}

func readFortioJSON(data []byte, span experiment.Span) (*result, error) {
	f := fortioResult{warmup: -1}
	if err := json.Unmarshal(data, &f); err != nil {
		var syntax *json.SyntaxError
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &syntax) && syntax.Offset >= int64(len(data)) {
			return nil, incomplete("its JSON is cut off")
		}
		return nil, err
	}
	if f.Exception != "" {
		return nil, fmt.Errorf("fortio gave up: %s", quote([]byte(f.Exception)))
	}
	return f.result("JSON", span)
}

func (f *fortioResult) result(format string, span experiment.Span) (*result, error) {
	h := f.DurationHistogram
	if h == nil || h.Count == 0 {
		return nil, incomplete("it tells of no call")
	}
	if f.Failures == nil {
		f.Failures = &fortioHistogram{}
	}
	if h.Count < 0 || f.Failures.Count < 0 || f.Failures.Count > h.Count {
		return nil, fmt.Errorf("%d of %d calls failed", f.Failures.Count, h.Count)
	}
	tool := "fortio"
	if f.Version != "" && len(f.Version) < 20 {
		tool += " " + f.Version
	}
	out := newResult(tool, format)
	if err := out.lasted(float64(f.ActualDuration) / 1e9); err != nil {
		return nil, err
	}
	out.Begin = f.StartTime
	f.counts(out)
	f.times(out)
	f.notes(out)
	if !span.IsZero() {
		wholeRun(out, span)
	}
	return out, nil
}

func (f *fortioResult) counts(out *result) {
	calls, failed := f.DurationHistogram.Count, f.Failures.Count
	seconds := out.Window.Seconds()
	out.Total = experiment.Totals{Offered: calls, Sent: calls, OK: calls - failed, Failed: failed}
	out.Errors = map[string]int64{}
	known := int64(0)
	if f.RunType == "" || f.RunType == "HTTP" {
		out.Statuses = map[string]int64{}
		for code, n := range f.RetCodes {
			if status, err := strconv.Atoi(code); err == nil && status >= 100 && n > 0 {
				out.Statuses[code] = n
				good := status >= 200 && status <= 299 || status == 418 // its codeIsOK
				if !good && n <= failed-known {
					known += n
				}
			}
		}
	}
	for kind, n := range map[string]int64{experiment.FailureStatus: known, experiment.FailureOther: failed - known} {
		if n > 0 {
			out.Errors[kind] = n
		}
	}
	out.Total.Statuses, out.Total.Errors = out.Statuses, out.Errors
	out.set("throughput", float64(calls-failed)/seconds)
	out.set("requests_done", float64(calls))
	out.set("error_rate", float64(failed)/float64(calls))
	f.asked(out, calls)
	if f.Sizes != nil && f.HeaderSizes != nil && f.HeaderSizes.Max > 0 { // else bodies alone
		out.set("bytes_received", f.Sizes.Sum/seconds)
		if failed == 0 && f.Sizes.Count > 0 {
			out.set("response_bytes", f.Sizes.Sum/float64(f.Sizes.Count))
		}
	}
	out.unknown("response_bytes", "it is told over calls of all outcomes")
	out.unknown("connects", "those of the warm-up are among them")
}

// asked sets what was to be sent, and what was.
func (f *fortioResult) asked(out *result, calls int64) {
	seconds := out.Window.Seconds()
	resent := "a request whose reused connection gave no response was sent again, and is one call"
	switch connections := f.NumThreads * max(f.NumConnections, 1); {
	case f.DisableKeepAlive, 0 < f.SocketCount && f.SocketCount <= connections:
		out.set("sent", float64(calls)/seconds)
	case f.SocketCount <= 0: // every thread opens one: 0 is not told, as for TCP and gRPC
		out.unknown("sent", "how many connections it opened is not told: "+resent)
	default:
		out.unknown("sent", resent)
		out.warn("it opened %d connections for %d threads: %s; the target may have seen up to %d requests more, and timeouts among them are no errors here", f.SocketCount, f.NumThreads, resent, max(f.SocketCount-f.NumThreads, 0))
	}
	rate, err := strconv.ParseFloat(f.RequestedQPS, 64)
	if err != nil || !(rate > 0) {
		return
	}
	lasts, err := time.ParseDuration(f.RequestedDuration)
	switch {
	case f.Exactly > 0:
		out.set("offered", float64(f.Exactly)/seconds)
	case err == nil && lasts > 0:
		out.set("offered", rate*lasts.Seconds()/seconds)
	}
	if achieved := float64(calls) / seconds; achieved < 0.98*rate {
		out.warn("it made %.4g calls/s where -qps asked for %.4g: its threads waited for responses, and the times do not hold that wait", achieved, rate)
	}
}

// closed reports whether no pace was asked for: then a response time is a service time.
func (f *fortioResult) closed() bool { return f.RequestedQPS == "max" }

func (f *fortioResult) times(out *result) {
	prefixes := []string{"service_time_"}
	if f.closed() {
		prefixes = append(prefixes, "latency_")
	} else {
		out.unknownAll("latency_", "fortio counts from the real send, and was paced (-qps)")
		out.unknownAll("failed_latency_", "fortio counts from the real send, and was paced (-qps)")
	}
	good, mixed := f.DurationHistogram.without(f.Failures)
	if good == nil {
		for _, prefix := range prefixes {
			out.unknownAll(prefix, "there is no such request")
		}
		return
	}
	if mixed {
		good.asWritten(out, prefixes)
		out.mixed(f.Failures.Count, f.DurationHistogram.Count, "failures", "")
		return
	}
	good.tell(out, prefixes)
	if f.closed() && f.Failures.Count > 0 && len(f.Failures.Data) > 0 && f.Failures.valid() {
		f.Failures.tell(out, []string{"failed_latency_"})
	}
}

func (f *fortioResult) notes(out *result) {
	switch {
	case f.warmup > 0:
		out.note("%d calls of a warm-up came before, and are in no number", f.warmup)
	case f.warmup < 0 && f.Exactly == 0:
		out.note("one call a thread (%d) came before as a warm-up, and is in no number", f.NumThreads)
	}
	if f.behind > 0 {
		out.warn("%.3g%% of its waits for the next call were over before they began: it was behind its pace", f.behind)
	}
}

var (
	fortioRunning = regexp.MustCompile(`^Fortio (\S+) running at (?:([0-9.eE+]+) queries per second|max qps|)`)
	fortioStart   = regexp.MustCompile(`Starting at (max|[0-9.eE+]+) qps with (\d+) thread`)
	fortioBehind  = regexp.MustCompile(`^WARNING ([0-9.]+)% of sleep were falling behind`)
	fortioEnded   = regexp.MustCompile(`^Ended after (\S+) : (\d+) calls`)
	fortioSockets = regexp.MustCompile(`^Sockets used: (\d+) \(for perfect keepalive, would be (\d+)\)`)
	fortioCode    = regexp.MustCompile(`^Code +(-?\d+) : (\d+) \(`)
	fortioAllDone = regexp.MustCompile(`^All done (\d+) calls \(plus (\d+) warmup\) ([0-9.]+) ms avg, ([0-9.]+) qps`)
	fortioAsked   = regexp.MustCompile(`^Fortio .* for ([0-9][^:]*): `)
	fortioCounter = regexp.MustCompile(`^(Aggregated Function Time|Error cases) : count (\d+) avg \S+ \+/- \S+ min (\S+) max (\S+) sum (\S+)`)
	fortioBucket  = regexp.MustCompile(`^>=? ([-0-9.e+]+) <= ([-0-9.e+]+) , [-0-9.e+]+ , ([0-9.]+), (\d+)$`)
	fortioTarget  = regexp.MustCompile(`^# target ([0-9.]+)% ([-0-9.e+]+)$`)
)

// readFortioText reads the text. Between the lines for people may be those of its log.
func readFortioText(lines []string, span experiment.Span) (*result, error) {
	f := &fortioResult{RetCodes: map[string]int64{}}
	done := firstMatch(lines, fortioAllDone)
	if done == nil {
		return nil, incomplete("the line All done is missing: fortio was stopped before")
	}
	f.warmup = count(done[2])
	f.header(lines)
	rate, _ := number(done[4])
	f.ActualQPS = rate
	if rate > 0 {
		f.ActualDuration = int64(min(float64(count(done[1]))/rate, maxWindow.Seconds()*2) * 1e9)
	}
	if m := firstMatch(lines, fortioEnded); m != nil {
		if d, err := time.ParseDuration(m[1]); err == nil {
			f.ActualDuration = int64(d)
		}
	}
	f.histograms(lines)
	return f.result("text", span)
}

func (f *fortioResult) header(lines []string) {
	if m := firstMatch(lines, fortioRunning); m != nil {
		f.Version, f.RequestedQPS = m[1], m[2]
		if strings.Contains(m[0], "max qps") {
			f.RequestedQPS = "max"
		}
	}
	if m := firstMatch(lines, fortioAsked); m != nil {
		f.RequestedDuration = m[1]
	}
	if m := firstMatch(lines, fortioStart); m != nil {
		f.RequestedQPS, f.NumThreads = m[1], count(m[2])
	}
	if m := firstMatch(lines, fortioBehind); m != nil {
		f.behind, _ = number(m[1])
	}
	if m := firstMatch(lines, fortioSockets); m != nil {
		f.SocketCount, f.NumThreads = count(m[1]), count(m[2])
	}
	for _, line := range lines {
		if m := fortioCode.FindStringSubmatch(line); m != nil {
			f.RetCodes[m[1]] = min(count(m[2]), 1<<40)
		}
	}
}

// histograms reads the two of times, with buckets where they were not left out.
func (f *fortioResult) histograms(lines []string) {
	var into *fortioHistogram
	for _, line := range lines {
		if m := fortioCounter.FindStringSubmatch(line); m != nil {
			into = &fortioHistogram{Count: count(m[2])}
			into.Min, _ = number(m[3])
			into.Max, _ = number(m[4])
			into.Sum, _ = number(m[5])
			if m[1] == "Error cases" {
				f.Failures = into
			} else {
				f.DurationHistogram = into
			}
			continue
		}
		if into == nil {
			continue
		}
		switch bucket, target := fortioBucket.FindStringSubmatch(line), fortioTarget.FindStringSubmatch(line); {
		case bucket != nil:
			var b fortioInterval
			b.Start, _ = number(bucket[1])
			b.End, _ = number(bucket[2])
			b.Count = count(bucket[4])
			into.Data = append(into.Data, b)
		case target != nil:
			var p fortioQuantile
			p.Percentile, _ = number(target[1])
			p.Value, _ = number(target[2])
			into.Percentiles = append(into.Percentiles, p)
		case !strings.HasPrefix(line, "#"):
			into = nil
		}
	}
}
